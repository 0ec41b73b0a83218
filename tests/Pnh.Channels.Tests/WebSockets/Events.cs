using System.Text;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Events as the parser would make them.</summary>
internal static class Events
{
    public static Event Make(
        string id, EventClass @class = EventClass.Message, string data = """{"n":1}""", string? collapseKey = null, TimeSpan? ttl = null,
        DateTimeOffset? at = null)
    {
        var acceptedAt = at ?? TimeProvider.System.GetUtcNow();
        return new Event
        {
            App = "demo",
            Id = id,
            To = EventTarget.ToUser("ada"),
            Class = @class,
            AcceptedAt = acceptedAt,
            AcceptedTimestamp = TimeProvider.System.GetTimestamp(),
            ExpiresAt = acceptedAt + (ttl ?? TimeSpan.FromHours(1)),
            CollapseKey = collapseKey,
            Data = Encoding.UTF8.GetBytes(data),
        };
    }
}
