using Pnh.Core.Devices;
using Pnh.Core.Deliveries;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>A delivery's place in its device's mailbox, from the plan to the ledger's end and to its leaving.</summary>
internal sealed partial class Shard
{
    private void Begin(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, UnfinishedDelivery? before)
    {
        var user = GetOrAddUser(key);
        var mailbox = user.GetOrAddMailbox(plan.Device.Id);
        MakeRoom(mailbox, accepted);
        var item = NewItem(progress, accepted, plan);
        Enter(mailbox, item);
        if (before is null)
        {
            _hub.Journal.Note(_hub.Milestone(progress, MilestoneKind.Planned, key, plan.Device.Id) with
            {
                Reason = plan.Reason,
                Channel = plan.Channel?.Name,
                IsKept = item.IsKept,
            });
        }

        if (IsExpired(accepted) && !IsNowOrNever(accepted))
        {
            // The journal or the expansion of a topic took longer than it may live.
            _hub.Metrics.DeadlineMissed(accepted.Class);
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
        // Older events of the device still wait for their replay: a newer one queues behind them, but for a call.
        isBehind = plan.Socket is not null && accepted.Class != EventClass.Call && mailbox.IsBehind;
        if (isBehind)
        {
            // What is ahead may have ended without an ack meanwhile; then there is room now.
            item.Loaded = accepted;
            ReplayRest(user, mailbox);
            isBehind = item.Session is null;
            return !isBehind;
        }

        return plan.Socket is not null && SendFrame(user.Key, item, accepted, plan.Socket);
    }

    private void BeginPush(
        UserState user, Mailbox mailbox, MailboxItem item, Event accepted, in DevicePlan plan, bool sent, bool isBehind, UnfinishedDelivery? before)
    {
        if (plan.Push == PushTiming.Never)
        {
            BeginWaiting(mailbox, item, accepted, plan, sent || isBehind);
            return;
        }

        var push = NewPush(user.Key, item, accepted, plan, before);
        item.Push = push;
        item.Loaded = null;
        if (before?.NextAttemptAt is { } due && due > _hub.Time.GetUtcNow())
        {
            _wheel.Schedule(push, due - _hub.Time.GetUtcNow());
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
    private static bool IsPushedAtOnce(Delivery delivery, bool sent, bool isBehind) => delivery.Push switch
    {
        PushTiming.Now => true,
        PushTiming.UnlessAcked => !sent && (!isBehind || IsNowOrNever(delivery.Event)),
        PushTiming.UnlessAckedElsewhere => IsNowOrNever(delivery.Event),
        _ => false,
    };

    private static MailboxItem NewItem(EventProgress progress, Event accepted, in DevicePlan plan) => new(accepted, progress)
    {
        IsRegistered = plan.IsRegistered,
        IsKept = plan is { Mailbox: true, IsRegistered: true } && !IsNowOrNever(accepted),
        TakesFrames = plan.Mailbox || plan.Socket is not null,
        Ending = plan.PushHeld switch
        {
            null => DeliveryState.Expired,
            PlanReasons.NoProvider => DeliveryState.Failed,
            _ => DeliveryState.Suppressed,
        },
        EndingReason = plan.PushHeld,
    };

    private Delivery NewPush(UserKey key, MailboxItem item, Event accepted, in DevicePlan plan, UnfinishedDelivery? before) => new()
    {
        Event = accepted,
        User = key,
        Device = plan.Device,
        Address = plan.Address,
        Item = item,
        Push = plan.Push,
        Attempts = before?.Attempts ?? 0,
        Lane = _hub.Lanes.Get(plan.Channel!, plan.Account!, accepted.Class),
    };

    // Settled in a former run, but the device has not come for it yet.
    private void Keep(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, UnfinishedDelivery before)
    {
        if (!before.IsKept || plan is not { Mailbox: true, IsRegistered: true } || IsExpired(accepted))
        {
            return;
        }

        var mailbox = GetOrAddUser(key).GetOrAddMailbox(plan.Device.Id);
        MakeRoom(mailbox, accepted);
        var item = NewItem(progress, accepted, plan);
        item.State = DeliveryState.Accepted;
        progress.Add();
        mailbox.Add(item);
        ScheduleEnd(mailbox, item);
    }

    private void Enter(Mailbox mailbox, MailboxItem item)
    {
        item.Progress.Add();
        mailbox.Add(item);
        _hub.Metrics.Ledger.Planned(item.Progress.App, item.Class);
        _hub.Metrics.Ledger.InFlight(item.Progress.App, item.Class, +1);
    }

    // A newer event with the same collapse key takes the older one's place; of too many the least needed goes.
    private void MakeRoom(Mailbox mailbox, Event accepted)
    {
        for (var item = accepted.CollapseKey is null ? null : mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Class == accepted.Class && string.Equals(item.CollapseKey, accepted.CollapseKey, StringComparison.Ordinal))
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

    /// <summary>The ledger's end. What the mailbox keeps stays in it, without its push.</summary>
    private void Settle(Mailbox mailbox, MailboxItem item, DeliveryState state, string? reason, string? providerId = null, bool isDeviceGone = false)
    {
        var push = item.Push;
        var keeps = item.IsKept && !isDeviceGone && state is DeliveryState.Accepted or DeliveryState.Suppressed or DeliveryState.Failed
            && item.ExpiresAt > _hub.Time.GetUtcNow() && reason is not ("collapsed" or "evicted" or "unreadable");
        item.State = state;
        StopPush(item);
        _hub.Journal.Note(_hub.Milestone(item.Progress, MilestoneKind.Settled, mailbox.User.Key, mailbox.Device) with
        {
            State = state.Label(),
            Reason = reason,
            Channel = state is DeliveryState.Acked ? ChannelNames.WebSocket : push?.Lane?.Channel,
            ProviderId = providerId,
            IsKept = keeps,
        });
        _hub.Counted(state, reason, push?.Lane?.Channel ?? ChannelNames.None, item.Class);
        if (state == DeliveryState.Expired && item.WaitsForHub)
        {
            // Not a call that nobody answered: only what waited in a lane or for another attempt.
            _hub.Metrics.DeadlineMissed(item.Class);
        }

        _hub.Metrics.Ledger.Settled(item.Progress.App, item.Class, state);
        _hub.Metrics.Ledger.InFlight(item.Progress.App, item.Class, -1);
        if (keeps)
        {
            ScheduleEnd(mailbox, item);
        }
        else
        {
            Leave(mailbox, item);
        }
    }

    // Out of the mailbox before its time: a pending one ends so, a settled one only leaves.
    private void Drop(Mailbox mailbox, MailboxItem item, DeliveryState state, string reason)
    {
        if (!item.IsSettled)
        {
            item.Progress.Add(); // held over Settle, which may not keep it
            Settle(mailbox, item, state, reason);
            _hub.Close(item.Progress);
            return;
        }

        _hub.Journal.Note(_hub.Milestone(item.Progress, MilestoneKind.Dropped, mailbox.User.Key, mailbox.Device) with { Reason = reason });
        Leave(mailbox, item);
    }

    private void Leave(Mailbox mailbox, MailboxItem item)
    {
        mailbox.Remove(item);
        _hub.Close(item.Progress);
    }

    private void RemoveIfEmpty(Mailbox mailbox)
    {
        if (mailbox.Count > 0)
        {
            return;
        }

        _wheel.Cancel(mailbox);
        mailbox.NextEnd = DateTimeOffset.MaxValue;
        mailbox.IsBehind = false;
        if (mailbox.User.FindSession(mailbox.Device) < 0)
        {
            mailbox.User.Remove(mailbox);
            RemoveIfIdle(mailbox.User.Key);
        }
    }

    private void StopPush(MailboxItem item)
    {
        if (item.Push is { } push)
        {
            NoLongerWaitsElsewhere(push);
            push.Stop();
            _wheel.Cancel(push);
            item.Push = null;
        }
    }

    private void NoLongerWaitsElsewhere(Delivery push)
    {
        if (push.WaitsElsewhere && _users.TryGetValue(push.User, out var user))
        {
            push.WaitsElsewhere = false;
            user.WaitElsewhere--;
        }
    }

    private void ScheduleEnd(Mailbox mailbox, MailboxItem item)
    {
        if (item.EndsAt < mailbox.NextEnd)
        {
            mailbox.NextEnd = item.EndsAt;
            _wheel.Schedule(mailbox, item.EndsAt - _hub.Time.GetUtcNow());
        }
    }

    // What is over ends; the timer goes to the next end. A push in its lane ends with its answer.
    private void EndDue(Mailbox mailbox)
    {
        var now = _hub.Time.GetUtcNow();
        mailbox.NextEnd = DateTimeOffset.MaxValue;
        for (var item = mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Push is null && item.EndsAt <= now)
            {
                if (item.IsSettled)
                {
                    Leave(mailbox, item);
                }
                else
                {
                    Settle(mailbox, item, item.Ending, item.EndingReason);
                }
            }
            else if (item.Push is null)
            {
                ScheduleEnd(mailbox, item);
            }

            item = next;
        }

        RemoveIfEmpty(mailbox);
    }
}
