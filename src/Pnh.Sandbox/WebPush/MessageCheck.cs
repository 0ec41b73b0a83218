using System.Buffers;
using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Pnh.Sandbox.WebPush;

/// <summary>What a push service can see of a message: its headers (RFC 8030 section 5, RFC 8291 section 4) and its size.</summary>
internal static class MessageCheck
{
    /// <summary>What every push service takes (RFC 8030 section 7.2), and none takes more.</summary>
    private const int MaxBodyBytes = 4096;

    private const int MaxTopicCharacters = 32;

    // RFC 9111 section 1.2.2: the greatest number of seconds that everybody can read.
    private const long MaxSeconds = int.MaxValue;

    private static readonly string[] Urgencies = ["very-low", "low", "normal", "high"];
    private static readonly SearchValues<char> TopicCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

    /// <summary>The refusal of what is wrong first; null for a good message.</summary>
    public static WebPushReply? Check(IHeaderDictionary headers, int bodyBytes)
    {
        if (headers["TTL"] is not [{ } ttl] || !IsSeconds(ttl))
        {
            return WebPushReply.Wrong("TTL must be given once, in seconds.");
        }

        if (headers["Urgency"] is { Count: > 0 } urgency && !(urgency is [{ } level] && Urgencies.Contains(level)))
        {
            return WebPushReply.Wrong("Urgency must be one of very-low, low, normal, high.");
        }

        if (headers["Topic"] is { Count: > 0 } topic && !IsTopic(topic))
        {
            return WebPushReply.Wrong("Topic must be 1 to 32 characters of base64url.");
        }

        if (headers.ContentEncoding is not ["aes128gcm"])
        {
            return WebPushReply.Wrong("Content-Encoding must be aes128gcm.");
        }

        return bodyBytes > MaxBodyBytes ? WebPushReply.TooLarge : null;
    }

    /// <summary>What Windows' push service wants besides: a policy that fits the TTL. Without one it means <c>no-cache</c>.</summary>
    public static WebPushReply? CheckWindows(IHeaderDictionary headers)
    {
        string fits = long.Parse(headers["TTL"]!, CultureInfo.InvariantCulture) == 0 ? "no-cache" : "cache";
        StringValues given = headers["X-WNS-Cache-Policy"];
        return (given.Count == 0 ? "no-cache" : given.ToString()) == fits ? null : WebPushReply.Wrong("Ttl value conflicts with X-WNS-Cache-Policy.");
    }

    /// <summary>What Apple's push service wants besides: it decodes the topic, and no base64 is one character longer than a multiple of four.</summary>
    public static WebPushReply? CheckApple(IHeaderDictionary headers) => headers["Topic"] is [{ } topic] && topic.Length % 4 == 1 ? WebPushReply.BadTopic : null;

    private static bool IsSeconds(string text) =>
        text.Length is > 0 and <= 10 && text.All(char.IsAsciiDigit) && long.Parse(text, CultureInfo.InvariantCulture) <= MaxSeconds;

    private static bool IsTopic(StringValues values) =>
        values is [{ Length: > 0 and <= MaxTopicCharacters } topic] && !topic.AsSpan().ContainsAnyExcept(TopicCharacters);
}
