using Pnh.Core.Events;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>The one place in which deliveries end and items leave their mailbox. Touched under the shard's gate only.</summary>
internal sealed class Settlement(ShardState state)
{
    private const string UnreadableReason = "unreadable";
    internal const string Collapsed = "collapsed";
    internal const string Evicted = "evicted";

    private readonly ShardContext _hub = state.Hub;

    /// <summary>The ledger's end. What the mailbox keeps stays in it, without its push.</summary>
    internal void Settle(Mailbox mailbox, MailboxItem item, DeliveryState end, string? reason, string? providerId = null, bool isDeviceGone = false)
    {
        var push = item.Push;
        end = EndOf(end, item.MayBeShown);
        var keeps = item.IsKept && !isDeviceGone && (end is DeliveryState.Accepted or DeliveryState.Suppressed or DeliveryState.Failed or DeliveryState.Unconfirmed)
            && item.ExpiresAt > state.Now && reason is not (Collapsed or Evicted or UnreadableReason);
        item.State = end;
        StopPush(item);
        EndHold(mailbox.User, item);
        _hub.Notes.Settled(mailbox, item, reason, push?.Lane?.Channel, providerId, keeps, state.Now);
        _hub.Counted(end, reason, push?.Lane?.Channel ?? ChannelNames.None, item.Class);
        if (end == DeliveryState.Expired && item.WaitsForHub)
        {
            // Not a call that nobody answered: only what waited in a lane or for another attempt.
            _hub.Metrics.DeadlineMissed(item.Class);
        }

        item.Progress.Books.Settled(item.Class, end);
        item.Progress.Books.InFlight(item.Class, -1);
        if (keeps)
        {
            Wait(mailbox, item);
            return;
        }

        if (end is not (DeliveryState.Acked or DeliveryState.Withdrawn) && reason != Collapsed)
        {
            Miss(mailbox, item);
        }

        Leave(mailbox, item);
    }

    /// <summary>The same of a push; nothing when its mailbox is gone.</summary>
    internal void Settle(PendingPush delivery, DeliveryState end, string? reason, string? providerId = null, bool isDeviceGone = false)
    {
        if (state.FindMailbox(delivery) is { } mailbox)
        {
            Settle(mailbox, delivery.Item!, end, reason, providerId, isDeviceGone);
            RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>Planned and at its end at once.</summary>
    internal void Book(EventProgress progress, UserKey key, string device, DeliveryState end, string? reason)
    {
        progress.Books.Planned(progress.Class);
        progress.Books.Settled(progress.Class, end);
        _hub.Notes.Settled(progress, key, device, end, reason, state.Now);
    }

    /// <summary>What may be on the screen is not said to have failed.</summary>
    internal static DeliveryState EndOf(DeliveryState end, bool mayBeShown) =>
        mayBeShown && end is DeliveryState.Failed or DeliveryState.Expired ? DeliveryState.Unconfirmed : end;

    /// <summary>The device has it.</summary>
    internal void Acknowledge(Mailbox mailbox, MailboxItem item)
    {
        if (item.FrameTimestamp != 0)
        {
            _hub.Metrics.Acked(item.Class, _hub.Time.GetElapsedTime(item.FrameTimestamp));
        }

        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, item.Class, DeliveryStatus.Acked);
        if (item.IsSettled)
        {
            _hub.Notes.AckedLate(mailbox, item, state.Now);
            Leave(mailbox, item);
        }
        else
        {
            Settle(mailbox, item, DeliveryState.Acked, null);
        }
    }

    /// <summary>Out of the mailbox before its time: a pending one ends so, a settled one only leaves.</summary>
    internal void Drop(Mailbox mailbox, MailboxItem item, DeliveryState end, string reason)
    {
        if (!item.IsSettled)
        {
            Settle(mailbox, item, end, reason);
            return;
        }

        _hub.Notes.Dropped(mailbox, item, reason, state.Now);
        if (end == DeliveryState.Failed)
        {
            Miss(mailbox, item);
        }

        Leave(mailbox, item);
    }

    /// <summary>Its body cannot be read any more. What expired while it was read is left to its timer, which knows better how it ended.</summary>
    internal void DropUnreadable(Mailbox mailbox, MailboxItem item)
    {
        if (item.ExpiresAt > state.Now)
        {
            Drop(mailbox, item, DeliveryState.Failed, UnreadableReason);
        }
    }

    /// <summary>
    /// A newer event with the same collapse key takes the older one's place (not the other way round when the registry held the older one up);
    /// of too many the least needed goes.
    /// </summary>
    internal void MakeRoom(Mailbox mailbox, Event accepted)
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
            Drop(mailbox, mailbox.FindSuperfluous(), DeliveryState.Failed, Evicted);
        }
    }

    /// <summary>What is over ends; the timer goes to the next end. A push in its lane ends with its answer. It may have made room in the window of unacknowledged frames.</summary>
    internal void EndDue(Mailbox mailbox)
    {
        mailbox.NextEnd = DateTimeOffset.MaxValue;
        for (var item = mailbox.First; item is not null;)
        {
            var next = item.Next;
            if (item.Push is null && item.EndsAt <= state.Now)
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
                if (item.DueAt <= state.Now)
                {
                    // From here on its lane keeps it waiting.
                    item.WaitsForHub = true;
                    (item.Ending, item.EndingReason) = (DeliveryState.Expired, null);
                    state.Release(mailbox, item);
                }

                ScheduleEnd(mailbox, item);
            }

            item = next;
        }
    }

    /// <summary>No push to come: from here on only an ack or its time ends it.</summary>
    internal void Rest(PendingPush delivery)
    {
        var item = delivery.Item!;
        StopPush(item);
        if (state.FindMailbox(delivery) is { } mailbox)
        {
            ScheduleEnd(mailbox, item);
        }
    }

    /// <summary>Nothing more is pushed. A frame that left in time keeps its time for the ack.</summary>
    internal void End(PendingPush delivery)
    {
        var item = delivery.Item!;
        if (item.EndsAt > state.Now)
        {
            Rest(delivery);
        }
        else
        {
            Settle(delivery, item.Ending, item.EndingReason);
        }
    }

    /// <summary>The push is not held back any more.</summary>
    internal static void EndHold(UserState user, MailboxItem item)
    {
        if (item.Hold is not null)
        {
            item.Hold = null;
            user.WaitElsewhere--;
        }
    }

    /// <summary>The push waits for nobody's ack on another device any more.</summary>
    internal void NoLongerWaitsElsewhere(PendingPush push)
    {
        if (push.WaitsElsewhere && state.Users.TryGetValue(push.User, out var user))
        {
            push.WaitsElsewhere = false;
            user.WaitElsewhere--;
        }
    }

    /// <summary>From here on it waits for its device, and may leave memory.</summary>
    internal void Wait(Mailbox mailbox, MailboxItem item)
    {
        ScheduleEnd(mailbox, item);
        if (MayRest(mailbox, item))
        {
            state.Resting.Add((mailbox, item));
        }
    }

    /// <summary>True when it may leave memory: its device is not here.</summary>
    internal bool MayRest(Mailbox mailbox, MailboxItem item) =>
        item.MayRest && item.ExpiresAt - state.Now > MailboxItem.Soon && !mailbox.IsReading && mailbox.User.FindSession(mailbox.Device) < 0 && ReferenceEquals(mailbox.Find(item.Id), item);

    internal void ScheduleEnd(Mailbox mailbox, MailboxItem item)
    {
        if (item.DueAt is var due && due < mailbox.NextEnd)
        {
            mailbox.NextEnd = due;
            state.Wheel.Schedule(mailbox, due - state.Now);
        }
    }

    /// <summary>An empty mailbox goes, unless its device is here.</summary>
    internal void RemoveIfEmpty(Mailbox mailbox)
    {
        if (mailbox.Count > 0 || mailbox.IsReading)
        {
            return;
        }

        state.Wheel.Cancel(mailbox);
        mailbox.NextEnd = DateTimeOffset.MaxValue;
        mailbox.IsBehind = false;
        if (mailbox.User.FindSession(mailbox.Device) < 0)
        {
            mailbox.User.Remove(mailbox);
            state.RemoveIfIdle(mailbox.User.Key);
        }
    }

    private void StopPush(MailboxItem item)
    {
        if (item.Push is { } push)
        {
            NoLongerWaitsElsewhere(push);
            push.Stop();
            state.Wheel.Cancel(push);
            item.Push = null;
        }
    }

    // It ends and its device has not acknowledged it. A TTL of 0 promised no more than the moment; a session that has the frame may still say that its client had it.
    private void Miss(Mailbox mailbox, MailboxItem item)
    {
        if (item.TakesFrames && item.ExpiresAt > item.Order)
        {
            var (user, index) = (mailbox.User, mailbox.User.FindSession(mailbox.Device));
            var holder = index >= 0 && item.IsOn(user.Sessions[index]) ? item.Session : null;
            state.Missed.Add(new SessionKey(user.Key.App, user.Key.User, mailbox.Device, holder ?? ""), item.Order);
        }
    }

    // Out of the mailbox, without an end.
    private void Leave(Mailbox mailbox, MailboxItem item)
    {
        if (item.IsRestNoted)
        {
            state.Ended(mailbox.User.Key, mailbox.Device, item.Id);
        }

        mailbox.Remove(item);
        _hub.Close(item.Progress);
    }
}
