using Pnh.Core.Events;

namespace Pnh.Core.Journal;

/// <summary>
/// The durable record of accepted events and their outcomes. All members are thread-safe. One writer commits in groups: it flushes again as
/// soon as the last flush is done, with everything that came meanwhile.
/// </summary>
public interface IEventJournal
{
    /// <summary>
    /// Completes when the event is on stable storage (fsync done), or when a record with its id stands already. Continuations run
    /// asynchronously, never on the writer's thread. Throws <see cref="Devices.StoreUnavailableException"/> when it could not be written: then
    /// it is not accepted.
    /// </summary>
    ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken);

    /// <summary>Notes the terminal state of one planned delivery. Not waited for: written with the next flush; lost in a crash, it is decided again.</summary>
    void Settle(in SettledDelivery settled);

    /// <summary>Notes that every delivery of the event is terminal, so that a restart does not take it up again. Written like <see cref="Settle"/>.</summary>
    void Finish(Event finished);

    /// <summary>Every unfinished, unexpired event with the devices that are settled already, oldest first. Read once, before the first append.</summary>
    IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken);
}

/// <summary>What an append found.</summary>
public enum AppendResult
{
    /// <summary>New, and durable now.</summary>
    Appended,

    /// <summary>The same id with the same body was accepted before.</summary>
    Duplicate,

    /// <summary>The id was accepted before with another body.</summary>
    Conflict,
}

/// <summary>The end of one planned delivery.</summary>
/// <param name="Event">The event.</param>
/// <param name="User">User id.</param>
/// <param name="Device">Device id.</param>
/// <param name="State">Terminal state label: <c>acked</c>, <c>accepted</c>, <c>expired</c>, <c>withdrawn</c>, <c>suppressed</c>, <c>failed</c>.</param>
/// <param name="Reason">Why; null = nothing to add.</param>
/// <param name="At">When.</param>
public readonly record struct SettledDelivery(Event Event, string User, string Device, string State, string? Reason, DateTimeOffset At);

/// <summary>What recovery found: the stored body with its times (to be parsed again), and (user, device) pairs not to be sent to.</summary>
public sealed record UnfinishedEvent(
    string App, string Id, bool IdGiven, DateTimeOffset AcceptedAt, DateTimeOffset ExpiresAt, string? TraceParent,
    ReadOnlyMemory<byte> Body, IReadOnlySet<(string User, string Device)> Settled);
