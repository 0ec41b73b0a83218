using Pnh.Core.Deliveries;
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

    internal LaneTable Lanes { get; set; } = null!;

    /// <summary>Books the end of a delivery: counters, journal, and the event's own end with its last delivery.</summary>
    internal void Settled(Delivery delivery, DeliveryState state, string? reason)
    {
        var accepted = delivery.Event;
        if (!delivery.IsCounted || state != delivery.Ending)
        {
            Counted(state, reason, delivery.Lane?.Channel ?? ChannelNames.None, accepted.Class);
        }

        if (state == DeliveryState.Expired && delivery.WaitsForHub)
        {
            // Not a call that nobody answered: only what waited in a lane or for another attempt.
            Metrics.DeadlineMissed(accepted.Class);
        }

        Journal.Note(new(accepted.App, accepted.Id, accepted.Class, MilestoneKind.Settled, Time.GetUtcNow())
        {
            User = delivery.User.User,
            Device = delivery.Device.Id,
            State = state.Label(),
            Reason = reason,
        });
        Close(delivery.Progress);
    }

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

    /// <summary>Closes one of the event's deliveries, or its dispatch; finishes the event with the last.</summary>
    internal void Close(EventProgress progress)
    {
        if (progress.Close() && progress.Event.IsDurable)
        {
            Journal.Finish(progress.Event.App, progress.Event.Id);
        }
    }
}
