using System.Text.Json.Nodes;

namespace Pnh.Channels.WebPush;

/// <summary>
/// Declarative Web Push (W3C Push API, "declarative push message"): members by which a browser shows a push itself, when the site's service worker is gone or does not answer. Beside those that a service worker reads,
/// so that browsers without it lose nothing. Pure.
/// </summary>
internal static class DeclarativePush
{
    /// <summary>The type of such a message.</summary>
    public const string MediaType = "application/notification+json";

    private const string Navigate = "navigate";
    private const string MarkName = "web_push";

    /// <summary>The number by which a browser knows such a message: that of RFC 8030.</summary>
    private const int Mark = 8030;

    /// <summary>Whether the endpoint's browsers know it: Safari does since 18.4, no version of Firefox or Chrome.</summary>
    public static bool Serves(Uri endpoint, bool allowLoopback) => ApplePush.Serves(endpoint, allowLoopback);

    /// <summary>Whether the payload has the members: added here, or by the event's own <c>webpush</c> object.</summary>
    public static bool IsDeclared(JsonObject payload) => payload.ContainsKey(MarkName);

    /// <summary>Adds the members. Nothing is added to a payload without title and body, which shows nothing.</summary>
    /// <param name="payload">What a service worker reads.</param>
    /// <param name="site">The page that a click opens, unless the payload's <c>navigate</c> names another one.</param>
    public static void Declare(JsonObject payload, Uri site)
    {
        if ((Text(payload, "title") ?? Text(payload, "body")) is not { } title)
        {
            return;
        }

        var notification = new JsonObject
        {
            ["title"] = title,
            [Navigate] = Uri.TryCreate(site, Text(payload, Navigate) ?? Text(payload, "link"), out var page) ? page.AbsoluteUri : site.AbsoluteUri,
            ["data"] = new JsonObject { ["id"] = Text(payload, "id") },
        };
        Copy(payload, notification, "body", "tag", "silent");
        if (Text(payload, "locale") is { } language)
        {
            notification["lang"] = language;
        }

        payload[MarkName] = Mark;
        payload["notification"] = notification;
    }

    /// <summary>A member that shows something; null = there is none, or it is blank or no text.</summary>
    public static string? Text(JsonObject payload, string name) =>
        payload[name] is JsonValue value && value.TryGetValue(out string? text) && !string.IsNullOrWhiteSpace(text) ? text : null;

    private static void Copy(JsonObject from, JsonObject to, params ReadOnlySpan<string> names)
    {
        foreach (var name in names)
        {
            if (from[name] is JsonValue value)
            {
                to[name] = value.DeepClone();
            }
        }
    }
}
