using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>How deliveries end and items leave their mailbox.</summary>
internal sealed partial class Shard
{
    private const string UnreadableReason = "unreadable";
    private const string Collapsed = "collapsed";

    /// <summary>Ends the device's delivery of the event, and the pushes that waited only for somebody to acknowledge. True when it waited.</summary>
    internal bool Ack(UserKey key, string device, string eventId)
    {
        using (Enter())
        {
            if (!_users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox)
            {
                return false;
            }

            var item = mailbox.Find(eventId);
            if (item is not null)
            {
                Acknowledge(user, mailbox, item);
            }
            else if (user.FindSession(device) is >= 0 and var index)
            {
                _missed.Retract(user.Sessions[index].Key);
            }

            // Also after an ack of what has ended already: it made room all the same.
            ReplayRest(user, mailbox);
            RemoveIfEmpty(mailbox);
            return item is not null;
        }
    }

    private void Acknowledge(UserState user, Mailbox mailbox, MailboxItem item)
    {
        if (item.FrameTimestamp != 0)
        {
            _hub.Metrics.Acked(item.Class, _hub.Time.GetElapsedTime(item.FrameTimestamp));
        }

        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, item.Class, DeliveryStatus.Acked);
        if (item.IsSettled)
        {
            _hub.Notes.AckedLate(mailbox, item, _now);
            Leave(mailbox, item);
        }
        else
        {
            Settle(mailbox, item, DeliveryState.Acked, null);
        }

        HoldBackElsewhere(user, mailbox, item.Progress);
    }

    private void HoldBackElsewhere(UserState user, Mailbox acknowledged, EventProgress progress)
    {
        if (user.WaitElsewhere == 0)
        {
            return;
        }

        foreach (var other in user.Mailboxes)
        {
            if (other.Find(progress.Id) is not { } item)
            {
                continue;
            }

            if (item.Push is { WaitsElsewhere: true } push)
            {
                HoldBack(push);
            }
            else if (item.Hold is not null)
            {
                EndHoldElsewhere(acknowledged, other, item);
            }
        }
    }

    /// <summary>The ledger's end. What the mailbox keeps stays in it, without its push.</summary>
    private void Settle(Mailbox mailbox, MailboxItem item, DeliveryState state, string? reason, string? providerId = null, bool isDeviceGone = false)
    {
        var push = item.Push;
        state = EndOf(state, item.MayBeShown);
        var keeps = item.IsKept && !isDeviceGone && (state is DeliveryState.Accepted or DeliveryState.Suppressed or DeliveryState.Failed or DeliveryState.Unconfirmed)
            && item.ExpiresAt > _now && reason is not (Collapsed or "evicted" or UnreadableReason);
        item.State = state;
        StopPush(item);
        EndHold(mailbox.User, item);
        _hub.Notes.Settled(mailbox, item, reason, push?.Lane?.Channel, providerId, keeps, _now);
        _hub.Counted(state, reason, push?.Lane?.Channel ?? ChannelNames.None, item.Class);
        if (state == DeliveryState.Expired && item.WaitsForHub)
        {
            // Not a call that nobody answered: only what waited in a lane or for another attempt.
            _hub.Metrics.DeadlineMissed(item.Class);
        }

        item.Progress.Books.Settled(item.Class, state);
        item.Progress.Books.InFlight(item.Class, -1);
        if (keeps)
        {
            ScheduleEnd(mailbox, item);
            return;
        }

        if (state is not (DeliveryState.Acked or DeliveryState.Withdrawn) && reason != Collapsed)
        {
            Miss(mailbox, item);
        }

        Leave(mailbox, item);
    }

    // What may be on the screen is not said to have failed.
    private static DeliveryState EndOf(DeliveryState state, bool mayBeShown) =>
        mayBeShown && state is DeliveryState.Failed or DeliveryState.Expired ? DeliveryState.Unconfirmed : state;

    // Out of the mailbox before its time: a pending one ends so, a settled one only leaves.
    private void Drop(Mailbox mailbox, MailboxItem item, DeliveryState state, string reason)
    {
        if (!item.IsSettled)
        {
            Settle(mailbox, item, state, reason);
            return;
        }

        _hub.Notes.Dropped(mailbox, item, reason, _now);
        if (state == DeliveryState.Failed)
        {
            Miss(mailbox, item);
        }

        Leave(mailbox, item);
    }

    // It ends and its device has not acknowledged it. A TTL of 0 promised no more than the moment; a session that has the frame may still say that its client had it.
    private void Miss(Mailbox mailbox, MailboxItem item)
    {
        if (item.TakesFrames && item.ExpiresAt > item.Order)
        {
            var (user, index) = (mailbox.User, mailbox.User.FindSession(mailbox.Device));
            var holder = index >= 0 && item.IsOn(user.Sessions[index]) ? item.Session : null;
            _missed.Add(new SessionKey(user.Key.App, user.Key.User, mailbox.Device, holder ?? ""), item.Order);
        }
    }

    // What expired while it was read is left to its timer, which knows better how it ended.
    private void DropUnreadable(Mailbox mailbox, MailboxItem item)
    {
        if (item.ExpiresAt > _now)
        {
            Drop(mailbox, item, DeliveryState.Failed, UnreadableReason);
        }
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

    private void NoLongerWaitsElsewhere(PendingPush push)
    {
        if (push.WaitsElsewhere && _users.TryGetValue(push.User, out var user))
        {
            push.WaitsElsewhere = false;
            user.WaitElsewhere--;
        }
    }

    private void ScheduleEnd(Mailbox mailbox, MailboxItem item)
    {
        if (item.DueAt is var due && due < mailbox.NextEnd)
        {
            mailbox.NextEnd = due;
            _wheel.Schedule(mailbox, due - _now);
        }
    }

    // What is over ends; the timer goes to the next end. A push in its lane ends with its answer.
    private void EndDue(Mailbox mailbox)
    {
        mailbox.NextEnd = DateTimeOffset.MaxValue;
        for (var item = mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Push is null && item.EndsAt <= _now)
            {
                if (item.IsSettled)
                {
                    Miss(mailbox, item);
                    Leave(mailbox, item);
                }
                else
                {
                    Settle(mailbox, item, item.Ending, item.EndingReason);
                }
            }
            else if (item.Push is null)
            {
                if (item.DueAt <= _now)
                {
                    // From here on its lane keeps it waiting.
                    item.WaitsForHub = true;
                    (item.Ending, item.EndingReason) = (DeliveryState.Expired, null);
                    Release(mailbox, item);
                }

                ScheduleEnd(mailbox, item);
            }

            item = next;
        }

        // What ended without an ack made room in the window of unacknowledged frames.
        ReplayRest(mailbox.User, mailbox);
        RemoveIfEmpty(mailbox);
    }
}
