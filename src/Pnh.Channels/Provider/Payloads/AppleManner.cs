using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>How an iPhone shows a notification, apart from its texts: members of <c>aps</c>, the same straight to Apple and through FCM. Apple: Generating a remote notification. Pure.</summary>
internal static class AppleManner
{
    public static void Write(JsonObject aps, Notification notification)
    {
        if (notification.Interruption == Interruption.Critical)
        {
            aps["sound"] = new JsonObject { ["critical"] = 1, ["name"] = notification.Sound ?? "default", ["volume"] = notification.Volume ?? 1 };
        }
        else if (notification.Sound is { } sound)
        {
            aps["sound"] = sound;
        }

        if (notification.Interruption is { } interruption)
        {
            aps["interruption-level"] = interruption.Label();
        }

        if (notification.Relevance is { } relevance)
        {
            aps["relevance-score"] = relevance;
        }
    }

    /// <summary>The alert's texts, and those that the app has. Null = it shows none.</summary>
    public static JsonObject? Alert(Notification notification)
    {
        var alert = new JsonObject();
        foreach (var (name, text) in ((string, string?)[])[("title", notification.Title), ("subtitle", notification.Subtitle), ("body", notification.Body), ("title-loc-key", notification.TitleKey), ("loc-key", notification.BodyKey)])
        {
            if (text is not null)
            {
                alert[name] = text;
            }
        }

        PayloadMerge.AddTexts(alert, "title-loc-args", notification.TitleArgs);
        PayloadMerge.AddTexts(alert, "loc-args", notification.BodyArgs);
        return alert.Count == 0 ? null : alert;
    }

    /// <summary>The app's notification service extension, which fetches a picture, runs only for mutable content.</summary>
    public static bool NeedsExtension(Notification? notification) => notification is { Image: not null } or { IsMutable: true };

    /// <summary><c>apns-priority</c>: 10 at once, 5 when it suits the battery.</summary>
    /// <param name="accepted">The event.</param>
    /// <param name="isVisible">Apple refuses 10 on what shows nothing.</param>
    public static string Priority(Event accepted, bool isVisible) => !isVisible ? "5" : accepted.Priority switch
    {
        PushPriority.Now => "10",
        PushPriority.Saving => "5",
        _ => accepted.Class == EventClass.Bulk ? "5" : "10",
    };
}
