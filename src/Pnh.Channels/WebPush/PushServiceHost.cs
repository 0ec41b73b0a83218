namespace Pnh.Channels.WebPush;

/// <summary>
/// One entry of the list of push services that an app may post to: <c>host</c>, <c>host:port</c>, <c>*.suffix</c>, or <c>*</c> for every host. Without a port it means
/// 443. Immutable.
/// </summary>
internal sealed class PushServiceHost
{
    /// <summary>The makers of browsers with push: Google (Chrome, Edge on Android; the second host in some of its builds), Mozilla, Apple, Microsoft.</summary>
    public const string Known = "fcm.googleapis.com jmt17.google.com updates.push.services.mozilla.com *.push.apple.com *.notify.windows.com";

    private readonly string _host;

    private PushServiceHost(string pattern, string host, int port, bool isPattern)
    {
        Pattern = pattern;
        _host = host;
        IsPattern = isPattern;
        Origin = new UriBuilder(Uri.UriSchemeHttps, host.Length == 0 ? "any.invalid" : host.TrimStart('.'), port).Uri;
    }

    /// <summary>As configured.</summary>
    public string Pattern { get; }

    /// <summary>Whether it covers more hosts than one.</summary>
    public bool IsPattern { get; }

    /// <summary>The host's origin, under which a private authority can be trusted; of a suffix without its star.</summary>
    public Uri Origin { get; }

    /// <summary>Reads one entry; null when the text is not one.</summary>
    public static PushServiceHost? Parse(string entry)
    {
        if (entry == "*")
        {
            return new PushServiceHost(entry, "", 443, isPattern: true);
        }

        var isSuffix = entry.StartsWith("*.", StringComparison.Ordinal);
        var rest = isSuffix ? entry[2..] : entry;
        return rest.Length > 0 && !rest.AsSpan().ContainsAny("*/?#@")
            && Uri.TryCreate($"https://{rest}/", UriKind.Absolute, out var origin) && origin.Host.Length > 0
                ? new PushServiceHost(entry, isSuffix ? "." + origin.IdnHost : origin.IdnHost, origin.Port, isSuffix)
                : null;
    }

    /// <summary>Whether the endpoint lies there. A name with a dot at its end is another name, and refused.</summary>
    public bool Covers(Uri endpoint) =>
        endpoint.Port == Origin.Port
        && (IsPattern
            ? endpoint.IdnHost.EndsWith(_host, StringComparison.OrdinalIgnoreCase)
            : string.Equals(endpoint.IdnHost, _host, StringComparison.OrdinalIgnoreCase));
}
