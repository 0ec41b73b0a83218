namespace Pnh.Core.Events;

/// <summary>
/// One event as accepted: what the publisher sent, plus id, app and times. Immutable and shared by every delivery of it, so
/// everything encoded from it is encoded once (<see cref="Encodings"/>). Thread-safe.
/// </summary>
public sealed class Event
{
    /// <summary>The tenant; from the publisher's key, never from the body.</summary>
    public required string App { get; init; }

    /// <summary>1–64 of <c>[A-Za-z0-9._:~@-]</c>; the publisher's, or a UUIDv7 of ours.</summary>
    public required string Id { get; init; }

    /// <summary>True when the publisher chose the id, so that a repeat can be recognised.</summary>
    public bool IdGiven { get; init; }

    /// <summary>Whom it is for.</summary>
    public required EventTarget To { get; init; }

    /// <summary>Its class.</summary>
    public EventClass Class { get; init; } = EventClass.Message;

    /// <summary>When the hub took it.</summary>
    public required DateTimeOffset AcceptedAt { get; init; }

    /// <summary>The time-stamp of <see cref="AcceptedAt"/> on the monotonic clock (<see cref="TimeProvider.GetTimestamp"/>), for latencies.</summary>
    public long AcceptedTimestamp { get; init; }

    /// <summary>Acceptance plus TTL: from here on nothing of it is sent. Equal to <see cref="AcceptedAt"/> when the TTL is 0 (now or never).</summary>
    public required DateTimeOffset ExpiresAt { get; init; }

    /// <summary>A newer event with the same key replaces this one wherever it still waits; null = never replaced. At most 64 bytes.</summary>
    public string? CollapseKey { get; init; }

    /// <summary>True of what a provider gets where texts and data are kept from it: the app fetches them from its inbox.</summary>
    public bool IsIdsOnly { get; init; }

    /// <summary>How urgently providers are asked to bring a push of it.</summary>
    public PushPriority Priority { get; init; }

    /// <summary>The publisher's own deadline for the socket ack; null = the class's.</summary>
    public TimeSpan? AckWithin { get; init; }

    /// <summary>Who is left out; null = nobody.</summary>
    public Exclusions? Except { get; init; }

    /// <summary>The only channels that may carry it, by name; null = all.</summary>
    public IReadOnlyList<string>? Channels { get; init; }

    /// <summary>The publisher's JSON value, byte for byte; empty = none.</summary>
    public ReadOnlyMemory<byte> Data { get; init; }

    /// <summary>What a person sees; null = a data-only event.</summary>
    public Notification? Notification { get; init; }

    /// <summary>Raw per-channel overrides (a JSON object each, by channel name) merged last into that channel's payload; null = none.</summary>
    public IReadOnlyDictionary<string, ReadOnlyMemory<byte>>? Overrides { get; init; }

    /// <summary>W3C <c>traceparent</c> of the POST; null = none.</summary>
    public string? TraceParent { get; init; }

    /// <summary>The JSON object as received: what the journal keeps and what a repeat is compared with.</summary>
    public ReadOnlyMemory<byte> Body { get; init; }

    /// <summary>Frames and payloads made from this event, each made once.</summary>
    public EncodingCache Encodings { get; } = new();

    /// <summary>False for <see cref="EventClass.Transient"/>: not journaled, promises nothing.</summary>
    public bool IsDurable => Class != EventClass.Transient;

    /// <summary>True for a TTL of 0: it wants the present moment and no other.</summary>
    public bool IsNowOrNever => ExpiresAt <= AcceptedAt;

    /// <summary>The same event, taken at another time: its TTL counts from there. A copy, and nothing encoded from this one is in it.</summary>
    /// <param name="at">Wall clock.</param>
    /// <param name="timestamp">Monotonic clock at the same moment.</param>
    internal Event TakenAt(DateTimeOffset at, long timestamp) => new()
    {
        App = App,
        Id = Id,
        IdGiven = IdGiven,
        To = To,
        Class = Class,
        AcceptedAt = at,
        AcceptedTimestamp = timestamp,
        ExpiresAt = at + (ExpiresAt - AcceptedAt),
        CollapseKey = CollapseKey,
        Priority = Priority,
        AckWithin = AckWithin,
        Except = Except,
        Channels = Channels,
        Data = Data,
        Notification = Notification,
        Overrides = Overrides,
        TraceParent = TraceParent,
        Body = Body,
    };
}

/// <summary>The event's <c>except</c>: ids left out of the plan. Empty lists leave nobody out.</summary>
/// <param name="Users">User ids.</param>
/// <param name="Devices">Device ids.</param>
/// <param name="Sessions">Session ids; the devices that hold them get nothing: the sender's own phone should not ring for what it sent.</param>
public sealed record Exclusions(IReadOnlyList<string> Users, IReadOnlyList<string> Devices, IReadOnlyList<string> Sessions);
