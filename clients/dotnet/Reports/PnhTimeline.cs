namespace Pnh.Client.Reports;

/// <summary>What became of an event.</summary>
/// <param name="Id">The event's id.</param>
/// <param name="Class"><c>call</c>, <c>message</c> or <c>bulk</c>.</param>
/// <param name="State"><c>open</c>; <c>done</c> = each delivery has its end; <c>withdrawn</c> = taken back from everybody.</param>
/// <param name="AcceptedAt">When the hub took it.</param>
/// <param name="ExpiresAt">When it is no longer of use.</param>
/// <param name="Milestones">Of the event itself.</param>
/// <param name="Deliveries">One for each device of its plan.</param>
/// <param name="Outcome">Why nothing was planned, or not for everybody. Null = all was planned.</param>
public sealed record PnhTimeline(
    string Id, string Class, string State, DateTimeOffset AcceptedAt, DateTimeOffset ExpiresAt, IReadOnlyList<PnhMilestone> Milestones, IReadOnlyList<PnhDelivery> Deliveries, string? Outcome = null);

/// <summary>An event on its way to a device.</summary>
/// <param name="User">Whose device.</param>
/// <param name="Device">Which.</param>
/// <param name="State"><c>pending</c>, or its end: <c>acked</c>, <c>accepted</c> by a provider, <c>expired</c>, <c>withdrawn</c>, <c>suppressed</c>, <c>failed</c>, <c>unconfirmed</c>.</param>
/// <param name="Milestones">In their order.</param>
/// <param name="Reason">Kebab-case, or the provider's own word. Null = none.</param>
/// <param name="Channel">The one that carried it. Null = none yet.</param>
/// <param name="ProviderId">The provider's own id. Null = it has none.</param>
/// <param name="Mailbox">True while the device can still fetch it.</param>
public sealed record PnhDelivery(
    string User, string Device, string State, IReadOnlyList<PnhMilestone> Milestones, string? Reason = null, string? Channel = null, string? ProviderId = null, bool Mailbox = false);

/// <summary>Something that happened to an event.</summary>
/// <param name="At">When.</param>
/// <param name="Kind">What, in kebab-case.</param>
/// <param name="State">The end that it came to. Null = none yet.</param>
/// <param name="Reason">Why. Null = no reason is known.</param>
/// <param name="Channel">By which channel. Null = by none.</param>
/// <param name="Attempts">At the provider so far. Null = it is about no attempt.</param>
/// <param name="NextAttemptAt">Not before then. Null = none is left, or it is about no attempt.</param>
public sealed record PnhMilestone(
    DateTimeOffset At, string Kind, string? State = null, string? Reason = null, string? Channel = null, int? Attempts = null, DateTimeOffset? NextAttemptAt = null);

/// <summary>A line of the feed. Members that its type does not have are null.</summary>
/// <param name="Type"><c>delivery</c>, <c>withdrawn</c>, <c>address</c>, <c>no-devices</c>, <c>gap</c> (entries after the given cursor are past their retention), or one that is newer than this client.</param>
/// <param name="Cursor">Goes on right after this line; of <c>gap</c> null.</param>
/// <param name="Id">The event's id.</param>
/// <param name="User">Whose.</param>
/// <param name="Device">Which device.</param>
/// <param name="Class">The event's class.</param>
/// <param name="State">Of <c>delivery</c>, as in a timeline; no ends are <c>held</c>, <c>unanswered</c>, <c>acked-late</c>.</param>
/// <param name="Reason">Kebab-case, or the provider's own word.</param>
/// <param name="Channel">By which channel.</param>
/// <param name="ProviderId">The provider's own id.</param>
/// <param name="Members">So many members of a topic were not reached.</param>
/// <param name="NextAttemptAt">Of <c>held</c> and <c>unanswered</c>.</param>
/// <param name="Health">Of <c>address</c>: <c>dead</c>, <c>moved</c>, <c>stale</c>, <c>rested</c>, <c>released</c>.</param>
/// <param name="MovedTo">Of <c>moved</c>: the user who has it now.</param>
/// <param name="At">When.</param>
public sealed record PnhFeedEntry(
    string Type, string? Cursor = null, string? Id = null, string? User = null, string? Device = null, string? Class = null, string? State = null, string? Reason = null, string? Channel = null,
    string? ProviderId = null, int? Members = null, DateTimeOffset? NextAttemptAt = null, string? Health = null, string? MovedTo = null, DateTimeOffset? At = null);
