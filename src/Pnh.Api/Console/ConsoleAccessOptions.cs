namespace Pnh.Api.ConsolePage;

/// <summary>Who gets in.</summary>
internal sealed class ConsoleAccessOptions
{
    /// <summary>True for a key that may administer. Compares in constant time; gets whatever a stranger sends.</summary>
    public required Func<string, bool> IsAdminKey { get; init; }

    /// <summary>
    /// Host names (no ports) under which the operations listener is known, besides localhost and the loopback addresses. Any other Host is
    /// refused: a page of a stranger whose name was re-pointed at this machine (DNS rebinding) must not read the console.
    /// </summary>
    public IReadOnlyCollection<string> HostNames { get; init; } = [];
}
