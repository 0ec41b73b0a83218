namespace Pnh.Client.Reports;

/// <summary>What the hub would do with an event now.</summary>
/// <param name="Id">The event's id.</param>
/// <param name="Class">Its class.</param>
/// <param name="Durable">Whether it would be stored.</param>
/// <param name="ExpiresAt">When it is no longer of use.</param>
/// <param name="Users">Whom it reaches; of a topic the first 100 members.</param>
/// <param name="Members">Of a topic: how many members it has. Null = it is for no topic.</param>
/// <param name="Next">Of a topic with more members: where the next 100 begin. Null = there are no more.</param>
public sealed record PnhPlan(string Id, string Class, bool Durable, DateTimeOffset ExpiresAt, IReadOnlyList<PnhUserPlan> Users, int? Members = null, string? Next = null);

/// <summary>A user's part of a plan.</summary>
/// <param name="User">Who.</param>
/// <param name="Outcome"><c>planned</c> or <c>no-devices</c>.</param>
/// <param name="Devices">The user's devices.</param>
public sealed record PnhUserPlan(string User, string Outcome, IReadOnlyList<PnhDevicePlan> Devices);

/// <summary>A device's part of a plan.</summary>
/// <param name="Device">Which.</param>
/// <param name="Platform"><c>ios</c>, <c>android</c>, <c>web</c>, <c>desktop</c>.</param>
/// <param name="Reason">Why so, in kebab-case.</param>
/// <param name="Suppressed">True = it gets nothing, by the user's own settings or the event's.</param>
/// <param name="Steps">In their order.</param>
/// <param name="Mailbox">True = it waits in the device's mailbox.</param>
/// <param name="PushHeld">Why no push goes out now. Null = none is held.</param>
public sealed record PnhDevicePlan(string Device, string Platform, string Reason, bool Suppressed, IReadOnlyList<PnhStep> Steps, bool Mailbox, string? PushHeld = null);

/// <summary>A step of a plan.</summary>
/// <param name="Channel">By which channel.</param>
/// <param name="When"><c>now</c>, <c>unless-acked</c>, <c>unless-acked-elsewhere</c>, <c>held-until</c>.</param>
/// <param name="After">So many seconds later. Null = at once.</param>
/// <param name="Session">The session that gets it. Null = it is a push.</param>
/// <param name="Address">The kind of push address. Null = it is no push.</param>
public sealed record PnhStep(string Channel, string When, double? After = null, string? Session = null, string? Address = null)
{
    /// <summary>Of <c>held-until</c>: when the user's quiet hours or "do not disturb" end. Null = it waits for none.</summary>
    public DateTimeOffset? Until { get; init; }
}
