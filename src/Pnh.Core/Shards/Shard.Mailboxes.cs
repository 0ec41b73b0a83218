using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>A delivery's place in its device's mailbox, from the plan on.</summary>
internal sealed partial class Shard
{
    private void Begin(EventProgress progress, Event accepted, UserState user, in DevicePlan plan, UnfinishedDelivery? before, bool isPast)
    {
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        MakeRoom(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, IsNowOrNever(accepted));
        item.MayBeShown = before is { Unanswered: > 0 };
        Put(mailbox, item);
        if (before is null)
        {
            _hub.Notes.Planned(mailbox, item, plan, _now);
        }

        if (IsExpired(accepted) && (isPast || !IsNowOrNever(accepted)))
        {
            // The journal or the expansion of a topic took longer than it may live, or the hub was away: a TTL of 0 meant the previous process's now.
            if (before is null)
            {
                _hub.Metrics.DeadlineMissed(accepted.Class);
            }

            Settle(mailbox, item, item.Ending, item.EndingReason);
            RemoveIfEmpty(mailbox);
            return;
        }

        var sent = TrySendNow(user, mailbox, item, accepted, plan, out var isBehind);
        BeginPush(user, mailbox, item, accepted, plan, sent, isBehind, before);
        RemoveIfEmpty(mailbox);
    }

    private bool TrySendNow(UserState user, Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, out bool isBehind)
    {
        if (TryTakeHeld(user, mailbox, item))
        {
            isBehind = false;
            return plan.Socket is not null;
        }

        // Older events of the device still wait for their replay: a newer one queues behind them, a call only behind calls.
        isBehind = plan.Socket is not null && mailbox.IsBehind && (accepted.Class != EventClass.Call || IsCallAhead(mailbox, item, plan.Socket));
        if (isBehind)
        {
            // What is ahead may have ended without an ack meanwhile; then there is room now.
            item.Loaded = accepted;
            ReplayRest(user, mailbox);
            isBehind = item.Session is null;
            return !isBehind;
        }

        if (plan.Socket is null || SendFrame(user.Key, item, accepted, plan.Socket))
        {
            return plan.Socket is not null;
        }

        // Gone, or between two connections: on the one that is resumed no newer event may overtake it.
        mailbox.IsBehind = true;
        return false;
    }

    private bool IsCallAhead(Mailbox mailbox, MailboxItem call, LiveSession session)
    {
        for (var item = mailbox.First; item is not null && item != call; item = item.Next)
        {
            if (item is { Class: EventClass.Call, TakesFrames: true } && item.ExpiresAt > _now && !IsOn(item, session))
            {
                return true;
            }
        }

        return false;
    }

    private void BeginPush(
        UserState user, Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, bool sent, bool isBehind, UnfinishedDelivery? before)
    {
        if (plan.Push == PushTiming.Never)
        {
            BeginWaiting(mailbox, item, accepted, plan, sent || isBehind);
            return;
        }

        if (plan.Quiet is { } quiet && before is not { Unanswered: >= PushSetbacks.MostUnanswered })
        {
            item.Loaded = isBehind ? item.Loaded : null;
            Hold(user, mailbox, item, plan, quiet, before?.HeldUntil);
            return;
        }

        var push = NewPush(user.Key, item, accepted, plan, before);
        item.Push = push;
        item.Loaded = null;
        if (before is { Unanswered: >= PushSetbacks.MostUnanswered })
        {
            Refuse(push, UnansweredReason);
        }
        else if (before?.NextAttemptAt is { } due && due > _now)
        {
            _wheel.Schedule(push, due - _now);
        }
        else if (IsPushedAtOnce(push, sent, isBehind))
        {
            SendPush(push);
        }
        else if (IsNowOrNever(accepted))
        {
            Rest(push);
        }
        else
        {
            push.WaitsElsewhere = plan.Push == PushTiming.UnlessAckedElsewhere;
            user.WaitElsewhere += push.WaitsElsewhere ? 1 : 0;
            _wheel.Schedule(push, plan.PushDelay);
        }
    }

    private void BeginWaiting(Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, bool isOnSocket)
    {
        if (isOnSocket || plan.PushHeld is null)
        {
            // What waits behind others keeps its body while there is a session to take it soon.
            item.Loaded = mailbox.IsBehind && !IsExpired(accepted) ? item.Loaded : null;
            ScheduleEnd(mailbox, item);
        }
        else
        {
            // A push was due and is not made: that is the ledger's end; the mailbox may keep it for the device's next session.
            Settle(mailbox, item, item.Ending, item.EndingReason);
        }
    }

    // A TTL of 0 means now or never: one attempt on each channel that can be tried at once, and none later. A frame that only queues behind
    // others still has the time for its ack; one that the session refused will not be acknowledged.
    private static bool IsPushedAtOnce(PendingPush delivery, bool sent, bool isBehind) => delivery.Push switch
    {
        PushTiming.Now => true,
        PushTiming.UnlessAcked => !sent && (!isBehind || IsNowOrNever(delivery.Event)),
        PushTiming.UnlessAckedElsewhere => IsNowOrNever(delivery.Event),
        _ => false,
    };

    private PendingPush NewPush(UserKey key, MailboxItem item, Event accepted, in DevicePlan plan, UnfinishedDelivery? before) => new()
    {
        Event = _hub.ForProviders(accepted),
        User = key,
        Device = plan.Device,
        Address = plan.Address,
        Item = item,
        Push = plan.Push,
        Attempts = before?.Attempts ?? 0,
        Setbacks = before is { Unanswered: > 0 and var unanswered } ? new PushSetbacks { Unanswered = unanswered } : null,
        Lane = _hub.Lanes.Get(plan.Channel!, plan.Account!, accepted.Class),
    };

    // Settled in the previous process, but the device has not come for it yet.
    private void Keep(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, UnfinishedDelivery before)
    {
        if (!before.IsKept || plan is not { Mailbox: true, IsRegistered: true } || IsExpired(accepted))
        {
            return;
        }

        var user = GetOrAddUser(key);
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        MakeRoom(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, IsNowOrNever(accepted));
        item.State = DeliveryState.Accepted;
        progress.Add();
        mailbox.Add(item);
        ScheduleEnd(mailbox, item);
        if (!TryTakeHeld(user, mailbox, item) && plan.Socket is not null)
        {
            // Its session is here already, said again by its edge.
            item.Loaded = accepted;
            mailbox.IsBehind = true;
            ReplayRest(user, mailbox);
        }
    }

    private static void Put(Mailbox mailbox, MailboxItem item)
    {
        item.Progress.Add();
        mailbox.Add(item);
        item.Progress.Books.Planned(item.Class);
        item.Progress.Books.InFlight(item.Class, +1);
    }

    // A newer event with the same collapse key takes the older one's place (not the other way round when the registry held the older one up);
    // of too many the least needed goes.
    private void MakeRoom(Mailbox mailbox, Event accepted)
    {
        for (var item = accepted.CollapseKey is null ? null : mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Class == accepted.Class && item.Order <= accepted.AcceptedAt && string.Equals(item.CollapseKey, accepted.CollapseKey, StringComparison.Ordinal))
            {
                Drop(mailbox, item, DeliveryState.Suppressed, "collapsed");
            }

            item = next;
        }

        while (mailbox.Count >= _hub.MailboxItems)
        {
            Drop(mailbox, mailbox.FindSuperfluous(), DeliveryState.Failed, "evicted");
        }
    }
}
