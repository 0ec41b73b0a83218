using Pnh.Core.Devices;
using Pnh.Core.Deliveries;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>A delivery's place in its device's mailbox, to the ledger's end and to its leaving.</summary>
internal sealed partial class Shard
{
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
