using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// Writes an event as an FCM v1 message without its target: the neutral notification for all platforms, what Android, Apple and web
/// need besides, and string-only data. The raw override is merged last, member by member. FCM: REST resource projects.messages. Pure.
/// </summary>
internal static class FcmMessage
{
    /// <summary>Bytes of keys and values of data and notification together.</summary>
    public const int MaxPayloadBytes = 4096;

    /// <summary>Whom a message is for, in one of these.</summary>
    public static readonly string[] Targets = ["token", "fid", "topic", "condition"];

    /// <summary>The refusal of what is larger than that.</summary>
    public const string TooLarge = "payload-too-large";

    /// <param name="accepted">The event.</param>
    /// <param name="notification">In the device's language; null = none.</param>
    /// <param name="parts">What goes in.</param>
    /// <remarks>What the app has to fetch is such a message too: Android runs no code of the app's for one that it shows itself.</remarks>
    /// <param name="isCallAsData">A call that the app shows itself: FCM hands it to the app's code, which an alert of its own would not wake.</param>
    public static JsonObject Compose(Event accepted, Notification? notification, PayloadParts parts, bool isCallAsData = false)
    {
        var message = new JsonObject();
        var isData = isCallAsData || accepted.IsIdsOnly;
        var isWhole = parts == PayloadParts.All && !accepted.IsIdsOnly;
        var shows = Shows(notification) && !isData;
        if (shows && Texts(("title", notification!.Title), ("body", notification.Body), ("image", notification.Image)) is { Count: > 0 } texts)
        {
            message["notification"] = texts;
        }

        message["data"] = Data(accepted, notification, isWhole, hasTexts: isData);
        message["android"] = Android(accepted, notification, shows);
        message["apns"] = Apns(accepted, notification, isWhole);
        message["webpush"] = Webpush(accepted, notification);
        if (parts != PayloadParts.Texts && PayloadMerge.ReadOverride(accepted, FcmChannel.ChannelName) is { } patch)
        {
            PayloadMerge.Apply(message, FcmFields.Message.Rename(patch) ?? throw new JsonException("a field is given twice"), depth: int.MaxValue);
        }

        return message;
    }

    /// <summary>What FCM would refuse, found before it is asked; null = nothing.</summary>
    public static string? FindFault(JsonObject message)
    {
        foreach (var target in Targets)
        {
            if (message.ContainsKey(target))
            {
                return "override-names-target";
            }
        }

        return FaultOfData(message["data"]) ?? FaultOfData((message["android"] as JsonObject)?["data"]) ?? FaultOfData((message["webpush"] as JsonObject)?["data"])
            ?? (PayloadBytes(message) > MaxPayloadBytes ? TooLarge : null);
    }

    /// <summary>What FCM counts: names and texts of data and notification.</summary>
    public static int PayloadBytes(JsonObject message) => TextBytes(message["data"]) + TextBytes(message["notification"]);

    private static string? FaultOfData(JsonNode? data)
    {
        foreach (var (key, value) in data as JsonObject ?? [])
        {
            if (value?.GetValueKind() != JsonValueKind.String)
            {
                return "data-not-string";
            }

            if (IsReserved(key))
            {
                return "reserved-data-key";
            }
        }

        return null;
    }

    private static int TextBytes(JsonNode? texts)
    {
        var bytes = 0;
        foreach (var (key, value) in texts as JsonObject ?? [])
        {
            if (value is not null)
            {
                bytes += Encoding.UTF8.GetByteCount(key);
                bytes += value.GetValueKind() == JsonValueKind.String ? Encoding.UTF8.GetByteCount(value.GetValue<string>()) : 0;
            }
        }

        return bytes;
    }

    /// <summary>FCM: "from", "message_type", and any word beginning with "google" or "gcm".</summary>
    public static bool IsReserved(string key) =>
        key is "from" or "message_type" || key.StartsWith("google", StringComparison.Ordinal) || key.StartsWith("gcm", StringComparison.Ordinal);

    /// <summary>Android has something to show. Google refuses an empty <c>notification</c>, and Android shows one that has no text as an empty one.</summary>
    private static bool Shows(Notification? notification) => (notification?.Title ?? notification?.Body ?? notification?.Image ?? notification?.TitleKey ?? notification?.BodyKey) is not null;

    // A category is a word of iOS: as click_action a tap on Android would open nothing, unless the app has an intent filter of that name.
    private static JsonObject Data(Event accepted, Notification? notification, bool isWhole, bool hasTexts) => Texts(
        ("pnh-id", accepted.Id),
        ("pnh-class", accepted.Class.Label()),
        ("pnh-title", hasTexts ? notification?.Title : null),
        ("pnh-body", hasTexts ? notification?.Body : null),
        ("pnh-category", notification?.Category),
        ("pnh-link", notification?.Link),
        ("data", accepted.Data.IsEmpty || !isWhole ? null : Encoding.UTF8.GetString(accepted.Data.Span)),
        ("traceparent", accepted.TraceParent),
        (FetchPush.Member, isWhole ? null : "true"));

    /// <summary>A message that a person sees or hears, and any call, may wake a dozing phone; Google lowers apps that wake it for nothing.</summary>
    private static JsonObject Android(Event accepted, Notification? notification, bool shows)
    {
        var high = accepted.Priority switch
        {
            PushPriority.Now => true,
            PushPriority.Saving => false,
            _ => accepted.Class == EventClass.Call || ((shows || accepted.IsIdsOnly) && notification is not null && accepted.Class == EventClass.Message),
        };
        var android = Texts(("priority", high ? "HIGH" : "NORMAL"), ("collapse_key", Key(accepted)));
        if (shows)
        {
            // The tag lets a newer notification replace the shown one, or a copy the first; collapse_key only the one that still waits, and FCM keeps four per device.
            var shown = Texts(
                ("sound", AndroidSound(notification!.Sound)), ("tag", Key(accepted) ?? accepted.Id), ("channel_id", notification.Channel), ("notification_priority", AndroidPriority(notification.Interruption)),
                ("title_loc_key", notification.TitleKey), ("body_loc_key", notification.BodyKey));
            PayloadMerge.AddTexts(shown, "title_loc_args", notification.TitleArgs);
            PayloadMerge.AddTexts(shown, "body_loc_args", notification.BodyArgs);
            if (notification.Badge is > 0)
            {
                shown["notification_count"] = notification.Badge;
            }

            if (shown.Count > 0)
            {
                android["notification"] = shown;
            }
        }

        return android;
    }

    /// <summary>A sound in an Android app is a resource, named without the ending that a sound file of an iOS app has.</summary>
    private static string? AndroidSound(string? sound) => sound?.LastIndexOf('.') is > 0 and var end ? sound[..end] : sound;

    // The nearest that Android has: since 8 the channel decides, and an app's most urgent one is a channel of its own.
    private static string? AndroidPriority(Interruption? interruption) => interruption switch
    {
        Interruption.Passive => "PRIORITY_LOW",
        Interruption.TimeSensitive => "PRIORITY_HIGH",
        Interruption.Critical => "PRIORITY_MAX",
        _ => null,
    };

    /// <summary>For an FCM address that is an iPhone's: Google passes this on to APNs.</summary>
    private static JsonObject Apns(Event accepted, Notification? notification, bool isWhole)
    {
        var visible = notification is not null;
        var expires = accepted.IsNowOrNever ? 0 : accepted.ExpiresAt.ToUnixTimeSeconds();
        var headers = Texts(
            ("apns-push-type", visible ? "alert" : "background"),
            ("apns-priority", AppleManner.Priority(accepted, visible)),
            ("apns-expiration", expires.ToString(CultureInfo.InvariantCulture)),
            ("apns-collapse-id", CollapseId.Of(accepted)));
        var aps = new JsonObject();
        if (visible)
        {
            AppleManner.Write(aps, notification!);
            PayloadMerge.Apply(aps, Texts(("category", notification!.Category), ("thread-id", notification.Thread)), depth: 0);
        }
        else
        {
            aps["content-available"] = 1;
        }

        if (notification?.Badge is { } badge)
        {
            aps["badge"] = badge;
        }

        if (accepted.IsIdsOnly ? notification is not null : notification is { Subtitle: not null } or { TitleKey: not null } or { BodyKey: not null })
        {
            // An alert here hides the neutral notification, so it repeats it.
            aps["alert"] = AppleManner.Alert(notification!);
        }

        if (AppleManner.NeedsExtension(notification) || (visible && !isWhole))
        {
            aps["mutable-content"] = 1;
        }

        if (!isWhole)
        {
            aps["content-available"] = 1;
        }

        return new JsonObject { ["headers"] = headers, ["payload"] = new JsonObject { ["aps"] = aps } };
    }

    private static JsonObject Webpush(Event accepted, Notification? notification)
    {
        var life = (long)Math.Max(0, (accepted.ExpiresAt - accepted.AcceptedAt).TotalSeconds);
        var urgency = accepted.Priority switch
        {
            PushPriority.Now => "high",
            PushPriority.Saving => "low",
            _ => accepted.Class switch { EventClass.Call => "high", EventClass.Bulk => "low", _ => "normal" },
        };
        var webpush = new JsonObject
        {
            ["headers"] = Texts(("TTL", life.ToString(CultureInfo.InvariantCulture)), ("Urgency", urgency)),
        };
        if (notification?.Link is { } link && link.StartsWith("https:", StringComparison.OrdinalIgnoreCase))
        {
            // FCM refuses any other.
            webpush["fcm_options"] = Texts(("link", link));
        }

        return webpush;
    }

    private static string? Key(Event accepted) => string.IsNullOrEmpty(accepted.CollapseKey) ? null : accepted.CollapseKey;

    private static JsonObject Texts(params ReadOnlySpan<(string Name, string? Value)> members)
    {
        var target = new JsonObject();
        foreach (var (name, value) in members)
        {
            if (value is not null)
            {
                target[name] = value;
            }
        }

        return target;
    }
}
