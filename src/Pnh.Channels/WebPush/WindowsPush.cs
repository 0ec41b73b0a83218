using Pnh.Channels.Net.Http;

namespace Pnh.Channels.WebPush;

/// <summary>
/// What Windows' push service wants and says beyond RFC 8030 (Microsoft: Push notification service request and response headers). Its answers have no body; why
/// it refused stands in headers. Pure.
/// </summary>
internal static class WindowsPush
{
    private const string Domain = ".notify.windows.com";

    /// <summary>Of every endpoint there; on this machine it means the sandbox's.</summary>
    private const string Path = "/w/";

    private const int MaxStatusCharacters = 32;
    private const int MaxDescriptionCharacters = 128;

    public static bool Serves(Uri endpoint, bool allowLoopback) =>
        endpoint.IdnHost.EndsWith(Domain, StringComparison.OrdinalIgnoreCase) || (allowLoopback && endpoint.IsLoopback && endpoint.AbsolutePath == Path);

    /// <summary>It refuses a TTL that contradicts the policy, and takes <c>no-cache</c> for granted.</summary>
    public static string CachePolicy(long ttl) => ttl == 0 ? "no-cache" : "cache";

    /// <summary>It took the request and dropped the message, as an error or for its user.</summary>
    public static bool IsDropped(in ProviderAnswer answer) => string.Equals(answer.WnsStatus, "dropped", StringComparison.OrdinalIgnoreCase);

    /// <summary>It took the request and dropped the message, since this subscription gets too many.</summary>
    public static bool IsThrottled(in ProviderAnswer answer) => string.Equals(answer.WnsStatus, "channelthrottled", StringComparison.OrdinalIgnoreCase);

    /// <summary><c>status: description</c> as far as it said them; null when it said neither.</summary>
    public static string? Reason(in ProviderAnswer answer) => (Bounded(answer.WnsStatus, MaxStatusCharacters), Bounded(answer.WnsDescription, MaxDescriptionCharacters)) switch
    {
        ({ } status, { } description) => $"{status}: {description}",
        var (status, description) => status ?? description,
    };

    private static string? Bounded(string? text, int most) => text is not { Length: > 0 } ? null : text.Length > most ? text[..most] : text;
}
