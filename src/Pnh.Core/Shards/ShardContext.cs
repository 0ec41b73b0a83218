using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>What all shards share. Thread-safe.</summary>
internal sealed class ShardContext
{
    internal required Planner Planner { get; init; }

    internal required IEventJournal Journal { get; init; }

    internal required HubMetrics Metrics { get; init; }

    internal required TimeProvider Time { get; init; }

    /// <summary>Most items of one mailbox.</summary>
    internal required int MailboxItems { get; init; }

    internal LaneTable Lanes { get; set; } = null!;

    /// <summary>Reads bodies back for a session that waits for them; off the caller's lock.</summary>
    internal Action<UserKey, string, IReadOnlyList<MailboxItem>> Load { get; set; } = null!;

    /// <summary>Starts a milestone of a delivery.</summary>
    internal Milestone Milestone(EventProgress progress, MilestoneKind kind, UserKey user, string device) =>
        new(progress.App, progress.Id, progress.Class, kind, Time.GetUtcNow()) { User = user.User, Device = device };

    /// <summary>Counts the ends that no channel's answer counts.</summary>
    internal void Counted(DeliveryState state, string? reason, string channel, EventClass @class)
    {
        switch (state)
        {
            case DeliveryState.Acked or DeliveryState.Accepted:
                Metrics.RequestServed();
                break;
            case DeliveryState.Expired:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Expired);
                break;
            case DeliveryState.Suppressed:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Suppressed);
                break;
            case DeliveryState.Failed when reason == PlanReasons.NoProvider:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Misconfigured);
                break;
        }
    }

    /// <summary>Closes one of what is open of the event; finishes the event with the last.</summary>
    internal void Close(EventProgress progress)
    {
        if (progress.Close() && progress.IsDurable)
        {
            Journal.Finish(progress.App, progress.Id);
        }
    }
}
