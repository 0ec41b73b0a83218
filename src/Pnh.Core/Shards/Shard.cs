using System.Runtime.InteropServices;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>
/// A slice of all users. Everything that happens to a user happens here, one thing at a time: dispatch, acks, provider answers, timers,
/// sessions. Nothing waits while the gate is held: sockets and lanes take or refuse at once.
/// </summary>
internal sealed partial class Shard
{
    private readonly Lock _gate = new();
    private readonly Dictionary<UserKey, UserState> _users = [];
    private readonly List<DevicePlan> _plans = [];
    private readonly List<WheelEntry> _due = [];
    private readonly TimingWheel _wheel;
    private readonly ShardContext _hub;

    internal Shard(ShardContext hub)
    {
        _hub = hub;
        _wheel = new TimingWheel(hub.Time);
    }

    /// <summary>
    /// Plans the event for one user and starts every delivery of the plan. <paramref name="settled"/> holds what ended before a restart.
    /// Returns how many devices the plan has.
    /// </summary>
    internal int Dispatch(EventProgress progress, UserKey key, UserSnapshot snapshot, IReadOnlySet<(string User, string Device)>? settled)
    {
        var accepted = progress.Event;
        lock (_gate)
        {
            _users.TryGetValue(key, out var user);
            _plans.Clear();
            _hub.Planner.Plan(accepted, key.User, snapshot, user?.Sessions ?? [], _hub.Time.GetUtcNow(), _plans);
            foreach (var plan in _plans)
            {
                if (settled?.Contains((key.User, plan.Device.Id)) == true)
                {
                    continue;
                }

                if (plan.IsSuppressed)
                {
                    Suppress(accepted, key, plan);
                }
                else if (!accepted.IsDurable)
                {
                    SendTransient(accepted, plan);
                }
                else
                {
                    user = GetOrAddUser(key);
                    Begin(progress, key, user, plan);
                }
            }

            RemoveIfIdle(key, user);
            return _plans.Count;
        }
    }

    /// <summary>How many deliveries wait for their time.</summary>
    internal int Timers
    {
        get
        {
            lock (_gate)
            {
                return _wheel.Count;
            }
        }
    }

    /// <summary>Plans without sending.</summary>
    internal void Explain(Event accepted, UserKey key, UserSnapshot snapshot, ICollection<DevicePlan> plans)
    {
        lock (_gate)
        {
            _users.TryGetValue(key, out var user);
            _hub.Planner.Plan(accepted, key.User, snapshot, user?.Sessions ?? [], _hub.Time.GetUtcNow(), plans);
        }
    }

    /// <summary>Does what is due on the wheel.</summary>
    internal void Advance()
    {
        lock (_gate)
        {
            _due.Clear();
            _wheel.Advance(_due);
            foreach (var entry in _due)
            {
                var delivery = (Delivery)entry;
                if (delivery.IsSettled)
                {
                    continue;
                }

                if (delivery.OnDue == WheelAction.SendPush)
                {
                    SendPush(delivery);
                }
                else
                {
                    End(delivery);
                }
            }
        }
    }

    /// <summary>A lane's answer.</summary>
    internal void Complete(Delivery delivery, in DeliveryResult result)
    {
        lock (_gate)
        {
            if (delivery.IsSettled)
            {
                return;
            }

            switch (result.Status)
            {
                case DeliveryStatus.Accepted:
                    Settle(delivery, DeliveryState.Accepted, result.ProviderId);
                    break;
                case DeliveryStatus.Throttled or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected:
                    RetryLater(delivery, result);
                    break;
                case DeliveryStatus.Expired:
                    End(delivery);
                    break;
                default:
                    Refuse(delivery, result.Reason ?? result.Status.Label());
                    break;
            }
        }
    }

    /// <summary>The device has no such address any more. Without the device itself, nobody can come for the rest.</summary>
    internal void AddressGone(Delivery delivery, bool isDeviceGone)
    {
        lock (_gate)
        {
            if (!delivery.IsSettled)
            {
                Refuse(delivery, AddressGoneReason, isDeviceGone);
            }
        }
    }

    // Looked up for every device: an earlier delivery that ended at once may have removed an idle user.
    private UserState GetOrAddUser(UserKey key)
    {
        ref var user = ref CollectionsMarshal.GetValueRefOrAddDefault(_users, key, out _);
        return user ??= new UserState();
    }

    private void RemoveIfIdle(UserKey key, UserState? user)
    {
        if (user?.IsIdle == true)
        {
            _users.Remove(key);
        }
    }
}
