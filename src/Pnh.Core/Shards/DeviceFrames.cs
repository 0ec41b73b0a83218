using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What a session says of its frames: acks, room for more, and frames that it could not take; and bodies for them. Members take the shard's gate.</summary>
internal sealed class DeviceFrames(ShardState state, Settlement settlement, SessionReplay replay, PushSchedule pushes)
{
    /// <summary>Ends the device's delivery of the event, and the pushes that waited only for somebody to acknowledge. True when it waited.</summary>
    internal bool Ack(UserKey key, string device, string eventId)
    {
        using (state.Enter())
        {
            if (!state.Users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox)
            {
                return false;
            }

            var item = mailbox.Find(eventId);
            if (item is not null)
            {
                settlement.Acknowledge(mailbox, item);
                HoldBackElsewhere(user, mailbox, item.Progress);
            }
            else if (user.FindSession(device) is >= 0 and var index)
            {
                state.Missed.Retract(user.Sessions[index].Key);
            }

            // Also after an ack of what has ended already: it made room all the same.
            replay.GoOn(user, mailbox);
            settlement.RemoveIfEmpty(mailbox);
            return item is not null;
        }
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
                // Seen on another device: not pushed any more, but this one still gets it with its next session.
                settlement.Settle(push, DeliveryState.Suppressed, PlanReasons.AckedElsewhere);
            }
            else if (item.Hold is not null)
            {
                EndHoldElsewhere(acknowledged, other, item);
            }
        }
    }

    /// <summary>Bodies that were read back for the device's session (null = cannot be read any more); the replay goes on.</summary>
    internal void Loaded(UserKey key, string device, IReadOnlyList<(MailboxItem Item, Event? Event)> loaded)
    {
        using (state.Enter())
        {
            if (!state.Users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox)
            {
                return;
            }

            replay.Loaded(user, mailbox, loaded);
            settlement.RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>Bodies could not be read a moment ago: tried again, since without a frame there is no ack that would ask.</summary>
    internal void LoadAgain(UserKey key, string device)
    {
        using (state.Enter())
        {
            if (state.Users.TryGetValue(key, out var user) && user.FindMailbox(device) is { } mailbox)
            {
                mailbox.IsLoading = false;
                replay.GoOn(user, mailbox);
            }
        }
    }

    /// <summary>The session has room again for what waits.</summary>
    internal void GoOn(SessionKey session)
    {
        using (state.Enter())
        {
            if (state.TryFind(session, out var user, out _))
            {
                replay.GoOn(user, user.FindMailbox(session.Device));
            }
        }
    }

    /// <summary>A link could not queue what it took.</summary>
    internal void Refused(SessionKey session, string eventId)
    {
        using (state.Enter())
        {
            if (!state.TryFind(session, out var user, out _) || user.FindMailbox(session.Device) is not { } mailbox || mailbox.Find(eventId) is not { } item)
            {
                return;
            }

            item.Session = null;
            mailbox.IsBehind = true;
            if (item.Push is { Push: PushTiming.UnlessAcked, Attempts: 0 } push)
            {
                pushes.Send(push);
            }
        }
    }

    // Seen in front on another device: this one need not ring for it hours later.
    private void EndHoldElsewhere(Mailbox acknowledged, Mailbox other, MailboxItem held)
    {
        if (acknowledged.User.FindLive(acknowledged.Device) is { State: SessionState.Active })
        {
            settlement.Settle(other, held, DeliveryState.Suppressed, PlanReasons.AckedElsewhere);
            settlement.RemoveIfEmpty(other);
        }
    }
}
