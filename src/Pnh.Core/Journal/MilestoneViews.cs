using Pnh.Core.Push;

namespace Pnh.Core.Journal;

/// <summary>Which milestones the views of a journal show: the same for every engine.</summary>
internal static class MilestoneViews
{
    /// <summary>Of an event in a page of failures.</summary>
    internal const int MostFailures = 20;

    /// <summary>Of an event in a page of the newest; the rest stands in the event's timeline.</summary>
    internal const int MostMilestones = 128;

    /// <summary>False for a frame on a socket, which the event's timeline tells: among a user's it would be a third of all; and for how far a fan-out came, and what rests.</summary>
    internal static bool IsOfUser(MilestoneKind kind) => kind is not (MilestoneKind.Framed or MilestoneKind.Reached or MilestoneKind.Rested);

    /// <summary>True for the end of a delivery that did not arrive.</summary>
    internal static bool IsFailure(MilestoneKind kind, string? state) => kind == MilestoneKind.Settled && DeliveryStateNames.IsFailure(state);

    /// <summary>True for what the feed tells; <paramref name="hasUser"/> = it names one.</summary>
    internal static bool IsOutcome(MilestoneKind kind, bool hasUser) =>
        kind is MilestoneKind.Settled or MilestoneKind.AckedLate or MilestoneKind.Withdrawn or MilestoneKind.Held or MilestoneKind.Unanswered || (kind == MilestoneKind.Dispatched && hasUser);
}
