using Pnh.Core.Plans;
using Pnh.Core.Push;

namespace Pnh.Core.Journal;

/// <summary>Folds an unfinished event's milestones into where its deliveries stood.</summary>
internal static class UnfinishedFold
{
    public static UnfinishedEvent Fold(EventHistory history)
    {
        var isDispatched = false;
        var reached = string.Empty;
        List<string?>? withdrawn = null;
        List<UnfinishedDelivery>? deliveries = null;
        Dictionary<(string User, string Device), int>? places = null;
        foreach (var milestone in history.Milestones)
        {
            isDispatched |= milestone.Kind == MilestoneKind.Dispatched;
            reached = milestone.Kind == MilestoneKind.Reached ? milestone.Reason! : reached;
            if (milestone.Kind == MilestoneKind.Withdrawn)
            {
                (withdrawn ??= []).Add(milestone.User);
            }
            else if (milestone is { User: { } user, Device: { } device })
            {
                deliveries ??= [];
                places ??= [];
                if (!places.TryGetValue((user, device), out var place))
                {
                    if (!Begins(milestone.Kind))
                    {
                        // What began no delivery; the one that did may have been put aside.
                        continue;
                    }

                    place = places[(user, device)] = deliveries.Count;
                    deliveries.Add(new UnfinishedDelivery(user, device, false, false, 0, null));
                }

                deliveries[place] = Next(deliveries[place], milestone);
            }
        }

        return new UnfinishedEvent(history.Event, isDispatched, withdrawn ?? [], deliveries ?? []) { Reached = reached };
    }

    private static bool Begins(MilestoneKind kind) => kind is MilestoneKind.Planned or MilestoneKind.Framed or MilestoneKind.Retry or MilestoneKind.Settled
        or MilestoneKind.Held or MilestoneKind.Unanswered;

    private static UnfinishedDelivery Next(UnfinishedDelivery before, in Milestone milestone) => milestone.Kind switch
    {
        MilestoneKind.Planned => before with
        {
            IsKept = milestone.IsKept,
            IsJoined = milestone.Reason == PlanReasons.JoinedTopic,
            IsRegistered = milestone.IsKept || milestone.Channel is not null,
        },
        MilestoneKind.Unanswered => before with
        {
            Attempts = milestone.Attempts,
            NextAttemptAt = milestone.NextAttemptAt ?? milestone.At + PushSetbacks.Pause,
            Unanswered = before.Unanswered + 1,
        },

        // The answer of that very attempt came after all.
        MilestoneKind.Retry when before.Unanswered > 0 && before.Attempts == milestone.Attempts =>
            before with { NextAttemptAt = milestone.NextAttemptAt, Unanswered = before.Unanswered - 1 },
        MilestoneKind.Held when milestone.Reason is PlanReasons.QuietHours or PlanReasons.DoNotDisturb => before with { HeldUntil = milestone.NextAttemptAt },
        MilestoneKind.Retry or MilestoneKind.Held => before with { Attempts = milestone.Attempts, NextAttemptAt = milestone.NextAttemptAt },
        MilestoneKind.Settled => before with { IsSettled = true, IsKept = milestone.IsKept, IsResting = before.IsResting && milestone.IsKept },
        MilestoneKind.AckedLate or MilestoneKind.Dropped => before with { IsKept = false, IsResting = false },
        MilestoneKind.Rested => before with { IsResting = true },
        _ => before,
    };
}
