using Pnh.Core.Events;

namespace Pnh.Core.Journal;

/// <summary>An event as the journal keeps it: the body (to be parsed again) with its times.</summary>
public record StoredEvent(
    string App, string Id, bool IdGiven, DateTimeOffset AcceptedAt, DateTimeOffset ExpiresAt, string? TraceParent, ReadOnlyMemory<byte> Body);

/// <summary>An event with its milestones, in the order they were noted.</summary>
public sealed record EventHistory(StoredEvent Event, IReadOnlyList<Milestone> Milestones)
{
    /// <summary>True when it has milestones that are left out here: too many, or only just being written.</summary>
    public bool IsPartial { get; init; }

    /// <summary>What was noted before the event was withdrawn from that user; null = from all.</summary>
    public EventHistory Before(string? withdrawnFrom) => this with
    {
        Milestones = [.. Milestones.TakeWhile(milestone => milestone.Kind != MilestoneKind.Withdrawn || milestone.User != withdrawnFrom)],
    };
}

/// <summary>Some events of a user or of an app.</summary>
/// <param name="Events">Newest first, each with what was asked for of its milestones, oldest first.</param>
/// <param name="Next">Where to go on with older ones; null = there are none.</param>
public sealed record UserEventPage(IReadOnlyList<EventHistory> Events, string? Next);

/// <summary>What recovery found of an event that was not finished.</summary>
/// <param name="Event">The event.</param>
/// <param name="IsDispatched">True when every delivery of it had begun: only those in <paramref name="Deliveries"/> go on.</param>
/// <param name="Withdrawn">Users it was taken back from; a null in it = from all.</param>
/// <param name="Deliveries">Where each delivery that began stood, oldest first.</param>
public sealed record UnfinishedEvent(
    StoredEvent Event, bool IsDispatched, IReadOnlyList<string?> Withdrawn, IReadOnlyList<UnfinishedDelivery> Deliveries)
{
    /// <summary>The last member of its topic that was planned; empty = nobody knows, or the event is to no topic.</summary>
    public string Reached { get; init; } = string.Empty;
}

/// <summary>Where one delivery stood.</summary>
/// <param name="User">Whose device.</param>
/// <param name="Device">Which.</param>
/// <param name="IsSettled">True when it has its terminal state.</param>
/// <param name="IsKept">True while the device's mailbox holds it.</param>
/// <param name="Attempts">Attempts at the provider so far.</param>
/// <param name="NextAttemptAt">When the next is due; null = not told to wait.</param>
public sealed record UnfinishedDelivery(string User, string Device, bool IsSettled, bool IsKept, int Attempts, DateTimeOffset? NextAttemptAt)
{
    /// <summary>True when it was for a session that had joined the event's topic: for that one's socket only.</summary>
    public bool IsJoined { get; init; }

    /// <summary>Until when quiet hours hold its push, as was told last; null = they do not.</summary>
    public DateTimeOffset? HeldUntil { get; init; }

    /// <summary>Attempts whose end nobody knows.</summary>
    public int Unanswered { get; init; }

    /// <summary>True when it rests: it waits for its device, and no process has it in memory.</summary>
    public bool IsResting { get; init; }

    /// <summary>True when the registry had the device as it was planned; false = it was a session alone, or how it was planned is not known.</summary>
    public bool IsRegistered { get; init; }
}

/// <summary>Of the events of a class with one collapse key a device gets the newest.</summary>
/// <param name="Class">The class.</param>
/// <param name="Key">The key.</param>
public readonly record struct Collapse(EventClass Class, string Key);

/// <summary>An event that rests for a device.</summary>
/// <param name="Event">The event.</param>
/// <param name="IsSettled">True when the delivery to the device has its terminal state.</param>
/// <param name="IsAlone">True when the event has no other delivery.</param>
public sealed record RestingEvent(StoredEvent Event, bool IsSettled, bool IsAlone);

/// <summary>A piece of the feed.</summary>
/// <param name="Entries">Oldest first.</param>
/// <param name="Next">Where to go on; also when there are no entries.</param>
/// <param name="IsGap">True when what came right after the given place is past the retention and was removed.</param>
/// <param name="IsEnd">True when nothing more is on stable storage now.</param>
public sealed record FeedPage(IReadOnlyList<FeedEntry> Entries, string Next, bool IsGap, bool IsEnd);

/// <summary>One entry: an outcome (<see cref="MilestoneKind.Settled"/>, <see cref="MilestoneKind.AckedLate"/>, <see cref="MilestoneKind.Withdrawn"/>), what a publisher may act on before (<see cref="MilestoneKind.Held"/>, <see cref="MilestoneKind.Unanswered"/>), or an address's health.</summary>
/// <param name="Cursor">To go on right after this entry.</param>
/// <param name="Outcome">Null for an address.</param>
/// <param name="Address">Null for an outcome.</param>
public readonly record struct FeedEntry(string Cursor, Milestone? Outcome, AddressNote? Address);
