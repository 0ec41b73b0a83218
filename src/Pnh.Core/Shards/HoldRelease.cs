using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Pushes that quiet hours keep back: held without their event, and planned anew when the hours end or the user's settings change. Members take the shard's gate.</summary>
internal sealed class HoldRelease(ShardState state, Settlement settlement, DeliveryStart start)
{
    /// <summary>Plans a released push anew, for the devices, sessions and settings of now. Nothing when it ended meanwhile.</summary>
    /// <param name="released">The push.</param>
    /// <param name="accepted">Its event; null = it cannot be read any more.</param>
    /// <param name="snapshot">The user now.</param>
    internal void PlanAnew(in HeldPush released, Event? accepted, UserSnapshot snapshot)
    {
        var (_, key, device, item) = released;
        using (state.Enter())
        {
            if (!state.Users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox || item.Hold is not { } hold || !ReferenceEquals(mailbox.Find(item.Id), item))
            {
                return;
            }

            if (accepted is null)
            {
                settlement.DropUnreadable(mailbox, item);
            }
            else if (hold.IsStale)
            {
                (hold.IsStale, hold.IsReleased) = (false, false);
                state.Release(mailbox, item);
            }
            else
            {
                Settlement.EndHold(user, item);
                BeginAnew(user, mailbox, item, accepted, snapshot, hold.Told);
            }

            settlement.RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>The settings of a user changed, or (null) the machine's clock was set: what is held is planned anew.</summary>
    internal void Release(UserKey? key)
    {
        using (state.Enter())
        {
            foreach (var user in key is { } one ? state.Users.TryGetValue(one, out var known) ? [known] : [] : state.Users.Values.AsEnumerable())
            {
                foreach (var mailbox in user.WaitElsewhere > 0 ? user.Mailboxes : [])
                {
                    for (var item = mailbox.First; item is not null; item = item.Next)
                    {
                        item.Hold?.IsStale = item.Hold.IsReleased;
                        state.Release(mailbox, item);
                    }
                }
            }
        }
    }

    private void BeginAnew(UserState user, Mailbox mailbox, MailboxItem item, Event accepted, UserSnapshot snapshot, DateTimeOffset told)
    {
        state.Plan(accepted, user.Key, snapshot, user, state.Plans);
        var index = state.Plans.FindIndex(plan => ShardState.IsDevice(plan.DeviceId, mailbox.Device));
        if (index < 0)
        {
            settlement.Settle(mailbox, item, DeliveryState.Failed, PlanReasons.DeviceGone, isDeviceGone: true);
            return;
        }

        var plan = state.Plans[index];
        item.EndAs(plan);
        if (plan.IsSuppressed)
        {
            settlement.Settle(mailbox, item, plan.HeldEnd, plan.Reason);
        }
        else if (plan.Quiet is { } quiet)
        {
            start.Hold(user, mailbox, item, plan, quiet, told);
        }
        else
        {
            var sent = user.IsOnLive(item, mailbox.Device);
            start.BeginPush(user, mailbox, item, accepted, plan, sent, isBehind: plan.Socket is not null && !sent, before: null);
        }
    }
}
