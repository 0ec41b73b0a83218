using System.Text;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Events as the parser would make them: the body says the same as the rest.</summary>
internal static class Events
{
    public static Event Make(
        string id, EventClass @class = EventClass.Message, string data = """{"n":1}""", string? collapseKey = null, TimeSpan? ttl = null,
        DateTimeOffset? at = null)
    {
        var acceptedAt = at ?? TimeProvider.System.GetUtcNow();
        var collapse = collapseKey is null ? "" : $"\"collapseKey\":{JsonSerializer.Serialize(collapseKey)},";
        return new Event
        {
            App = "demo",
            Id = id,
            IdGiven = true,
            To = EventTarget.ToUser("ada"),
            Class = @class,
            AcceptedAt = acceptedAt,
            AcceptedTimestamp = TimeProvider.System.GetTimestamp(),
            ExpiresAt = acceptedAt + (ttl ?? TimeSpan.FromHours(1)),
            CollapseKey = collapseKey,
            Data = Encoding.UTF8.GetBytes(data),
            Body = Encoding.UTF8.GetBytes(
                $$"""{"id":"{{id}}","to":{"user":"ada"},"class":"{{@class.Label()}}",{{collapse}}"data":{{data}}}"""),
        };
    }

    public static Withdrawal Withdraw(string id, string reason) => new("demo", id, reason, TimeProvider.System.GetUtcNow());
}
