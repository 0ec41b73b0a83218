using Pnh.Sandbox;

namespace Pnh.Api.WebConsole;

/// <summary>Whom the console acts for.</summary>
/// <param name="Apps">All apps by name: it looks for users and events of any.</param>
/// <param name="DemoUser">The user of the page's own socket; null = the hub did not make the app itself, so the page has no socket.</param>
/// <param name="Sandbox">Whose phones it shows; null = no sandbox runs.</param>
internal sealed record ConsoleTarget(IReadOnlyList<string> Apps, string? DemoUser, SandboxServer? Sandbox)
{
    /// <summary>The app that it sends for; null = none is configured.</summary>
    public string? App => Apps.Count > 0 ? Apps[0] : null;
}
