using Pnh.Api.Access;

namespace Pnh.Api.WebConsole;

/// <summary>Who gets in.</summary>
internal sealed class ConsoleAccessOptions
{
    /// <summary>True for the hash of a key that may administer now; asked again while somebody is signed in with it.</summary>
    public required Func<KeyHash, bool> IsAdmin { get; init; }

    /// <summary>File of the data folder that keeps sessions over a restart; null = none does.</summary>
    public string? SessionsFile { get; init; }

    /// <summary>
    /// Host names (no ports) under which the operations listener is known, besides localhost and the loopback addresses. Any other Host is
    /// refused: a page of a stranger whose name was re-pointed at this machine (DNS rebinding) must not read the console.
    /// </summary>
    public IReadOnlyCollection<string> HostNames { get; init; } = [];
}
