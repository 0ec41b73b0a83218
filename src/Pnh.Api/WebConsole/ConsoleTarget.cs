using Pnh.Sandbox;

namespace Pnh.Api.WebConsole;

/// <summary>Whom the console acts for.</summary>
/// <param name="App">The app that it sends and looks for; null = none is configured.</param>
/// <param name="DemoUser">The user of the page's own socket; null = the hub did not make the app itself, so the page has no socket.</param>
/// <param name="Sandbox">Whose phones it shows; null = no sandbox runs.</param>
internal sealed record ConsoleTarget(string? App, string? DemoUser, SandboxServer? Sandbox);
