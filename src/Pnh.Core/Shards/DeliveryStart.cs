using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>A delivery from its plan on: its place in its device's mailbox, its frame, its push. Touched under the shard's gate only.</summary>
internal sealed class DeliveryStart(ShardState state, Settlement settlement, SessionReplay replay, RestingMail mail, HeldFrames held, PushSchedule pushes)
{
    private readonly ShardContext _hub = state.Hub;

    /// <summary>Starts the delivery that the plan says.</summary>
    internal void Start(EventProgress? progress, Event accepted, UserKey key, UserState? user, in DevicePlan plan)
    {
        if (plan.IsSuppressed)
        {
            Suppress(progress, accepted, key, plan);
        }
        else if (progress is null)
        {
            _hub.SendTransient(accepted, plan.Socket!);
        }
        else
        {
            Begin(progress, accepted, user is { Sessions.Count: > 0 } ? user : state.GetOrAddUser(key), plan, before: null);
        }
    }

    /// <summary>Planned, and at its end at once.</summary>
    internal void Suppress(EventProgress? progress, Event accepted, UserKey key, in DevicePlan plan)
    {
        var end = plan.HeldEnd;
        _hub.Counted(end, plan.Reason, ChannelNames.None, accepted.Class);
        if (progress is not null)
        {
            settlement.Book(progress, key, plan.DeviceId, end, plan.Reason);
        }
    }

    /// <summary>Puts it into its device's mailbox, gives it to the session that is here, and begins its push. <paramref name="before"/>: how far the previous process was; null = new.</summary>
    internal void Begin(EventProgress progress, Event accepted, UserState user, in DevicePlan plan, UnfinishedDelivery? before)
    {
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        settlement.MakeRoom(mailbox, accepted);
        mail.Collapse(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, accepted.IsNowOrNever);
        item.MayBeShown = before is { Unanswered: > 0 };
        mailbox.AddPlanned(item);
        if (before is null)
        {
            _hub.Notes.Planned(mailbox, item, plan, state.Now);
        }

        if (state.IsExpired(accepted) && (progress.IsRestored || !accepted.IsNowOrNever))
        {
            // The journal or the expansion of a topic took longer than it may live, or the hub was away: a TTL of 0 meant the previous process's now.
            if (before is null)
            {
                _hub.Metrics.DeadlineMissed(accepted.Class);
            }

            settlement.Settle(mailbox, item, item.Ending, item.EndingReason);
            settlement.RemoveIfEmpty(mailbox);
            return;
        }

        var sent = TrySendNow(user, mailbox, item, accepted, plan, out var isBehind);
        BeginPush(user, mailbox, item, accepted, plan, sent, isBehind, before);
        settlement.RemoveIfEmpty(mailbox);
    }

    private bool TrySendNow(UserState user, Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, out bool isBehind)
    {
        if (held.TryTake(user, mailbox, item))
        {
            isBehind = false;
            return plan.Socket is not null;
        }

        // Older events of the device still wait for their replay: a newer one queues behind them, a call only behind calls.
        isBehind = plan.Socket is not null && mailbox.IsBehind && (accepted.Class != EventClass.Call || mailbox.IsReading || mailbox.HasCallBefore(item, plan.Socket, state.Now));
        if (isBehind)
        {
            // What is ahead may have ended without an ack meanwhile; then there is room now.
            item.Loaded = accepted;
            replay.GoOn(user, mailbox);
            isBehind = item.Session is null;
            return !isBehind;
        }

        if (plan.Socket is null || replay.TrySend(user.Key, item, accepted, plan.Socket))
        {
            return plan.Socket is not null;
        }

        // Gone, or between two connections: on the one that is resumed no newer event may overtake it.
        mailbox.IsBehind = true;
        return false;
    }

    /// <summary>Begins its push, at once or later; without one it waits for its device.</summary>
    internal void BeginPush(
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

        var push = _hub.NewPush(state.Shard, user.Key, item, accepted, plan, before);
        item.Push = push;
        item.Loaded = null;
        if (before is { Unanswered: >= PushSetbacks.MostUnanswered })
        {
            pushes.Refuse(push, PushSchedule.UnansweredReason);
        }
        else if (before?.NextAttemptAt is { } due && due > state.Now)
        {
            state.Wheel.Schedule(push, due - state.Now);
        }
        else if (push.IsDueAtOnce(sent, isBehind))
        {
            pushes.Send(push);
        }
        else if (accepted.IsNowOrNever)
        {
            settlement.Rest(push);
        }
        else
        {
            push.WaitsElsewhere = plan.Push == PushTiming.UnlessAckedElsewhere;
            user.WaitElsewhere += push.WaitsElsewhere ? 1 : 0;
            state.Wheel.Schedule(push, plan.PushDelay);
        }
    }

    private void BeginWaiting(Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, bool isOnSocket)
    {
        if (isOnSocket || plan.PushHeld is null)
        {
            // What waits behind others keeps its body while there is a session to take it soon.
            item.Loaded = mailbox.IsBehind && !state.IsExpired(accepted) ? item.Loaded : null;
            settlement.Wait(mailbox, item);
        }
        else
        {
            // A push was due and is not made: that is the ledger's end; the mailbox may keep it for the device's next session.
            settlement.Settle(mailbox, item, item.Ending, item.EndingReason);
        }
    }

    /// <summary>Quiet hours keep its push back.</summary>
    internal void Hold(UserState user, Mailbox mailbox, MailboxItem item, in DevicePlan plan, QuietHold quiet, DateTimeOffset? told)
    {
        item.WaitsForHub = false;
        item.Hold = new PushHold(quiet, state.Now + quiet.Left, _hub.Lanes.Get(plan.Channel!, plan.Account!, item.Class));
        user.WaitElsewhere++;
        if (told != quiet.Until)
        {
            _hub.Notes.HeldBack(mailbox, item, plan.Channel!.Name, quiet, state.Now);
        }

        settlement.ScheduleEnd(mailbox, item);
    }
}
