using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>A delivery's place in its device's mailbox, from the plan on.</summary>
internal sealed partial class Shard
{
    private void Begin(EventProgress progress, Event accepted, UserState user, in DevicePlan plan, UnfinishedDelivery? before)
    {
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        _settlement.MakeRoom(mailbox, accepted);
        Mail.Collapse(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, accepted.IsNowOrNever);
        item.MayBeShown = before is { Unanswered: > 0 };
        mailbox.AddPlanned(item);
        if (before is null)
        {
            _hub.Notes.Planned(mailbox, item, plan, _state.Now);
        }

        if (_state.IsExpired(accepted) && (progress.IsRestored || !accepted.IsNowOrNever))
        {
            // The journal or the expansion of a topic took longer than it may live, or the hub was away: a TTL of 0 meant the previous process's now.
            if (before is null)
            {
                _hub.Metrics.DeadlineMissed(accepted.Class);
            }

            _settlement.Settle(mailbox, item, item.Ending, item.EndingReason);
            _settlement.RemoveIfEmpty(mailbox);
            return;
        }

        var sent = TrySendNow(user, mailbox, item, accepted, plan, out var isBehind);
        BeginPush(user, mailbox, item, accepted, plan, sent, isBehind, before);
        _settlement.RemoveIfEmpty(mailbox);
    }

    private bool TrySendNow(UserState user, Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, out bool isBehind)
    {
        if (TryTakeHeld(user, mailbox, item))
        {
            isBehind = false;
            return plan.Socket is not null;
        }

        // Older events of the device still wait for their replay: a newer one queues behind them, a call only behind calls.
        isBehind = plan.Socket is not null && mailbox.IsBehind && (accepted.Class != EventClass.Call || mailbox.IsReading || mailbox.HasCallBefore(item, plan.Socket, _state.Now));
        if (isBehind)
        {
            // What is ahead may have ended without an ack meanwhile; then there is room now.
            item.Loaded = accepted;
            _replay.GoOn(user, mailbox);
            isBehind = item.Session is null;
            return !isBehind;
        }

        if (plan.Socket is null || _replay.TrySend(user.Key, item, accepted, plan.Socket))
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

        var push = _hub.NewPush(this, user.Key, item, accepted, plan, before);
        item.Push = push;
        item.Loaded = null;
        if (before is { Unanswered: >= PushSetbacks.MostUnanswered })
        {
            Refuse(push, UnansweredReason);
        }
        else if (before?.NextAttemptAt is { } due && due > _state.Now)
        {
            _state.Wheel.Schedule(push, due - _state.Now);
        }
        else if (push.IsDueAtOnce(sent, isBehind))
        {
            SendPush(push);
        }
        else if (accepted.IsNowOrNever)
        {
            _settlement.Rest(push);
        }
        else
        {
            push.WaitsElsewhere = plan.Push == PushTiming.UnlessAckedElsewhere;
            user.WaitElsewhere += push.WaitsElsewhere ? 1 : 0;
            _state.Wheel.Schedule(push, plan.PushDelay);
        }
    }

    private void BeginWaiting(Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, bool isOnSocket)
    {
        if (isOnSocket || plan.PushHeld is null)
        {
            // What waits behind others keeps its body while there is a session to take it soon.
            item.Loaded = mailbox.IsBehind && !_state.IsExpired(accepted) ? item.Loaded : null;
            _settlement.Wait(mailbox, item);
        }
        else
        {
            // A push was due and is not made: that is the ledger's end; the mailbox may keep it for the device's next session.
            _settlement.Settle(mailbox, item, item.Ending, item.EndingReason);
        }
    }
}
