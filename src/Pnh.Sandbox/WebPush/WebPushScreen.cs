using System.Text.Json;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// What a page's service worker makes of a message, by the hub's own payload: <c>id</c>, <c>title</c>, <c>body</c>, <c>tag</c>. A newer notification replaces the one
/// of its tag; <c>Topic</c> replaces only what the push service still holds, so never what is shown.
/// </summary>
internal static class WebPushScreen
{
    private const string DefaultUrgency = "normal";

    /// <summary>The message as it arrives. <paramref name="payload"/> is what was decrypted, null when that is no JSON object.</summary>
    public static ArrivedPush Read(string name, JsonElement? payload, ReceivedPush request)
    {
        if (payload is not { } json)
        {
            return new ArrivedPush(name, PhonePlatform.Browser, request, null, null);
        }

        Clearing? clears = EventKeys.ClearedAtTop(json);
        return new ArrivedPush(name, PhonePlatform.Browser, request, clears is null ? Shown(json, request) : null, clears);
    }

    private static ShownNotification? Shown(JsonElement json, ReceivedPush request)
    {
        string? title = EventKeys.Text(json, "title");
        string? body = EventKeys.Text(json, "body");
        return title is null && body is null
            ? null
            : new ShownNotification(title ?? "", body ?? "", request.At, "webpush", request.Header("urgency") ?? DefaultUrgency,
                EventKeys.Text(json, "tag"), EventKeys.Text(json, "id"), json.GetRawText());
    }
}
