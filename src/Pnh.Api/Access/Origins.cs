using System.Collections.Frozen;

namespace Pnh.Api.Access;

/// <summary>
/// Which pages may use which app from a browser (RFC 6454): the configured <c>Origins</c> of each app. An app without any has no CORS headers on its REST answers, and takes sockets of any page, whose
/// token is in the hello. Thread-safe.
/// </summary>
internal sealed class Origins
{
    /// <summary>What stands for any origin.</summary>
    public const string Any = "*";

    // Of a page that no app lists: kept with its session, so one text for all of them.
    private const string Unlisted = "?";

    private readonly FrozenDictionary<string, FrozenSet<string>> _byApp;
    private readonly FrozenSet<string> _all;

    public Origins(IEnumerable<AppOptions> apps)
    {
        _byApp = apps.Where(static app => app.Origins.Count > 0).ToFrozenDictionary(static app => app.Name, static app => app.Origins.ToFrozenSet(StringComparer.Ordinal), StringComparer.Ordinal);
        _all = _byApp.Values.SelectMany(static origins => origins).ToFrozenSet(StringComparer.Ordinal);
    }

    /// <summary>True when no app has any: then no header is looked at and none is written.</summary>
    public bool None => _all.Count == 0;

    /// <summary>True when a page of this origin may read answers of at least one app.</summary>
    public bool Lists(string origin) => _all.Contains(origin) || _all.Contains(Any);

    /// <summary>True when a page of this origin may read answers of the app.</summary>
    public bool Lists(string app, string origin) => _byApp.TryGetValue(app, out var listed) && (listed.Contains(origin) || listed.Contains(Any));

    /// <summary>The origin that a request names, to be asked for by <see cref="Allow"/>; null = it names none, or no app cares.</summary>
    public string? Of(string? header) => None || string.IsNullOrEmpty(header) ? null : _all.TryGetValue(header, out var known) ? known : Unlisted;

    /// <summary>Whether a page of this origin may open a session of the app. What is no browser names no origin, and may.</summary>
    public bool Allow(string app, string? origin) => origin is null || !_byApp.TryGetValue(app, out var allowed) || allowed.Contains(origin) || allowed.Contains(Any);

    /// <summary>True for an origin as browsers write it: scheme, host in lower case, and the port unless it is the scheme's own; or <see cref="Any"/>.</summary>
    public static bool IsOrigin(string text) => text == Any
        || (Uri.TryCreate(text, UriKind.Absolute, out var uri) && (uri.Scheme == Uri.UriSchemeHttp || uri.Scheme == Uri.UriSchemeHttps) && uri.GetLeftPart(UriPartial.Authority) == text && uri.UserInfo.Length == 0);
}
