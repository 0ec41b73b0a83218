using System.Text.Json;
using System.Text.Json.Nodes;

namespace Pnh.Client.Sockets;

/// <summary>The first frame of a connection.</summary>
internal sealed record HelloFrame(string Type, string Token, string Device, string State, bool Beat, string[] Knows, ResumeMembers? Resume);

/// <summary>The session to go on with, and the highest number that was handled.</summary>
internal sealed record ResumeMembers(string Session, long Seq);

/// <summary>Any other frame of a client; members that its type does not have are null.</summary>
internal sealed record ClientFrame(
    string Type, long? Seq = null, string? State = null, string? Id = null, string? As = null, IReadOnlyCollection<string>? Topics = null, Events.PnhTarget? To = null, JsonNode? Data = null, Events.PnhClass? Class = null,
    int? Every = null);

/// <summary>Any frame of the hub; members that its type does not have are null.</summary>
internal sealed record HubFrame(
    string Type, string? Session, long? Seq, bool? Resumed, double? Beat, string? Id, string? Class, long? At, double? Ttl, JsonElement? Data, JsonElement? Notification, string? Topic, string? CollapseKey,
    string? Traceparent, string? Reason, double? After, bool? Resume, string? Code, string? Message, string? Help, string? Of, string[]? Knows,
    string[]? Topics, Dictionary<string, string[]>? Refused, int? Count, long? Since)
{
    /// <summary>What is told once has the same id when it comes again; null = a withdrawal or a transient event, which may come again.</summary>
    public string? OnceId => Type == "missed" ? $"missed {Since} {Count}" : Type == "event" && Ttl is not null ? Id : null;

    /// <summary>For how long it may come again.</summary>
    public TimeSpan OnceFor => Ttl is { } ttl ? TimeSpan.FromSeconds(ttl) : TimeSpan.FromMinutes(5);

    public PnhMessage ToMessage() => new(
        Id!, Class!, Data, Notification, Seq, At is { } at ? DateTimeOffset.FromUnixTimeMilliseconds(at) : null, Ttl is { } ttl ? TimeSpan.FromSeconds(ttl) : null, Topic, CollapseKey, Traceparent);
}
