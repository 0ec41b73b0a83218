using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Deliveries that the previous process began: each user's share of an event is visited once. The first three members take the shard's gate.</summary>
internal sealed class RestoredShares(ShardState state, Settlement settlement, SessionReplay replay, RestingMail mail, HeldFrames held, DeliveryStart start)
{
    /// <summary>Plans the event anew for a user who has a share in it: what had begun goes on or ends, and what had not begins where the share lets it. False when the user has neither a device nor a session for it.</summary>
    internal bool Restore(EventProgress progress, Event accepted, UserKey key, UserSnapshot snapshot, RestoredUser share)
    {
        using (state.Enter())
        {
            state.Users.TryGetValue(key, out var user);
            state.Plan(accepted, key, snapshot, user, state.Plans);
            foreach (ref readonly var plan in CollectionsMarshal.AsSpan(state.Plans))
            {
                Restore(progress, accepted, key, plan, share);
            }

            progress.Planned(state.Plans.Count);
            foreach (var delivery in share.Deliveries)
            {
                if (delivery.IsJoined || !state.Plans.Exists(plan => ShardState.IsDevice(plan.DeviceId, delivery.Device)))
                {
                    RestoreUnplanned(progress, accepted, key, delivery, share);
                }
            }

            state.RemoveIfIdle(key);
            return state.Plans.Count > 0;
        }
    }

    /// <summary>The same of a user whose sessions alone were given it, as guests of its topic.</summary>
    internal void RestoreGuest(EventProgress progress, Event accepted, UserKey key, RestoredUser share)
    {
        using (state.Enter())
        {
            foreach (var delivery in share.Deliveries)
            {
                RestoreUnplanned(progress, accepted, key, delivery, share);
            }

            state.RemoveIfIdle(key);
        }
    }

    /// <summary>Ends what the user's share says had begun: what was taken back as withdrawn, the rest as the caller says.</summary>
    internal void End(EventProgress progress, UserKey key, RestoredUser share, DeliveryState end, string? reason)
    {
        using (state.Enter())
        {
            foreach (var delivery in share.Deliveries)
            {
                if (end == DeliveryState.Expired && progress.ExpiresAt > progress.AcceptedAt && share.IsUnseen(delivery))
                {
                    state.Missed.Add(new SessionKey(key.App, key.User, delivery.Device, ""), progress.AcceptedAt);
                }

                if (delivery.IsResting)
                {
                    mail.Restored(progress, key, share, delivery);
                }
                else if (!delivery.IsSettled)
                {
                    End(progress, key, share, delivery, end, reason);
                }
            }
        }
    }

    private void Restore(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, RestoredUser share)
    {
        var before = share.Find(plan.DeviceId);
        if (before is null ? share.AddsDevices : before is { IsSettled: false, IsJoined: false, IsResting: false } && !share.IsWithdrawn)
        {
            if (plan.IsSuppressed)
            {
                start.Suppress(progress, accepted, key, plan);
            }
            else
            {
                start.Begin(progress, accepted, state.GetOrAddUser(key), plan, before);
            }
        }
        else if (before is { IsResting: true })
        {
            mail.Restored(progress, key, share, before);
        }
        else if (before is { IsSettled: false, IsJoined: false })
        {
            settlement.Book(progress, key, plan.DeviceId, DeliveryState.Withdrawn, null);
        }
        else if (before is { IsSettled: true, IsKept: true, IsJoined: false } && !share.IsWithdrawn)
        {
            Keep(progress, accepted, key, plan);
        }
    }

    // No plan has the device: it is gone, or it was a session alone, which goes on or is waited for.
    private void RestoreUnplanned(EventProgress progress, Event accepted, UserKey key, UnfinishedDelivery delivery, RestoredUser share)
    {
        if (delivery.IsResting)
        {
            mail.Restored(progress, key, share, delivery);
        }
        else if (!delivery.IsSettled && (share.IsWithdrawn || !TryGoOn(progress, accepted, key, delivery)))
        {
            if (delivery is { IsRegistered: true, IsJoined: false } || share.IsWithdrawn || state.IsExpired(accepted))
            {
                End(progress, key, share, delivery, DeliveryState.Failed, PlanReasons.DeviceGone);
            }
            else
            {
                WaitForSession(progress, key, delivery);
            }
        }
    }

    // What was for a session that had joined the topic, which is here again.
    private bool TryGoOn(EventProgress progress, Event accepted, UserKey key, UnfinishedDelivery delivery)
    {
        if (!delivery.IsJoined || !state.Users.TryGetValue(key, out var user) || user.FindSession(delivery.Device) is not (>= 0 and var index))
        {
            return false;
        }

        start.Begin(progress, accepted, user, Planner.PlanJoined(accepted, user.Sessions[index]), delivery);
        progress.Planned(1);
        return true;
    }

    private void End(EventProgress progress, UserKey key, RestoredUser share, UnfinishedDelivery delivery, DeliveryState end, string? reason)
    {
        var (terminal, why) = share.IsWithdrawn ? (DeliveryState.Withdrawn, null) : (end, reason);
        settlement.Book(progress, key, delivery.Device, Settlement.EndOf(terminal, mayBeShown: delivery.Unanswered > 0), why);
    }

    // Settled in the previous process, but the device has not come for it yet.
    private void Keep(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan)
    {
        if (plan is not { Mailbox: true, IsRegistered: true })
        {
            return;
        }

        if (state.IsExpired(accepted))
        {
            state.Missed.Add(new SessionKey(key.App, key.User, plan.DeviceId, ""), accepted.AcceptedAt);
            return;
        }

        var user = state.GetOrAddUser(key);
        var mailbox = user.GetOrAddMailbox(plan.DeviceId);
        settlement.MakeRoom(mailbox, accepted);
        mail.Collapse(mailbox, accepted);
        var item = MailboxItem.Of(progress, plan, accepted.IsNowOrNever);
        item.State = DeliveryState.Accepted;
        progress.Add();
        mailbox.Add(item);
        settlement.Wait(mailbox, item);
        if (!held.TryTake(user, mailbox, item) && plan.Socket is not null)
        {
            // Its session is here already, said again by its edge.
            item.Loaded = accepted;
            mailbox.IsBehind = true;
            replay.GoOn(user, mailbox);
        }
    }

    // The device had a session and nothing else. It comes back, at this node or at an edge, or nobody gets the event any more.
    private void WaitForSession(EventProgress progress, UserKey key, UnfinishedDelivery before)
    {
        var mailbox = state.GetOrAddUser(key).GetOrAddMailbox(before.Device);
        var item = new MailboxItem(progress) { TakesFrames = true, Ending = DeliveryState.Failed, EndingReason = PlanReasons.DeviceGone, MayBeShown = before.Unanswered > 0 };
        var end = state.Now + Mailbox.Linger;
        item.EndsAt = end < item.EndsAt ? end : item.EndsAt;
        mailbox.AddPlanned(item);
        settlement.ScheduleEnd(mailbox, item);
        progress.Planned(1);
    }
}
