using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Pnh.Sandbox.Fcm;

/// <summary>What FCM asks of a message beyond its schema: one target, limits, reserved words, patterns. Every violation at once.</summary>
internal static partial class FcmRules
{
    private const int MaxBytes = 4096;
    private const int MaxTopicBytes = 2048;
    private const int MaxAddressLength = 4096;

    // Four weeks.
    private const int MaxTtlSeconds = 2_419_200;

    private static readonly string[][] Labels =
        [["fcm_options"], ["android", "fcm_options"], ["apns", "fcm_options"], ["webpush", "fcm_options"]];

    public static List<FcmViolation> Check(ReceivedFcmMessage message)
    {
        List<FcmViolation> violations = [];
        CheckTarget(message, violations);
        CheckData(message.Find("data"), "message.data", violations);
        CheckData(message.Find("android", "data"), "message.android.data", violations);
        CheckData(message.Find("webpush", "data"), "message.webpush.data", violations);
        CheckSize(message, violations);
        Require(message.Find("notification") is not { ValueKind: JsonValueKind.Object } shown || shown.EnumerateObject().Any(), "message.notification", "Notification must not be empty.", violations);
        CheckAndroid(message, violations);
        foreach (string[] path in Labels)
        {
            Require(message.Text([.. path, "analytics_label"]) is not { Length: > 0 } label || LabelPattern().IsMatch(label),
                $"message.{string.Join('.', path)}.analytics_label", "Analytics label must match ^[a-zA-Z0-9-_.~%]{1,50}$.", violations);
        }

        Require(message.Text("webpush", "fcm_options", "link") is not { Length: > 0 } link
            || (Uri.TryCreate(link, UriKind.Absolute, out Uri? uri) && uri.Scheme == Uri.UriSchemeHttps),
            "message.webpush.fcm_options.link", "Link must be an https URL.", violations);
        return violations;
    }

    private static void CheckTarget(ReceivedFcmMessage message, List<FcmViolation> violations)
    {
        if (message.Targets.Count != 1)
        {
            violations.Add(new("message", message.Targets.Count == 0
                ? "Recipient of the message is not set."
                : $"Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '{message.Targets[1]}'"));
            return;
        }

        string field = message.Targets[0];
        string target = message.Target;
        switch (field)
        {
            case "token" or "fid":
                Require(target.Length is > 0 and <= MaxAddressLength && target.All(c => char.IsAscii(c) && !char.IsWhiteSpace(c) && !char.IsControl(c)),
                    $"message.{field}", field == "token"
                        ? "The registration token is not a valid FCM registration token"
                        : "The Firebase installation ID is not valid", violations);
                break;
            case "topic":
                Require(TopicPattern().IsMatch(target), "message.topic", "Invalid topic name provided.", violations);
                break;
            default:
                Require(target.Contains(" in topics", StringComparison.Ordinal), "message.condition", "Invalid condition expression provided.", violations);
                break;
        }
    }

    private static void CheckData(JsonElement? data, string path, List<FcmViolation> violations)
    {
        foreach (JsonProperty entry in data?.EnumerateObject() ?? default)
        {
            Require(!IsReserved(entry.Name), path, $"Invalid data payload key: {entry.Name}", violations);
        }
    }

    private static bool IsReserved(string key) => key is "from" or "message_type"
        || key.StartsWith("google", StringComparison.Ordinal) || key.StartsWith("gcm", StringComparison.Ordinal);

    private static void CheckSize(ReceivedFcmMessage message, List<FcmViolation> violations)
    {
        int limit = message.Targets is ["topic"] or ["condition"] ? MaxTopicBytes : MaxBytes;
        int bytes = BytesOf(message.Data) + Math.Max(BytesOf(message.Find("notification")), BytesOf(message.Find("android", "notification")));
        Require(bytes <= limit, "message.data", $"Message is too big: {bytes} bytes, at most {limit} are allowed.", violations);
        Require(message.Find("apns", "payload") is not { } payload || Encoding.UTF8.GetByteCount(payload.GetRawText()) <= MaxBytes,
            "message.apns.payload", "APNs payload is too big: at most 4096 bytes are allowed.", violations);
    }

    /// <summary>Keys and values, without JSON's own characters.</summary>
    private static int BytesOf(JsonElement? json)
    {
        int bytes = 0;
        foreach (JsonProperty entry in json?.EnumerateObject() ?? default)
        {
            string value = entry.Value.ValueKind == JsonValueKind.String ? entry.Value.GetString()! : entry.Value.GetRawText();
            bytes += Encoding.UTF8.GetByteCount(entry.Name) + Encoding.UTF8.GetByteCount(value);
        }

        return bytes;
    }

    private static void CheckAndroid(ReceivedFcmMessage message, List<FcmViolation> violations)
    {
        Require(message.Text("android", "ttl") is not { } ttl || (ProtoDuration.TryParse(ttl, out decimal seconds) && seconds is >= 0 and <= MaxTtlSeconds),
            "message.android.ttl", "Invalid TTL value: the duration must be from 0s to 2419200s.", violations);
        Require(message.Text("android", "notification", "color") is not { Length: > 0 } color || ColorPattern().IsMatch(color),
            "message.android.notification.color", "Color must be in the form #rrggbb.", violations);
    }

    private static void Require(bool holds, string field, string description, List<FcmViolation> violations)
    {
        if (!holds)
        {
            violations.Add(new FcmViolation(field, description));
        }
    }

    [GeneratedRegex(@"^[a-zA-Z0-9\-_.~%]{1,50}\z")]
    private static partial Regex LabelPattern();

    [GeneratedRegex(@"^[a-zA-Z0-9\-_.~%]+\z")]
    private static partial Regex TopicPattern();

    [GeneratedRegex(@"^#[0-9a-fA-F]{6}\z")]
    private static partial Regex ColorPattern();
}
