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
    // How long the deliveries of a closed, unregistered session wait for it to come back.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan FullLaneDelay = TimeSpan.FromSeconds(1);
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
                if (delivery.OnDue == WheelAction.SendPush)
                {
                    SendPush(delivery);
                }
                else
                {
                    Expire(delivery);
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
                    RetryLater(delivery, result.RetryAfter);
                    break;
                case DeliveryStatus.Expired:
                    Expire(delivery);
                    break;
                default:
                    Settle(delivery, DeliveryState.Failed, result.Reason ?? result.Status.Label());
                    break;
            }
        }
    }

    private void Begin(EventProgress progress, UserKey key, UserState user, in DevicePlan plan)
    {
        progress.Add();
        var delivery = new Delivery
        {
            Event = progress.Event,
            User = key,
            Device = plan.Device,
            Address = plan.Address,
            Progress = progress,
            PushHeld = plan.PushHeld,
            Push = plan.Push,
            Lane = plan.Channel is null ? null : _hub.Lanes.Get(plan.Channel, plan.Account!, progress.Event.Class),
        };
        user.Pending.Add(delivery);
        var sent = plan.Socket is not null && SendFrame(delivery, plan.Socket);
        if (plan.Push == PushTiming.Now || (plan.Push == PushTiming.UnlessAcked && !sent))
        {
            SendPush(delivery);
        }
        else if (plan.Push != PushTiming.Never)
        {
            Schedule(delivery, WheelAction.SendPush, plan.PushDelay);
        }
        else if (!sent && plan.PushHeld == PlanReasons.NoProvider)
        {
            Settle(delivery, DeliveryState.Failed, PlanReasons.NoProvider);
        }
        else
        {
            ScheduleExpiry(delivery);
        }
    }

    private void SendTransient(Event accepted, in DevicePlan plan)
    {
        var session = plan.Socket!;
        if (session.Link.TrySend(session.Key.Session, accepted))
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.Sent);
            _hub.Metrics.RequestServed();
        }
        else
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.NotConnected);
        }
    }

    private bool SendFrame(Delivery delivery, LiveSession session)
    {
        if (!session.Link.TrySend(session.Key.Session, delivery.Event))
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, delivery.Event.Class, DeliveryStatus.NotConnected);
            return false;
        }

        delivery.Session = session;
        delivery.FrameTimestamp = _hub.Time.GetTimestamp();
        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, delivery.Event.Class, DeliveryStatus.Sent);
        return true;
    }

    private void SendPush(Delivery delivery)
    {
        if (IsExpired(delivery))
        {
            Expire(delivery);
        }
        else if (!delivery.Lane!.TryEnqueue(delivery))
        {
            // After a 202 nothing is shed, only delayed.
            Schedule(delivery, WheelAction.SendPush, FullLaneDelay);
        }
        else
        {
            delivery.Attempts++;
        }
    }

    private void RetryLater(Delivery delivery, TimeSpan? retryAfter)
    {
        var wait = retryAfter ?? Backoff(delivery.Attempts);
        if (_hub.Time.GetUtcNow() + wait < delivery.Event.ExpiresAt)
        {
            Schedule(delivery, WheelAction.SendPush, wait);
        }
        else
        {
            ScheduleExpiry(delivery);
        }
    }

    // 1, 2, 4 … 64 s, each spread over half to one and a half of it, so that a healed provider is not met by everybody at once.
    private static TimeSpan Backoff(int attempts) =>
        TimeSpan.FromSeconds((1 << Math.Min(attempts, 6)) * (0.5 + Random.Shared.NextDouble()));

    private void Expire(Delivery delivery) => Settle(
        delivery,
        delivery.PushHeld is null ? DeliveryState.Expired : DeliveryState.Suppressed,
        delivery.PushHeld);

    private void Schedule(Delivery delivery, WheelAction action, TimeSpan delay)
    {
        delivery.OnDue = action;
        _wheel.Schedule(delivery, delay);
    }

    private void ScheduleExpiry(Delivery delivery) =>
        Schedule(delivery, WheelAction.Expire, delivery.Event.ExpiresAt - _hub.Time.GetUtcNow());

    // A TTL of 0 means now or never: one attempt, at once, and none later.
    private bool IsExpired(Delivery delivery) => delivery.Event.ExpiresAt == delivery.Event.AcceptedAt
        ? delivery.Attempts > 0
        : delivery.Event.ExpiresAt <= _hub.Time.GetUtcNow();

    private void Suppress(Event accepted, UserKey key, in DevicePlan plan)
    {
        _hub.Metrics.DeliveryCounted(ChannelNames.None, accepted.Class, DeliveryStatus.Suppressed);
        if (accepted.IsDurable)
        {
            _hub.Journal.Settle(new(accepted, key.User, plan.Device.Id, DeliveryState.Suppressed.Label(), plan.Reason, _hub.Time.GetUtcNow()));
        }
    }

    private void Settle(Delivery delivery, DeliveryState state, string? reason)
    {
        if (delivery.IsSettled)
        {
            return;
        }

        delivery.State = state;
        _wheel.Cancel(delivery);
        if (_users.TryGetValue(delivery.User, out var user))
        {
            user.Pending.Remove(delivery);
            RemoveIfIdle(delivery.User, user);
        }

        _hub.Settled(delivery, state, reason);
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
