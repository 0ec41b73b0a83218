using System.Collections.Frozen;
using System.Net;

namespace Pnh.Api.Access;

/// <summary>
/// Which pages may use which app from a browser (RFC 6454): the configured <c>Origins</c> of each app. An app without any has no CORS headers on its REST answers, and takes sockets of any page, whose
/// token is in the hello. Thread-safe.
/// </summary>
internal sealed class Origins
{
    /// <summary>What stands for any origin.</summary>
    public const string Any = "*";

    /// <summary>The origin of every page that has none of its own: sandboxed frames, files, data URLs.</summary>
    public const string Opaque = "null";

    // Of a page that no app lists: kept with its session, so one text for all of them.
    private const string Unlisted = "?";
    private const string Wildcard = "*.";

    // A host name has 253 characters at most, and each session keeps its page's origin.
    private const int MaxCharacters = 300;

    private readonly FrozenDictionary<string, Listed> _byApp;
    private readonly Listed _all;

    public Origins(IEnumerable<AppOptions> apps)
    {
        _byApp = apps.Where(static app => app.Origins.Count > 0).ToFrozenDictionary(static app => app.Name, static app => new Listed(app.Origins), StringComparer.Ordinal);
        _all = new Listed(apps.SelectMany(static app => app.Origins));
    }

    /// <summary>True when no app has any: then no header is looked at and none is written.</summary>
    public bool None => _byApp.Count == 0;

    /// <summary>True when a page of this origin may read answers of at least one app.</summary>
    public bool Lists(string origin) => _all.Has(origin);

    /// <summary>True when a page of this origin may read answers of the app.</summary>
    public bool Lists(string app, string origin) => _byApp.TryGetValue(app, out var listed) && listed.Has(origin);

    /// <summary>
    /// The origin that a request names, to be asked for by <see cref="Allow"/>; null = it names none, or no app cares, or the page comes from the very address that it asks.
    /// </summary>
    public string? Of(string? header, string host) =>
        None || string.IsNullOrEmpty(header) || IsOwn(header, host) ? null : header.Length <= MaxCharacters && Lists(header) ? header : Unlisted;

    /// <summary>Whether a page of this origin may open a session of the app. What is no browser names no origin, and may.</summary>
    public bool Allow(string app, string? origin) => origin is null || !_byApp.TryGetValue(app, out var listed) || listed.Has(origin);

    /// <summary>
    /// True for an origin as browsers and web views write it: scheme, host, and the port unless it is the scheme's own; a web page's with one leading <c>*.</c> for all hosts below; <see cref="Opaque"/>;
    /// or <see cref="Any"/>.
    /// </summary>
    public static bool IsOrigin(string text)
    {
        var end = text.IndexOf(Uri.SchemeDelimiter, StringComparison.Ordinal);
        if (end < 0)
        {
            return text is Any or Opaque;
        }

        var (scheme, host) = (text[..end], text[(end + Uri.SchemeDelimiter.Length)..]);
        if (scheme != Uri.UriSchemeHttp && scheme != Uri.UriSchemeHttps)
        {
            return IsNative(scheme, host);
        }

        var page = host.StartsWith(Wildcard, StringComparison.Ordinal) ? $"{scheme}{Uri.SchemeDelimiter}{host[Wildcard.Length..]}" : text;
        return Uri.TryCreate(page, UriKind.Absolute, out var uri) && uri.GetLeftPart(UriPartial.Authority) == page && uri.UserInfo.Length == 0
            && (ReferenceEquals(page, text) || uri.HostNameType == UriHostNameType.Dns);
    }

    // Of an app's web view or a browser's extension, like capacitor://localhost; a file's is file:// in some.
    private static bool IsNative(string scheme, string host) => Uri.CheckSchemeName(scheme) && !scheme.AsSpan().ContainsAnyInRange('A', 'Z')
        && (host.Length > 0 ? host.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '.' or '-' or '_' or ':') : scheme == Uri.UriSchemeFile);

    /// <summary>
    /// Whether the page comes from the address that it asks, or is an app whose library names the socket's own (React Native). With https whatever stands before the hub has shown a certificate
    /// of that name. Without it a stranger's name may have been pointed at this machine (DNS rebinding), which no loopback name and no address can be.
    /// </summary>
    private static bool IsOwn(string origin, string host) =>
        Uri.TryCreate(origin, UriKind.Absolute, out var page)
        && (page.Scheme == Uri.UriSchemeHttps || (page.Scheme == Uri.UriSchemeHttp && (page.IsLoopback || IPAddress.TryParse(page.Host, out _))))
        && Uri.TryCreate($"{page.Scheme}{Uri.SchemeDelimiter}{host}", UriKind.Absolute, out var own)
        && page.Host == own.Host && page.Port == own.Port;

    private sealed class Listed
    {
        private readonly FrozenSet<string> _exact;
        private readonly (string Scheme, string Suffix)[] _below;
        private readonly bool _any;

        public Listed(IEnumerable<string> origins)
        {
            _exact = origins.ToFrozenSet(StringComparer.Ordinal);
            _any = _exact.Contains(Any);
            _below = [.. _exact.Select(static origin => origin.Split(Uri.SchemeDelimiter + Wildcard)).Where(static parts => parts.Length == 2)
                .Select(static parts => (parts[0] + Uri.SchemeDelimiter, "." + parts[1]))];
        }

        public bool Has(string origin) => _any || _exact.Contains(origin) || Array.Exists(_below, below =>
            origin.Length > below.Scheme.Length + below.Suffix.Length
            && origin.StartsWith(below.Scheme, StringComparison.Ordinal) && origin.EndsWith(below.Suffix, StringComparison.Ordinal));
    }
}
