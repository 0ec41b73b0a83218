using System.Text.Json;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.Fcm;

/// <summary>What an Android phone makes of a message: notifications are shown by the system, data alone goes to the app.</summary>
internal static class FcmScreen
{
    public static ArrivedPush Read(ReceivedFcmMessage message, ReceivedPush request)
    {
        JsonElement data = message.Data ?? default;
        bool shows = message.Find("notification") is not null || message.Find("android", "notification") is not null;
        ShownNotification? shown = shows
            ? new ShownNotification(
                message.Text("android", "notification", "title") ?? message.Text("notification", "title") ?? "",
                message.Text("android", "notification", "body") ?? message.Text("notification", "body") ?? "",
                request.At,
                "notification",
                // By number too: NORMAL is 0 or 1, depending on the copy of the .proto file; only names are sure.
                message.Text("android", "priority") ?? "HIGH",
                // The collapse key merges what still waits at Google; what is shown is replaced by its tag alone.
                message.Text("android", "notification", "tag"),
                EventKeys.EventId(data),
                data.ValueKind == JsonValueKind.Object ? data.GetRawText() : "{}")
            : null;
        return new ArrivedPush(message.Target, PhonePlatform.Android, request, shown, shows ? null : EventKeys.Cleared(data));
    }
}
