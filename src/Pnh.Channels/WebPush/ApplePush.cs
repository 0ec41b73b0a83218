namespace Pnh.Channels.WebPush;

/// <summary>
/// What Apple's push service punishes beyond RFC 8030: a site whose pushes show nothing loses its permission, in Safari after three (field reports; WebKit's rule of userVisibleOnly). Pure.
/// </summary>
internal static class ApplePush
{
    /// <summary>A clear, which Safari would answer with nothing, and no text was configured to show instead.</summary>
    public const string NotClearable = "not-clearable";

    /// <summary>An event without title and body: there is nothing that a service worker could show.</summary>
    public const string ShowsNothing = "shows-nothing";

    private const string Domain = ".push.apple.com";

    /// <summary>Before every endpoint there on this machine, where it means the sandbox's.</summary>
    private const string Path = "/apple/";

    /// <summary>Whether the endpoint is Apple's.</summary>
    public static bool Serves(Uri endpoint, bool allowLoopback) =>
        endpoint.IdnHost.EndsWith(Domain, StringComparison.OrdinalIgnoreCase)
        || (allowLoopback && endpoint.IsLoopback && endpoint.AbsolutePath.StartsWith(Path, StringComparison.Ordinal));
}
