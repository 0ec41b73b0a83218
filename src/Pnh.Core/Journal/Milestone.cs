using Pnh.Core.Events;

namespace Pnh.Core.Journal;

/// <summary>What happened to an event or to one of its deliveries. Numbers are stored: never renumber.</summary>
public enum MilestoneKind : byte
{
    /// <summary>The event's deliveries are all planned: a restart plans no further device. No device; reason <c>no-devices</c> when there is none, with the user when it was for one alone; <c>store-unavailable</c> when users could not be read until its end.</summary>
    Dispatched = 1,

    /// <summary>A delivery began; <see cref="Milestone.Reason"/> says why so, <see cref="Milestone.IsKept"/> whether the device's mailbox holds it.</summary>
    Planned = 2,

    /// <summary>Its frame was queued on a session.</summary>
    Framed = 3,

    /// <summary>A push was tried and shall be tried again at <see cref="Milestone.NextAttemptAt"/>.</summary>
    Retry = 4,

    /// <summary>The delivery's one terminal state (<see cref="Milestone.State"/>). With <see cref="Milestone.IsKept"/> the mailbox still holds it. Without user and device: that of <see cref="Milestone.Members"/>.</summary>
    Settled = 5,

    /// <summary>The device acknowledged after the delivery was settled, and has it out of its mailbox.</summary>
    AckedLate = 6,

    /// <summary>Out of the mailbox unacknowledged after the delivery was settled: <see cref="Milestone.Reason"/> says why (<c>collapsed</c>, <c>evicted</c>, <c>expired</c>, <c>unreadable</c>, <c>withdrawn</c>).</summary>
    Dropped = 7,

    /// <summary>Taken back: for one user, or (no user) for all. Written by <see cref="IEventJournal.WithdrawAsync"/> only.</summary>
    Withdrawn = 8,

    /// <summary>What the device showed was asked to be cleared, over <see cref="Milestone.Channel"/>.</summary>
    Cleared = 9,

    /// <summary>A provider took the push after the delivery was settled, which was under way by then: over <see cref="Milestone.Channel"/>. To be cleared too.</summary>
    PushedLate = 10,

    /// <summary>A push is held back and no provider asked: <see cref="Milestone.Reason"/> says why (an account refused, a breaker open, quiet hours). Tried at <see cref="Milestone.NextAttemptAt"/>; null = not any more.</summary>
    Held = 11,

    /// <summary>
    /// A long fan-out has planned the topic's members up to and with the one in <see cref="Milestone.Reason"/>: a restart goes on after that one. No user,
    /// no device, in no timeline.
    /// </summary>
    Reached = 12,

    /// <summary>A push was sent and no answer came in time: the provider may have taken it. Tried again at <see cref="Milestone.NextAttemptAt"/>; null = not any more.</summary>
    Unanswered = 13,

    /// <summary>
    /// With a device: the delivery waits for its device alone, settled or not, until <see cref="Milestone.NextAttemptAt"/>, and no process has it in memory. Without user and device: so does all that is left of
    /// the event, and a start does not take it up. <see cref="Milestone.State"/> is the delivery's end, if it has one. No reason, in no timeline.
    /// </summary>
    Rested = 14,
}

/// <summary>Something that happened to an event, or to its delivery to one device. Null = does not apply.</summary>
/// <param name="App">The event's app.</param>
/// <param name="Event">The event's id.</param>
/// <param name="Class">The event's class.</param>
/// <param name="Kind">What.</param>
/// <param name="At">When.</param>
public readonly record struct Milestone(string App, string Event, EventClass Class, MilestoneKind Kind, DateTimeOffset At)
{
    /// <summary>The reason of a <see cref="MilestoneKind.Withdrawn"/> of a user who was erased: what is carried on of the event does not name the user.</summary>
    public const string Erased = "erased";

    /// <summary>Whose device; null for what concerns the whole event.</summary>
    public string? User { get; init; }

    /// <summary>Which device; null for what concerns the whole event, or a user's whole share of it.</summary>
    public string? Device { get; init; }

    /// <summary>Terminal state label (<c>acked</c>, <c>accepted</c>, <c>expired</c>, <c>withdrawn</c>, <c>suppressed</c>, <c>failed</c>, <c>unconfirmed</c>); of <see cref="MilestoneKind.Settled"/> and <see cref="MilestoneKind.Rested"/> only.</summary>
    public string? State { get; init; }

    /// <summary>Why, in kebab-case or the provider's own word.</summary>
    public string? Reason { get; init; }

    /// <summary>Over which channel.</summary>
    public string? Channel { get; init; }

    /// <summary>The provider's id for it.</summary>
    public string? ProviderId { get; init; }

    /// <summary>True while the device's mailbox holds the event; of <see cref="MilestoneKind.Planned"/> and <see cref="MilestoneKind.Settled"/>.</summary>
    public bool IsKept { get; init; }

    /// <summary>
    /// How many members of a topic share the state: those whose page had not come when the TTL ended. Of a <see cref="MilestoneKind.Settled"/> without user and device;
    /// stands where <see cref="Attempts"/> does.
    /// </summary>
    public int Members
    {
        get => this is { Kind: MilestoneKind.Settled, Device: null } ? Attempts : 0;
        init => Attempts = value;
    }

    /// <summary>True when the event has no other delivery; of a <see cref="MilestoneKind.Rested"/> with a device. Stands where <see cref="IsKept"/> does.</summary>
    public bool IsAlone
    {
        get => Kind == MilestoneKind.Rested && IsKept;
        init => IsKept = value;
    }

    /// <summary>The event's collapse key; of a <see cref="MilestoneKind.Rested"/> with a device. Stands where <see cref="ProviderId"/> does.</summary>
    public string? CollapseKey
    {
        get => Kind == MilestoneKind.Rested ? ProviderId : null;
        init => ProviderId = value;
    }

    /// <summary>True when the delivery, if it rests, does so no more: it has left its device's mailbox.</summary>
    public bool EndsRest => Kind is MilestoneKind.AckedLate or MilestoneKind.Dropped || this is { Kind: MilestoneKind.Settled, IsKept: false };

    /// <summary>True when it tells that its user was erased.</summary>
    public bool IsErasure => this is { Kind: MilestoneKind.Withdrawn, User: not null, Reason: Erased };

    /// <summary>Attempts at the provider so far; of <see cref="MilestoneKind.Retry"/>, <see cref="MilestoneKind.Held"/> and <see cref="MilestoneKind.Unanswered"/>.</summary>
    public int Attempts { get; init; }

    /// <summary>Not before then; of the same. Null = no attempt is left before the event's end. Of a <see cref="MilestoneKind.Rested"/>: the event's end.</summary>
    public DateTimeOffset? NextAttemptAt { get; init; }
}

/// <summary>The health of a push address, for the feed.</summary>
/// <param name="App">Tenant.</param>
/// <param name="User">Whose device.</param>
/// <param name="Device">Which.</param>
/// <param name="Channel">The address's channel.</param>
/// <param name="Health">What happened, in kebab-case: <c>dead</c>, <c>moved</c>.</param>
/// <param name="Reason">The provider's word; null = nothing to add.</param>
/// <param name="At">When.</param>
/// <param name="MovedTo">The user who has it now; null = it did not move, or a hub wrote it that did not say.</param>
public readonly record struct AddressNote(
    string App, string User, string Device, string Channel, string Health, string? Reason, DateTimeOffset At, string? MovedTo = null);
