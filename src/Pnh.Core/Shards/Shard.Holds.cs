using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Pushes that quiet hours keep back: held without their event, and planned anew when the hours end or the user's settings change.</summary>
internal sealed partial class Shard
{
    /// <summary>Plans a released push anew, for the devices, sessions and settings of now. Nothing when it ended meanwhile.</summary>
    /// <param name="released">The push.</param>
    /// <param name="accepted">Its event; null = it cannot be read any more.</param>
    /// <param name="snapshot">The user now.</param>
    internal void PlanAnew(in HeldPush released, Event? accepted, UserSnapshot snapshot)
    {
        var (_, key, device, item) = released;
        using (Enter())
        {
            if (!_state.Users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox || item.Hold is not { } hold || !ReferenceEquals(mailbox.Find(item.Id), item))
            {
                return;
            }

            if (accepted is null)
            {
                _settlement.DropUnreadable(mailbox, item);
            }
            else if (hold.IsStale)
            {
                (hold.IsStale, hold.IsReleased) = (false, false);
                _state.Release(mailbox, item);
            }
            else
            {
                Settlement.EndHold(user, item);
                BeginAnew(user, mailbox, item, accepted, snapshot, hold.Told);
            }

            _settlement.RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>The settings of a user changed, or (null) the machine's clock was set: what is held is planned anew.</summary>
    internal void ReleaseHolds(UserKey? key)
    {
        using (Enter())
        {
            foreach (var user in key is { } one ? _state.Users.TryGetValue(one, out var known) ? [known] : [] : _state.Users.Values.AsEnumerable())
            {
                foreach (var mailbox in user.WaitElsewhere > 0 ? user.Mailboxes : [])
                {
                    for (var item = mailbox.First; item is not null; item = item.Next)
                    {
                        item.Hold?.IsStale = item.Hold.IsReleased;
                        _state.Release(mailbox, item);
                    }
                }
            }
        }
    }

    private void BeginAnew(UserState user, Mailbox mailbox, MailboxItem item, Event accepted, UserSnapshot snapshot, DateTimeOffset told)
    {
        PlanFor(accepted, user.Key, snapshot, user, _plans);
        var index = _plans.FindIndex(plan => IsDevice(plan.DeviceId, mailbox.Device));
        if (index < 0)
        {
            _settlement.Settle(mailbox, item, DeliveryState.Failed, DeviceGone, isDeviceGone: true);
            return;
        }

        var plan = _plans[index];
        item.EndAs(plan);
        if (plan.IsSuppressed)
        {
            _settlement.Settle(mailbox, item, plan.HeldEnd, plan.Reason);
        }
        else if (plan.Quiet is { } quiet)
        {
            Hold(user, mailbox, item, plan, quiet, told);
        }
        else
        {
            var sent = user.IsOnLive(item, mailbox.Device);
            BeginPush(user, mailbox, item, accepted, plan, sent, isBehind: plan.Socket is not null && !sent, before: null);
        }
    }

    private void Hold(UserState user, Mailbox mailbox, MailboxItem item, in DevicePlan plan, QuietHold quiet, DateTimeOffset? told)
    {
        item.WaitsForHub = false;
        item.Hold = new PushHold(quiet, _state.Now + quiet.Left, _hub.Lanes.Get(plan.Channel!, plan.Account!, item.Class));
        user.WaitElsewhere++;
        if (told != quiet.Until)
        {
            _hub.Notes.HeldBack(mailbox, item, plan.Channel!.Name, quiet, _state.Now);
        }

        _settlement.ScheduleEnd(mailbox, item);
    }

    // Seen in front on another device: this one need not ring for it hours later.
    private void EndHoldElsewhere(Mailbox acknowledged, Mailbox other, MailboxItem held)
    {
        if (acknowledged.User.FindLive(acknowledged.Device) is { State: SessionState.Active })
        {
            _settlement.Settle(other, held, DeliveryState.Suppressed, PlanReasons.AckedElsewhere);
            _settlement.RemoveIfEmpty(other);
        }
    }
}
