using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Lanes;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What all shards share. Thread-safe.</summary>
internal sealed class ShardContext
{
    internal required Planner Planner { get; init; }

    internal required IEventJournal Journal { get; init; }

    /// <summary>What it is told of deliveries.</summary>
    internal DeliveryNotes Notes => field ??= new DeliveryNotes(Journal);

    internal required HubMetrics Metrics { get; init; }

    internal required TimeProvider Time { get; init; }

    /// <summary>Most items of one mailbox.</summary>
    internal required int MailboxItems { get; init; }

    /// <summary>Reads what rests for a device; off the caller's lock.</summary>
    internal Action<Shard, Mailbox> ReadMail { get; init; } = static (_, _) => { };

    /// <summary>Ends what rests for a device under the collapse key of a newer event, soon.</summary>
    internal Action<Shard, UserKey, string, Event> CollapseMail { get; init; } = static (_, _, _, _) => { };

    internal required WheelTicker Ticker { get; init; }

    internal required LaneTable Lanes { get; init; }

    /// <summary>Apps whose texts and data providers do not get, with the line that they get instead.</summary>
    internal IReadOnlyDictionary<string, string> ContentTexts { get; init; } = new Dictionary<string, string>();

    /// <summary>What a provider gets of the event.</summary>
    internal Event ForProviders(Event accepted) => ContentTexts.Count > 0 && ContentTexts.TryGetValue(accepted.App, out var text) ? IdsOnly.Of(accepted, text) : accepted;

    /// <summary>The same of what takes it back.</summary>
    internal Withdrawal ForProviders(Withdrawal withdrawal) => ContentTexts.Count > 0 && ContentTexts.ContainsKey(withdrawal.App) ? IdsOnly.Of(withdrawal) : withdrawal;

    /// <summary>Devices of one shard whose missed events are counted at most: of all shards a million, in 40 MB.</summary>
    internal const int MissedDevices = 16_384;

    /// <summary>The reason of what ended because the registry could not be read.</summary>
    internal const string StoreUnavailable = "store-unavailable";

    /// <summary>True from the moment in which the process begins to end: sessions go, and what they have not acknowledged is left to the next one.</summary>
    internal bool IsStopping { get; set; }

    /// <summary>Reads bodies back for a session that waits for them; off the caller's lock.</summary>
    internal required Action<Shard, UserKey, string, IReadOnlyList<MailboxItem>> Load { get; init; }

    /// <summary>Plans a held push anew when its lane has room for it; off the caller's lock.</summary>
    internal required Action<HeldPush, DeliveryLane> Release { get; init; }

    /// <summary>The push of a device's plan.</summary>
    internal PendingPush NewPush(Shard shard, UserKey key, MailboxItem item, Event accepted, in DevicePlan plan, UnfinishedDelivery? before) => new()
    {
        Shard = shard,
        Event = ForProviders(accepted),
        User = key,
        Device = plan.Device,
        Address = plan.Address,
        Item = item,
        Push = plan.Push,
        Attempts = before?.Attempts ?? 0,
        Setbacks = before is { Unanswered: > 0 and var unanswered } ? new PushSetbacks { Unanswered = unanswered } : null,
        Lane = Lanes.Get(plan.Channel!, plan.Account!, accepted.Class),
    };

    /// <summary>A transient event to a session.</summary>
    internal void SendTransient(Event accepted, LiveSession session)
    {
        if (session.Link.TrySend(session.Key.Session, accepted))
        {
            Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.Sent);
            Metrics.RequestServed();
        }
        else
        {
            Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.NotConnected);
        }
    }

    /// <summary>A transient event to sessions in its topic. It leaves nothing in a shard, so that none is asked, and is counted once for all. Those of other nodes are added to
    /// <paramref name="carried"/> (null = none yet): <see cref="SendCarried"/> has to follow.</summary>
    internal void SendTransient(Event accepted, ReadOnlySpan<Subscriber> subscribers, ref CarriedSessions? carried)
    {
        int sent = 0, refused = 0, held = 0;
        var isForAll = accepted is { Except: null, Channels: null };
        foreach (var subscriber in subscribers)
        {
            if (subscriber.Way is not { } way)
            {
                held += subscriber.Session is null ? 0 : 1;
            }
            else if (!isForAll && Planner.FindJoinedHold(accepted, subscriber.Key) is not null)
            {
                held++;
            }
            else if (subscriber.FindCarrier(out var number) is { } carrier)
            {
                (carried ??= new CarriedSessions(accepted)).Add(carrier, number);
            }
            else if (way.TrySend(subscriber.Key.Session, accepted))
            {
                sent++;
            }
            else
            {
                refused++;
            }
        }

        Count(accepted, sent, refused);
        Metrics.DeliveryCounted(ChannelNames.None, accepted.Class, DeliveryStatus.Suppressed, held);
    }

    /// <summary>The event leaves for the sessions of other nodes; null = there are none.</summary>
    internal void SendCarried(Event accepted, CarriedSessions? carried)
    {
        if (carried is not null)
        {
            carried.Flush();
            Count(accepted, carried.Sent, carried.Refused);
        }
    }

    private void Count(Event accepted, int sent, int refused)
    {
        Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.Sent, sent);
        Metrics.RequestServed(sent);
        Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.NotConnected, refused);
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
            case DeliveryState.Unconfirmed:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Unconfirmed);
                break;
            case DeliveryState.Suppressed:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Suppressed);
                break;
            case DeliveryState.Failed when reason == PlanReasons.NoProvider:
                Metrics.DeliveryCounted(channel, @class, DeliveryStatus.Misconfigured);
                break;
        }
    }

    /// <summary>A user could not be read until the event was over: nobody knows of devices.</summary>
    internal void EndUnread(Event accepted, EventProgress? progress)
    {
        progress?.Unread();
        Metrics.DeadlineMissed(accepted.Class);
    }

    /// <summary>So many members of a topic whose page had not come when the event's TTL ended: booked as a delivery each, and told in one line.</summary>
    internal void EndNotReached(EventProgress progress, int members)
    {
        if (members == 0)
        {
            return;
        }

        progress.Planned(members);
        progress.Books.Planned(progress.Class, members);
        progress.Books.Settled(progress.Class, DeliveryState.Expired, members);
        Metrics.DeliveryCounted(ChannelNames.None, progress.Class, DeliveryStatus.Expired, members);
        Metrics.DeadlineMissed(progress.Class, members);
        Journal.Note(new(progress.App, progress.Id, progress.Class, MilestoneKind.Settled, Time.GetUtcNow())
        {
            State = DeliveryState.Expired.Label(),
            Reason = "not-reached",
            Members = members,
        });
    }

    /// <summary>All deliveries of the event are planned: a restart plans no further one.</summary>
    /// <param name="progress">How far it is.</param>
    /// <param name="onlyUser">Its user, where it is for one alone; null = it is for more.</param>
    internal void EndDispatch(EventProgress progress, string? onlyUser)
    {
        Journal.Note(new(progress.App, progress.Id, progress.Class, MilestoneKind.Dispatched, Time.GetUtcNow())
        {
            User = !progress.HasPlans && !progress.IsUnread ? onlyUser : null,
            Reason = progress.IsUnread ? StoreUnavailable : progress.HasPlans ? null : PlanReasons.NoDevices,
        });
        Close(progress);
    }

    /// <summary>Closes one of what is open of the event; with the last the event is finished, or rests.</summary>
    internal void Close(EventProgress progress)
    {
        if (!progress.Close())
        {
            return;
        }

        if (!progress.Rests)
        {
            Journal.Finish(progress.App, progress.Id);
        }
        else if (!progress.IsRestNoted)
        {
            Journal.Note(new(progress.App, progress.Id, progress.Class, MilestoneKind.Rested, Time.GetUtcNow()));
        }
    }
}
