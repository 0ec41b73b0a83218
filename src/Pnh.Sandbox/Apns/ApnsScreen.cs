using System.Globalization;
using System.Text;
using System.Text.Json;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.Apns;

/// <summary>What an iPhone makes of a push.</summary>
internal static class ApnsScreen
{
    public static ArrivedPush Read(ReceivedApnsPush push, JsonElement payload, ReceivedPush request) => new(
        push.DeviceToken,
        PhonePlatform.Ios,
        request,
        Show(push, payload, request),
        push.Type.Name == "background" ? EventKeys.Cleared(payload) : null);

    private static ShownNotification? Show(ReceivedApnsPush push, JsonElement payload, ReceivedPush request)
    {
        (string Title, string Body)? text = push.Type.Name switch
        {
            "alert" => Alert(payload),
            // Since iOS 13 the app must report a call for every VoIP push, and the system shows its call screen.
            "voip" => Alert(payload) ?? ("Incoming call", ""),
            "liveactivity" => Alert(payload) ?? ("Live Activity", ""),
            _ => null,
        };
        return text is not { } shown
            ? null
            : new ShownNotification(shown.Title, shown.Body, request.At, push.Type.Name,
                push.Priority.ToString(CultureInfo.InvariantCulture), push.CollapseId, EventKeys.EventId(payload),
                Encoding.UTF8.GetString(request.Body.Span));
    }

    private static (string Title, string Body)? Alert(JsonElement payload)
    {
        if (!payload.TryGetProperty("aps", out JsonElement aps) || !aps.TryGetProperty("alert", out JsonElement alert))
        {
            return null;
        }

        return alert.ValueKind switch
        {
            JsonValueKind.String => ("", alert.GetString()!),
            JsonValueKind.Object => (Text(alert, "title") ?? Text(alert, "title-loc-key") ?? "", Text(alert, "body") ?? Text(alert, "loc-key") ?? ""),
            _ => null,
        };
    }

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}
