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
        var item = MailboxItem.Of(progress, plan, accepted.IsNowOrNever);
        item.MayBeShown = before is { Unanswered: > 0 };
        mailbox.AddPlanned(item);
        if (before is null)
        {
            _hub.Notes.Planned(mailbox, item, plan, _now);
        }

        if (IsExpired(accepted) && (isPast || !accepted.IsNowOrNever))
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
        isBehind = plan.Socket is not null && mailbox.IsBehind && (accepted.Class != EventClass.Call || mailbox.HasCallBefore(item, plan.Socket, _now));
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

        var push = _hub.NewPush(user.Key, item, accepted, plan, before);
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
        else if (push.IsDueAtOnce(sent, isBehind))
        {
            SendPush(push);
        }
        else if (accepted.IsNowOrNever)
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

    // Settled in the previous process, but the device has not come for it yet.
    private void Keep(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, UnfinishedDelivery before)
    {
        if (!before.IsKept || plan is not { Mailbox: true, IsRegistered: true })
        {
            return;
        }

        if (IsExpired(accepted))
        {
            _missed.Add(new SessionKey(key.App, key.User, plan.DeviceId, ""), accepted.AcceptedAt);
            return;
        }

        var user = GetOrAddUser(key);
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        MakeRoom(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, accepted.IsNowOrNever);
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

    // A newer event with the same collapse key takes the older one's place (not the other way round when the registry held the older one up);
    // of too many the least needed goes.
    private void MakeRoom(Mailbox mailbox, Event accepted)
    {
        for (var item = accepted.CollapseKey is null ? null : mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Class == accepted.Class && item.Order <= accepted.AcceptedAt && string.Equals(item.CollapseKey, accepted.CollapseKey, StringComparison.Ordinal))
            {
                Drop(mailbox, item, DeliveryState.Suppressed, Collapsed);
            }

            item = next;
        }

        while (mailbox.Count >= _hub.MailboxItems)
        {
            Drop(mailbox, mailbox.FindSuperfluous(), DeliveryState.Failed, "evicted");
        }
    }
}
