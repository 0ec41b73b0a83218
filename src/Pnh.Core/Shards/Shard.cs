using System.Runtime.InteropServices;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Journal;
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

    /// <summary>How many timers are set.</summary>
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

    /// <summary>How many users it keeps something of.</summary>
    internal int Users
    {
        get
        {
            lock (_gate)
            {
                return _users.Count;
            }
        }
    }

    /// <summary>
    /// Plans the event for one user and starts every delivery of the plan. <paramref name="past"/> says what a former run began; null = a new event.
    /// Returns how many devices the plan has.
    /// </summary>
    internal int Dispatch(EventProgress progress, Event accepted, UserKey key, UserSnapshot snapshot, PastDispatch? past = null)
    {
        lock (_gate)
        {
            _users.TryGetValue(key, out var user);
            _plans.Clear();
            _hub.Planner.Plan(accepted, key.User, snapshot, user?.Sessions ?? [], _hub.Time.GetUtcNow(), _plans);
            foreach (var plan in _plans)
            {
                Start(progress, accepted, key, plan, past);
            }

            EndLost(progress, key, past, "device-gone");
            RemoveIfIdle(key);
            progress.Planned(_plans.Count);
            return _plans.Count;
        }
    }

    /// <summary>Ends what a former run began for the user and no plan asks for any more.</summary>
    internal void EndPast(EventProgress progress, UserKey key, PastDispatch past, string reason)
    {
        lock (_gate)
        {
            EndLost(progress, key, past, reason);
        }
    }

    /// <summary>Starts the delivery to a session that joined the event's topic; nothing when it is gone.</summary>
    internal void DispatchJoined(EventProgress progress, Event accepted, Sessions.SessionKey joined)
    {
        lock (_gate)
        {
            if (TryFind(joined, out var user, out var index))
            {
                Start(progress, accepted, user.Key, Planner.PlanJoined(accepted, user.Sessions[index]), past: null);
                progress.Planned(1);
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
                if (entry is Mailbox mailbox)
                {
                    EndDue(mailbox);
                }
                else
                {
                    SendPush((Delivery)entry);
                }
            }
        }
    }

    private void Start(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan, PastDispatch? past)
    {
        var before = past?.Find(key.User, plan.Device.Id);
        if (past is not null && past.Skips(key.User, before))
        {
            return;
        }

        if (past?.IsWithdrawn(key.User) == true)
        {
            if (before is { IsSettled: false })
            {
                Book(progress, key, plan.Device.Id, DeliveryState.Withdrawn, null);
            }
        }
        else if (before is { IsSettled: true })
        {
            Keep(progress, accepted, key, plan, before);
        }
        else if (plan.IsSuppressed)
        {
            Suppress(progress, accepted, key, plan);
        }
        else if (!accepted.IsDurable)
        {
            SendTransient(accepted, plan);
        }
        else
        {
            Begin(progress, accepted, key, plan, before);
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

    private void Suppress(EventProgress progress, Event accepted, UserKey key, in DevicePlan plan)
    {
        // No way at all for want of a provider is a failure, not somebody's wish.
        var state = plan.PushHeld == PlanReasons.NoProvider ? DeliveryState.Failed : DeliveryState.Suppressed;
        _hub.Counted(state, plan.Reason, ChannelNames.None, accepted.Class);
        if (accepted.IsDurable)
        {
            Book(progress, key, plan.Device.Id, state, plan.Reason);
        }
    }

    // Deliveries of a former run whose device is gone since: they have to end like any other.
    private void EndLost(EventProgress progress, UserKey key, PastDispatch? past, string reason)
    {
        var (state, why) = past?.IsWithdrawn(key.User) == true ? (DeliveryState.Withdrawn, null) : (DeliveryState.Failed, reason);
        past?.EndLost(key.User, device => Book(progress, key, device, state, why));
    }

    // Planned and at its end at once.
    private void Book(EventProgress progress, UserKey key, string device, DeliveryState state, string? reason)
    {
        _hub.Metrics.Ledger.Planned(progress.App, progress.Class);
        _hub.Metrics.Ledger.Settled(progress.App, progress.Class, state);
        _hub.Journal.Note(_hub.Milestone(progress, MilestoneKind.Settled, key, device) with { State = state.Label(), Reason = reason });
    }

    private UserState GetOrAddUser(UserKey key)
    {
        ref var user = ref CollectionsMarshal.GetValueRefOrAddDefault(_users, key, out _);
        return user ??= new UserState(key);
    }

    private void RemoveIfIdle(UserKey key)
    {
        if (_users.TryGetValue(key, out var user) && user.IsIdle)
        {
            _users.Remove(key);
        }
    }
}
