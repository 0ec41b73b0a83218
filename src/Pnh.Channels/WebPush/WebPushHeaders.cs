using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.WebPush;

/// <summary>An event's class, collapse key and end as the headers of RFC 8030 section 5. Pure functions.</summary>
internal static class WebPushHeaders
{
    /// <summary>After an hour nobody waits for a ring to end any more. In seconds.</summary>
    private const int ClearLife = 3600;

    /// <summary>RFC 8030 section 5.4.</summary>
    private const int MaxTopicCharacters = 32;

    private static readonly SearchValues<char> TopicCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

    /// <summary>How long the push service may keep it, in seconds from now: what is left of the event. 0 = deliver now or never.</summary>
    public static long Ttl(Delivery delivery, DateTimeOffset now) =>
        delivery.Withdrawal is null
            ? Math.Clamp((long)(delivery.Event.ExpiresAt - now).TotalSeconds, 0, (long)Limits.Ttl.TotalSeconds)
            : ClearLife;

    /// <summary>What may wake the device: a call, and a message that a person sees.</summary>
    public static string Urgency(Delivery delivery) => (delivery.Event.Priority, delivery.Event.Class) switch
    {
        (PushPriority.Now, _) => "high",
        (PushPriority.Saving, _) or (_, EventClass.Bulk) => "low",
        (_, EventClass.Call) => "high",
        _ => delivery.Withdrawal is null && delivery.Event.Notification is { IsNoticed: true } ? "high" : "normal",
    };

    /// <summary>
    /// The collapse key, without one the event's id, so that a copy replaces the first; as itself where it fits, else 24 bytes of its SHA-256: equal keys stay equal. Apple decodes it, and no base64 has a
    /// length that is one more than a multiple of four (400 <c>BadWebPushTopic</c>).
    /// None on what clears an event: it could replace a newer event that waits.
    /// </summary>
    public static string? Topic(Delivery delivery)
    {
        if (delivery.Withdrawal is not null)
        {
            return null;
        }

        var key = delivery.Event.CollapseKey is { Length: > 0 } given ? given : delivery.Event.Id;
        return key.Length <= MaxTopicCharacters && key.Length % 4 != 1 && !key.AsSpan().ContainsAnyExcept(TopicCharacters) ? key : Hash(key);
    }

    private static string Hash(string key)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(key), hash);
        return Base64Url.EncodeToString(hash[..24]);
    }
}
