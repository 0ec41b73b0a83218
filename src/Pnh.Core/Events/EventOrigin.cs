namespace Pnh.Core.Events;

/// <summary>What the hub adds to a body.</summary>
/// <param name="App">The publisher's app.</param>
/// <param name="AcceptedAt">Wall clock.</param>
/// <param name="AcceptedTimestamp">Monotonic clock at the same moment.</param>
/// <param name="TraceParent">The POST's <c>traceparent</c>; null = none.</param>
/// <param name="Id">Id given before (recovery); null = the body's or a new one.</param>
/// <param name="ExpiresAt">End of life given before (recovery); null = from the TTL.</param>
/// <param name="Key">The id that the publisher gives beside the body; null = none. The body's goes first.</param>
public readonly record struct EventOrigin(
    string App, DateTimeOffset AcceptedAt, long AcceptedTimestamp, string? TraceParent = null, string? Id = null, DateTimeOffset? ExpiresAt = null, string? Key = null);
