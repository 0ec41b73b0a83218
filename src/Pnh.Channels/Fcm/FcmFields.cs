using System.Text;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// An object of FCM's schema: its members, and the fields of those that are objects too. FCM: REST resource projects.messages. A parser of ProtoJSON takes a field as <c>collapse_key</c> and as
/// <c>collapseKey</c>, and refuses a message that has it twice; names inside <c>data</c>, <c>headers</c>, <c>apns.payload</c> and <c>webpush.notification</c> are no fields. Pure.
/// </summary>
internal sealed class FcmFields
{
    private static readonly FcmFields Texts = new() { IsTexts = true };

    private static readonly FcmFields Analytics = Of("analytics_label");

    private static readonly FcmFields LightSettings = Of("light_on_duration", "light_off_duration").With("color", Of("red", "green", "blue", "alpha"));

    private static readonly FcmFields AndroidNotification = Of(
        "title", "body", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "body_loc_args", "title_loc_key", "title_loc_args", "channel_id", "ticker",
        "sticky", "event_time", "local_only", "notification_priority", "default_sound", "default_vibrate_timings", "default_light_settings", "vibrate_timings",
        "visibility", "notification_count", "image", "bypass_proxy_notification", "proxy").With("light_settings", LightSettings);

    private static readonly FcmFields Android = Of(
        "collapse_key", "priority", "ttl", "restricted_package_name", "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok")
        .With("data", Texts).With("notification", AndroidNotification).With("fcm_options", Analytics);

    private static readonly FcmFields Apns = Of("payload", "live_activity_token").With("headers", Texts).With("fcm_options", Of("analytics_label", "image"));

    private static readonly FcmFields Webpush = Of("notification").With("headers", Texts).With("data", Texts).With("fcm_options", Of("link", "analytics_label"));

    /// <summary>A message, without its targets.</summary>
    public static FcmFields Message { get; } = Of("name")
        .With("data", Texts).With("notification", Of("title", "body", "image")).With("android", Android).With("apns", Apns).With("webpush", Webpush)
        .With("fcm_options", Analytics);

    private readonly Dictionary<string, FcmFields?> _members = new(StringComparer.Ordinal);

    /// <summary>Any names, with strings.</summary>
    public bool IsTexts { get; private init; }

    /// <summary>Whether there is such a field, in either spelling; <paramref name="inner"/> null = it is looked at by FCM alone.</summary>
    public bool TryGet(string name, out FcmFields? inner) => _members.TryGetValue(Snake(name), out inner);

    /// <summary>Gives each field the one name of the .proto file, so that members are found and merged by it; null = one stands twice.</summary>
    /// <param name="members">An override, or an object of it.</param>
    /// <param name="pointer">Pointer to it; empty = the override.</param>
    /// <param name="errors">Receives each that stands twice; null = nobody asks.</param>
    public JsonObject? Rename(JsonObject members, string pointer = "", ICollection<FieldError>? errors = null)
    {
        var renamed = new JsonObject();
        var isGood = true;
        foreach (var (given, value) in members.ToArray())
        {
            members.Remove(given);
            var name = IsTexts ? given : Snake(given);
            name = _members.ContainsKey(name) ? name : given;
            var own = $"{pointer}/{FieldError.Escape(given)}";
            var inner = value is JsonObject nested && _members.GetValueOrDefault(name) is { } fields ? fields.Rename(nested, own, errors) : value;
            isGood &= inner is not null || value is null;
            if (!renamed.TryAdd(name, inner))
            {
                errors?.Add(new FieldError(own, "duplicate-member", $"The field is given twice: FCM takes {name} in either spelling, once."));
                isGood = false;
            }
        }

        return isGood ? renamed : null;
    }

    private static FcmFields Of(params ReadOnlySpan<string> plain)
    {
        var fields = new FcmFields();
        foreach (var name in plain)
        {
            fields._members.Add(name, null);
        }

        return fields;
    }

    private static string Snake(string camel)
    {
        if (camel.Contains('_', StringComparison.Ordinal))
        {
            return camel;
        }

        var snake = new StringBuilder(camel.Length + 4);
        foreach (var character in camel)
        {
            _ = char.IsAsciiLetterUpper(character) ? snake.Append('_').Append(char.ToLowerInvariant(character)) : snake.Append(character);
        }

        return snake.ToString();
    }

    private FcmFields With(string name, FcmFields inner)
    {
        _members.Add(name, inner);
        return this;
    }
}
