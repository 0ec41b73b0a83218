using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>How deliveries end and items leave their mailbox.</summary>
internal sealed partial class Shard
{
    private const string UnreadableReason = "unreadable";

    /// <summary>The ledger's end. What the mailbox keeps stays in it, without its push.</summary>
    private void Settle(Mailbox mailbox, MailboxItem item, DeliveryState state, string? reason, string? providerId = null, bool isDeviceGone = false)
    {
        var push = item.Push;
        state = EndOf(state, item.MayBeShown);
        var keeps = item.IsKept && !isDeviceGone && (state is DeliveryState.Accepted or DeliveryState.Suppressed or DeliveryState.Failed or DeliveryState.Unconfirmed)
            && item.ExpiresAt > _now && reason is not ("collapsed" or "evicted" or UnreadableReason);
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
        }
        else
        {
            Leave(mailbox, item);
        }
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
        Leave(mailbox, item);
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
