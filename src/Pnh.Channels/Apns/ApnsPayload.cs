using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Apns;

/// <summary>
/// Writes an event as an APNs payload: <c>aps</c> from the neutral notification, <c>pnh</c> and <c>pnh-id</c> to recognise copies on other
/// channels, <c>data</c> as sent but for white space; the raw override last. Apple: Generating a remote notification. Pure.
/// </summary>
internal static class ApnsPayload
{
    public static ApnsBody Encode(ApnsPushType type, Event accepted, string? locale)
    {
        try
        {
            var notification = accepted.Notification?.For(locale);
            var bytes = PayloadMerge.Write(Compose(type, accepted, notification, PayloadParts.All));
            return bytes.Length <= type.MaxPayloadBytes
                ? new ApnsBody(SplicedBody.Whole(bytes), Refusal: null)
                : WakeUp(type, accepted, notification) ?? new ApnsBody(SplicedBody.Empty, "payload-too-large");
        }
        catch (JsonException)
        {
            return new ApnsBody(SplicedBody.Empty, "invalid-override");
        }
        catch (InvalidOperationException)
        {
            // Half a surrogate pair in an escape, which shows only when a name or a string is read.
            return new ApnsBody(SplicedBody.Empty, "invalid-text");
        }
    }

    /// <summary>A live activity shows what the override says and nothing else, so it has no texts of its own to fall back to.</summary>
    private static ApnsBody? WakeUp(ApnsPushType type, Event accepted, Notification? notification)
    {
        var needsOverride = ReferenceEquals(type, ApnsPushType.LiveActivity) || (notification is null && ReferenceEquals(type, ApnsPushType.Alert));
        return Fitting(PayloadParts.Override, notification)
            ?? (needsOverride ? null : FetchPush.Fit(notification, texts => Fitting(PayloadParts.Texts, texts)));

        ApnsBody? Fitting(PayloadParts parts, Notification? texts) =>
            PayloadMerge.Write(Compose(type, accepted, texts, parts)) is var bytes && bytes.Length <= type.MaxPayloadBytes
                ? new ApnsBody(SplicedBody.Whole(bytes) with { IsWakeUp = true }, Refusal: null)
                : null;
    }

    private static JsonObject Compose(ApnsPushType type, Event accepted, Notification? notification, PayloadParts parts)
    {
        var payload = new JsonObject { ["aps"] = Aps(type, accepted, notification) };
        payload["pnh"] = Envelope(accepted, notification);
        payload["pnh-id"] = accepted.Id;
        Set(payload, "pnh-link", notification?.Link);
        if (parts != PayloadParts.All || accepted.IsIdsOnly)
        {
            Wake(payload, type);
        }
        else if (PayloadMerge.ReadData(accepted) is { } data)
        {
            payload["data"] = data;
        }

        // Members replace as a whole, but aps is merged by member, so that setting one key of it does not lose the others.
        if (parts != PayloadParts.Texts && PayloadMerge.ReadOverride(accepted, ApnsChannel.ChannelName) is { } patch)
        {
            if (patch["aps"] is JsonObject aps && payload["aps"] is JsonObject mine)
            {
                patch.Remove("aps");
                PayloadMerge.Apply(mine, aps, depth: 0);
            }

            PayloadMerge.Apply(payload, patch, depth: 0);
        }

        return payload;
    }

    /// <summary>What is shown runs no code of the app's: these two let it, or its notification service extension, fetch the rest.</summary>
    private static void Wake(JsonObject payload, ApnsPushType type)
    {
        payload[FetchPush.Member] = true;
        if (ReferenceEquals(type, ApnsPushType.Alert))
        {
            payload["aps"]!["content-available"] = 1;
            payload["aps"]!["mutable-content"] = 1;
        }
    }

    private static JsonObject Aps(ApnsPushType type, Event accepted, Notification? notification)
    {
        var aps = new JsonObject();
        if (ReferenceEquals(type, ApnsPushType.Background))
        {
            aps["content-available"] = 1;
            return aps;
        }

        if (ReferenceEquals(type, ApnsPushType.LiveActivity))
        {
            // ActivityKit leaves an update without it aside, and one that is older than what it shows.
            aps["timestamp"] = ActivityTimes.Of(accepted);
            return aps;
        }

        if (notification is null)
        {
            return aps;
        }

        if (AppleManner.Alert(notification) is { } alert)
        {
            aps["alert"] = alert;
        }

        AppleManner.Write(aps, notification);
        Set(aps, "category", notification.Category);
        Set(aps, "thread-id", notification.Thread);
        if (notification.Badge is { } badge)
        {
            aps["badge"] = badge;
        }

        if (AppleManner.NeedsExtension(notification))
        {
            aps["mutable-content"] = 1;
        }

        return aps;
    }

    private static JsonObject Envelope(Event accepted, Notification? notification)
    {
        var envelope = new JsonObject { ["id"] = accepted.Id, ["class"] = accepted.Class.Label() };
        Set(envelope, "traceparent", accepted.TraceParent);
        Set(envelope, "image", notification?.Image);
        return envelope;
    }

    private static void Set(JsonObject target, string name, string? value)
    {
        if (value is not null)
        {
            target[name] = value;
        }
    }
}
