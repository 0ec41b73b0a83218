namespace Pnh.Channels.WebPush;

/// <summary>The Web Push account of an app: one, since a subscription does not say which key it was made for.</summary>
internal sealed record WebPushSettings
{
    /// <summary>Whom a push service asks when something goes wrong: a mailto: or https: address (RFC 8292 section 2.1). Needed.</summary>
    public string? Subject { get; set; }

    /// <summary>The VAPID key: a PEM file with a P-256 private key. Needed.</summary>
    public string? KeyFile { get; set; }

    /// <summary>Push services that may be dialled, parted by spaces: host, host:port, *.suffix, or * for all. Default those of the known browsers.</summary>
    public string? AllowedHosts { get; set; }

    /// <summary>Whether endpoints on this machine may be dialled, for the sandbox and tests. Default false.</summary>
    public bool AllowLoopback { get; set; }

    /// <summary>What Apple's browsers show in place of a cleared event, a line of 1 to 100 characters. Default none: then it cannot be cleared there.</summary>
    public string? ClearText { get; set; }

    /// <summary>The page that a click on a notification opens, https. With it Safari shows pushes without the site's service worker too (declarative Web Push). Default none.</summary>
    public string? Site { get; set; }
}
