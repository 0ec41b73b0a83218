using System.Globalization;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// The message that clears a withdrawn event: data alone, which the app reads and removes what it shows. No collapse key: with the event's own it could replace
/// a newer event that still waits at FCM, and FCM keeps only four different keys per device. Pure, but for the time that its end is counted from.
/// </summary>
internal static class FcmClear
{
    /// <summary>After an hour nobody waits for a ring to end any more. In seconds.</summary>
    private const int Life = 3600;

    /// <summary>The message without its target, its TTL fixed.</summary>
    /// <param name="withdrawal">What is taken back.</param>
    /// <param name="class">A ringing phone hears at once; else a dozing one is left alone, since Google lowers apps that wake it for nothing to see.</param>
    /// <param name="now">When its hour begins, for the Apple part.</param>
    public static JsonObject Compose(Withdrawal withdrawal, EventClass @class, DateTimeOffset now)
    {
        var life = Life.ToString(CultureInfo.InvariantCulture);
        var end = (now.ToUnixTimeSeconds() + Life).ToString(CultureInfo.InvariantCulture);
        return new JsonObject
        {
            ["data"] = new JsonObject
            {
                ["pnh-id"] = withdrawal.Event,
                ["pnh-withdraw"] = withdrawal.Event,
                ["pnh-reason"] = withdrawal.Reason,
            },
            ["android"] = new JsonObject { ["priority"] = @class == EventClass.Call ? "HIGH" : "NORMAL", ["ttl"] = life + "s" },
            ["apns"] = new JsonObject
            {
                ["headers"] = new JsonObject { ["apns-push-type"] = "background", ["apns-priority"] = "5", ["apns-expiration"] = end },
                ["payload"] = new JsonObject { ["aps"] = new JsonObject { ["content-available"] = 1 } },
            },
            ["webpush"] = new JsonObject { ["headers"] = new JsonObject { ["TTL"] = life, ["Urgency"] = @class == EventClass.Call ? "high" : "normal" } },
        };
    }
}
