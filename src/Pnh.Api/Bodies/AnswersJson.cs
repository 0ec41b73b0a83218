using System.Text.Json.Serialization;

namespace Pnh.Api.Bodies;

/// <summary>Answer of <c>GET /v1/users/{user}/presence</c>.</summary>
/// <param name="User">Whose.</param>
/// <param name="Online">True when there is a session.</param>
/// <param name="Active">True when a session's app is in front.</param>
/// <param name="Sessions">All of the user's.</param>
internal sealed record PresenceBody(string User, bool Online, bool Active, IReadOnlyList<SessionBody> Sessions);

/// <summary>A session of a presence.</summary>
/// <param name="Session">Its id.</param>
/// <param name="Device">Its device.</param>
/// <param name="State"><c>active</c> or <c>background</c>.</param>
/// <param name="Since">When it was opened.</param>
internal sealed record SessionBody(string Session, string Device, string State, DateTimeOffset Since);

/// <summary>Answer of <c>DELETE /v1/users/{user}/sessions</c>.</summary>
/// <param name="Closed">How many sessions it closed.</param>
internal sealed record ClosedBody(int Closed);

/// <summary>Answer of <c>DELETE /v1/users/{user}</c> and of <c>GET /v1/erasures/{id}</c>.</summary>
/// <param name="User">Whose; null = the receipt is asked for again, and does not name the user.</param>
/// <param name="Devices">Registrations that were removed.</param>
/// <param name="Topics">Memberships that were removed.</param>
/// <param name="Sessions">Sessions that were closed.</param>
/// <param name="Withdrawn">Events that still waited, and were taken back from the user.</param>
/// <param name="GoneBy">When the log has nothing of the user any more, bodies of events included; null = it has nothing now.</param>
/// <param name="Id">Of the receipt.</param>
/// <param name="At">When it began.</param>
internal sealed record ErasedBody(string? User, int Devices, int Topics, int Sessions, int Withdrawn, DateTimeOffset? GoneBy, string Id, DateTimeOffset At);

/// <summary>Answer of <c>POST /v1/users/{user}/devices/{device}/test</c>.</summary>
/// <param name="Sent">True when the provider took the push.</param>
/// <param name="Id">The event's; null = nothing was sent.</param>
/// <param name="Links">The way to the device, link by link, up to the first that is broken.</param>
internal sealed record DeviceTestBody(bool Sent, string? Id, IReadOnlyList<LinkBody> Links);

/// <summary>A link of the way to a device.</summary>
/// <param name="Link"><c>registration</c>, <c>address</c>, <c>account</c>, <c>settings</c>, <c>provider</c> or <c>screen</c>.</param>
/// <param name="Holds">False = broken.</param>
/// <param name="Text">What was seen, for a person.</param>
/// <param name="Reason">As in a timeline; null = none.</param>
internal sealed record LinkBody(string Link, bool Holds, string Text, string? Reason);

/// <summary>The event that such a test sends.</summary>
internal sealed record TestEventBody(string Id, TestTargetBody To, int Ttl, IReadOnlyList<string> Channels, TestTextBody Notification);

/// <summary>Its target.</summary>
internal sealed record TestTargetBody(TestDeviceBody Device);

/// <summary>The device of the target.</summary>
internal sealed record TestDeviceBody(string User, string Device);

/// <summary>What it shows.</summary>
internal sealed record TestTextBody(string Title, string Body);

/// <summary>Answer of <c>POST /v1/topics/{topic}/members</c>.</summary>
/// <param name="Added">Users who were no members before.</param>
/// <param name="Removed">Users who were members before.</param>
/// <param name="Refused">Users who are in as many topics as one may be in; null = nobody.</param>
internal sealed record MembersBody(int Added, int Removed, IReadOnlyList<string>? Refused);

/// <summary>Answer of <c>POST /v1/events/{id}/withdraw</c>.</summary>
/// <param name="Id">The event's.</param>
/// <param name="Withdrawn">True.</param>
/// <param name="Duplicate">True when an earlier call took it back; null = this one did.</param>
internal sealed record WithdrawnBody(string Id, bool Withdrawn, bool? Duplicate);

/// <summary>Answer of <c>POST /v1/inbox/ack</c>.</summary>
/// <param name="Acked">How many of the ids the mailbox held.</param>
internal sealed record AckedBody(int Acked);

/// <summary>JSON of answers that are short and rare, without reflection: nulls are left out. What may be long or comes often is written in pieces by hand.</summary>
[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Serialization,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PresenceBody))]
[JsonSerializable(typeof(ClosedBody))]
[JsonSerializable(typeof(ErasedBody))]
[JsonSerializable(typeof(DeviceTestBody))]
[JsonSerializable(typeof(TestEventBody))]
[JsonSerializable(typeof(MembersBody))]
[JsonSerializable(typeof(WithdrawnBody))]
[JsonSerializable(typeof(AckedBody))]
internal sealed partial class AnswersJson : JsonSerializerContext;
