using System.Collections.Frozen;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// What FCM would surely refuse of an <c>fcm</c> override, found when the event is taken in: members that its schema does not know, values that are no text where it
/// takes texts only, reserved names, too much of it. FCM: REST resource projects.messages; names in snake_case or camelCase. Pure.
/// </summary>
internal static class FcmOverrideCheck
{
    private static readonly Shape Texts = new() { IsTexts = true };

    private static readonly Shape Analytics = Shape.Of("analytics_label");

    private static readonly Shape AndroidNotification = Shape.Of(
        "title", "body", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "body_loc_args", "title_loc_key", "title_loc_args", "channel_id", "ticker",
        "sticky", "event_time", "local_only", "notification_priority", "default_sound", "default_vibrate_timings", "default_light_settings", "vibrate_timings",
        "visibility", "notification_count", "light_settings", "image", "bypass_proxy_notification", "proxy");

    private static readonly Shape Android = Shape.Of(
        "collapse_key", "priority", "ttl", "restricted_package_name", "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok")
        .With("data", Texts).With("notification", AndroidNotification).With("fcm_options", Analytics);

    private static readonly Shape Apns = Shape.Of("payload", "live_activity_token").With("headers", Texts).With("fcm_options", Shape.Of("analytics_label", "image"));

    private static readonly Shape Webpush = Shape.Of("notification").With("headers", Texts).With("data", Texts).With("fcm_options", Shape.Of("link", "analytics_label"));

    private static readonly Shape Message = Shape.Of("name")
        .With("data", Texts).With("notification", Shape.Of("title", "body", "image")).With("android", Android).With("apns", Apns).With("webpush", Webpush)
        .With("fcm_options", Analytics);

    private static readonly FrozenSet<string> Targets = FcmMessage.Targets.ToFrozenSet(StringComparer.Ordinal);

    public static void Check(ReadOnlyMemory<byte> json, ICollection<FieldError> errors)
    {
        if (PayloadMerge.CheckOverride(json, errors) is not { } patch)
        {
            return;
        }

        Check(patch, Message, "", errors);
        CheckData(patch, errors);
        if (FcmMessage.PayloadBytes(patch) > FcmMessage.MaxPayloadBytes)
        {
            errors.Add(PayloadMerge.TooLong(FcmMessage.MaxPayloadBytes));
        }
    }

    private static void Check(JsonObject members, Shape shape, string pointer, ICollection<FieldError> errors)
    {
        foreach (var (name, value) in members)
        {
            if (value is null || errors.Count > Limits.FieldErrors)
            {
                // A null removes, which no provider sees; of too many errors the first are told.
                continue;
            }

            var own = $"{pointer}/{FieldError.Escape(name)}";
            if (shape.IsTexts)
            {
                if (value.GetValueKind() != JsonValueKind.String)
                {
                    errors.Add(new FieldError(own, "wrong-type", "Must be a string: FCM takes nothing else there."));
                }
            }
            else if (pointer.Length == 0 && Targets.Contains(name))
            {
                errors.Add(new FieldError(own, "unknown-member", "The hub itself names the target."));
            }
            else if (!shape.TryGet(name, out var inner))
            {
                errors.Add(DeviceSection.Unknown(pointer, name, "FCM's message at this place"));
            }
            else if (inner is not null && value is JsonObject nested)
            {
                Check(nested, inner, own, errors);
            }
            else if (inner is not null)
            {
                errors.Add(new FieldError(own, "wrong-type", "Must be an object."));
            }
        }
    }

    private static void CheckData(JsonObject patch, ICollection<FieldError> errors)
    {
        foreach (var (key, value) in patch["data"] as JsonObject ?? [])
        {
            if (value is not null && FcmMessage.IsReserved(key))
            {
                errors.Add(new FieldError($"/data/{FieldError.Escape(key)}", "invalid-value", "FCM keeps this name for itself."));
            }
        }
    }

    /// <summary>An object of the schema: its members, and the shapes of those that are objects too.</summary>
    private sealed class Shape
    {
        private readonly Dictionary<string, Shape?> _members = new(StringComparer.Ordinal);

        /// <summary>Any names, with strings.</summary>
        public bool IsTexts { get; init; }

        /// <summary>With members that are looked at by FCM alone.</summary>
        public static Shape Of(params ReadOnlySpan<string> plain)
        {
            var shape = new Shape();
            foreach (var name in plain)
            {
                shape._members.Add(name, null);
            }

            return shape;
        }

        public Shape With(string name, Shape inner)
        {
            _members.Add(name, inner);
            return this;
        }

        public bool TryGet(string name, out Shape? inner) => _members.TryGetValue(name.Contains('_', StringComparison.Ordinal) ? name : Snake(name), out inner);

        private static string Snake(string camel)
        {
            var snake = new StringBuilder(camel.Length + 4);
            foreach (var character in camel)
            {
                _ = char.IsAsciiLetterUpper(character) ? snake.Append('_').Append(char.ToLowerInvariant(character)) : snake.Append(character);
            }

            return snake.ToString();
        }
    }
}
