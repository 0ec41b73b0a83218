using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Taking an event back from one user: what waits stops, what was shown is cleared over the channel that showed it. Members take the shard's gate.</summary>
internal sealed class ShardWithdrawals(ShardState state, Settlement settlement, SessionReplay replay, RestingMail mail, PushSchedule pushes)
{
    // A provider that is down gets a clear a few times; the screen is stale then anyway.
    private const int ClearAttempts = 5;
    internal static readonly TimeSpan ClearWithin = TimeSpan.FromHours(1);

    private readonly ShardContext _hub = state.Hub;

    /// <summary>True while a push of the event for the user waits or is under way.</summary>
    internal bool IsPushing(UserKey key, string id)
    {
        using (state.Enter())
        {
            foreach (var mailbox in state.Users.TryGetValue(key, out var user) ? user.Mailboxes : [])
            {
                if (mailbox.Find(id)?.Push is not null)
                {
                    return true;
                }
            }

            return false;
        }
    }

    /// <summary>
    /// Ends what waits of the event for the user, but where it was answered, and what rests. Adds where its frame went and where a push is under way. The event is kept open
    /// by <paramref name="held"/> from the first that ends on.
    /// </summary>
    internal void Stop(
        UserKey key, Withdrawal withdrawal, string? exceptDevice, IEnumerable<RestingDelivery> resting, List<(string User, string Device, string Channel)> shown, ref EventProgress? held)
    {
        using (state.Enter())
        {
            foreach (var each in resting)
            {
                mail.End(each, DeliveryState.Withdrawn, withdrawal.Reason);
            }

            state.Users.TryGetValue(key, out var user);
            foreach (var mailbox in user?.Mailboxes ?? [])
            {
                if (mailbox.IsReading)
                {
                    (mailbox.TakenBack ??= new HashSet<string>(StringComparer.Ordinal)).Add(withdrawal.Event);
                }

                if (!ShardState.IsDevice(mailbox.Device, exceptDevice) && mailbox.Find(withdrawal.Event) is { } item)
                {
                    if (item.Session is not null)
                    {
                        shown.Add((key.User, mailbox.Device, ChannelNames.WebSocket));
                    }

                    if (item.Push is { IsInLane: true } push)
                    {
                        shown.Add((key.User, mailbox.Device, push.Lane.Channel));
                    }

                    if (held is null)
                    {
                        held = item.Progress;
                        held.Add();
                    }

                    settlement.Drop(mailbox, item, DeliveryState.Withdrawn, withdrawal.Reason);
                    replay.GoOn(user!, mailbox);
                    settlement.RemoveIfEmpty(mailbox);
                }
            }
        }
    }

    /// <summary>Clears the event from the user's screens, but where it was answered, over the channel that showed it. <paramref name="shown"/>: where it may be.</summary>
    internal void Clear(
        UserKey key, Event accepted, Withdrawal withdrawal, Dictionary<string, ShownEvent.Shown> shown, UserSnapshot snapshot, string? exceptDevice,
        EventProgress? held)
    {
        using (state.Enter())
        {
            foreach (var (device, where) in shown)
            {
                if (!ShardState.IsDevice(device, exceptDevice))
                {
                    Clear(key, accepted, withdrawal, device, where, snapshot, held);
                }
            }
        }
    }

    /// <summary>Notes that nothing could clear the pushes of it, and why.</summary>
    internal void GiveUp(UserKey key, Event accepted, Dictionary<string, ShownEvent.Shown> shown, string? exceptDevice, string reason)
    {
        using (state.Enter())
        {
            foreach (var (device, where) in shown)
            {
                if (where.PushedOver is { } channel && !ShardState.IsDevice(device, exceptDevice))
                {
                    _hub.Notes.Cleared(accepted, key, device, channel, reason, null, state.Now);
                }
            }
        }
    }

    private void Clear(
        UserKey key, Event accepted, Withdrawal withdrawal, string device, in ShownEvent.Shown where, UserSnapshot snapshot, EventProgress? held)
    {
        if (where.IsFramed && state.Users.TryGetValue(key, out var user) && user.FindSession(device) is >= 0 and var index)
        {
            // A detached session too: what it will replay must not bring it back.
            var session = user.Sessions[index];
            if (session.Link.TryWithdraw(session.Key.Session, withdrawal))
            {
                _hub.Notes.Cleared(accepted, key, device, ChannelNames.WebSocket, null, null, state.Now);
            }
        }

        if (where.PushedOver is { } channel && snapshot.Find(device) is { } pushed
            && _hub.Planner.FindClear(accepted, pushed, channel) is var (via, address, account))
        {
            held?.Add();
            pushes.Send(new PendingPush
            {
                Shard = state.Shard,
                Holds = held,
                Event = _hub.ForProviders(accepted),
                Withdrawal = _hub.ForProviders(withdrawal),
                User = key,
                Device = pushed,
                Address = address,
                Push = PushTiming.Now,
                Lane = _hub.Lanes.Get(via, account, accepted.Class),
            });
        }
    }

    /// <summary>A lane's answer.</summary>
    internal void Complete(PendingPush clear, in DeliveryResult result)
    {
        using (state.Enter())
        {
            clear.IsInLane = false;
            clear.Asked += result.IsUnasked ? 0 : 1;
            var isWorthIt = result.Status is DeliveryStatus.Throttled or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected
                || result is { Status: DeliveryStatus.Misconfigured, RetryAfter: not null };
            if (isWorthIt && clear.Asked < ClearAttempts)
            {
                var rest = clear.Withdrawal!.At + ClearWithin - state.Now;
                var wait = RetryWait.After(clear, result, rest);
                if (wait <= rest)
                {
                    state.Wheel.Schedule(clear, wait);
                    return;
                }
            }

            var fault = result.Status == DeliveryStatus.Accepted ? null : result.Reason ?? result.Status.Label();
            _hub.Notes.Cleared(clear.Event, clear.User, clear.Device.Id, clear.Lane.Channel, fault, result.ProviderId, state.Now);
            Release(clear);
        }
    }

    /// <summary>The device has no such address any more.</summary>
    internal void AddressGone(PendingPush clear)
    {
        using (state.Enter())
        {
            clear.IsInLane = false;
            _hub.Notes.Cleared(clear.Event, clear.User, clear.Device.Id, clear.Lane.Channel, PushSchedule.AddressGoneReason, null, state.Now);
            Release(clear);
        }
    }

    // Noted before: an event that is finished is not looked at again.
    private void Release(PendingPush clear)
    {
        if (clear.Holds is { } held)
        {
            _hub.Close(held);
        }
    }
}
