using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>
/// A slice of all users. Everything that happens to a user happens here, one thing at a time: dispatch, acks, provider answers, timers,
/// sessions. Nothing waits while the gate is held: sockets and lanes take or refuse at once.
/// </summary>
internal sealed partial class Shard
{
    private readonly Lock _gate = new();
    private readonly ShardState _state;
    private readonly Settlement _settlement;
    private readonly SessionReplay _replay;
    private readonly List<DevicePlan> _plans = [];
    private readonly List<WheelEntry> _due = [];
    private readonly ShardContext _hub;

    internal Shard(ShardContext hub)
    {
        _hub = hub;
        _state = new ShardState(this, hub);
        _settlement = new Settlement(_state);
        _replay = new SessionReplay(_state, _settlement);
        Mail = new RestingMail(_state, _settlement, _replay);
    }

    /// <summary>What of its users rests.</summary>
    internal RestingMail Mail { get; }

    /// <summary>How many timers are set.</summary>
    internal int Timers
    {
        get
        {
            using (Enter())
            {
                return _state.Wheel.Count;
            }
        }
    }

    /// <summary>How many users it keeps something of.</summary>
    internal int Users
    {
        get
        {
            using (Enter())
            {
                return _state.Users.Count;
            }
        }
    }

    /// <summary>
    /// Plans the event for one user and starts every delivery of the plan. <paramref name="progress"/> is null for a transient one.
    /// Of a topic event <paramref name="begun"/> says which devices had it as guests; null = none. False when the user has neither a device nor a session for it.
    /// </summary>
    internal bool Dispatch(EventProgress? progress, Event accepted, UserKey key, UserSnapshot snapshot, TopicSessions? begun = null)
    {
        using (Enter())
        {
            _state.Users.TryGetValue(key, out var user);
            PlanFor(accepted, key, snapshot, user, _plans);
            foreach (ref readonly var plan in CollectionsMarshal.AsSpan(_plans))
            {
                if (begun?.HasGuest(key.User, plan.DeviceId) != true)
                {
                    Start(progress, accepted, key, user, plan);
                }
            }

            if (progress is not null)
            {
                progress.Planned(_plans.Count);
                RemoveIfIdle(key, user);
            }

            return _plans.Count > 0;
        }
    }

    /// <summary>Starts the delivery to a session that joined the event's topic; nothing when it is gone.</summary>
    internal void DispatchJoined(EventProgress progress, Event accepted, ShardSubscriber joined)
    {
        using (Enter())
        {
            if (joined.Session is { } session)
            {
                Start(progress, accepted, joined.User.Key, joined.User, Planner.PlanJoined(accepted, session));
                progress.Planned(1);
            }
        }
    }

    /// <summary>Plans without sending.</summary>
    internal void Explain(Event accepted, UserKey key, UserSnapshot snapshot, ICollection<DevicePlan> plans)
    {
        using (Enter())
        {
            _state.Users.TryGetValue(key, out var user);
            PlanFor(accepted, key, snapshot, user, plans);
        }
    }

    /// <summary>Does what is due on the wheel; true = a timer is still set.</summary>
    internal bool Advance()
    {
        using (Enter())
        {
            _due.Clear();
            _state.Wheel.Advance(_due);
            foreach (var entry in _due)
            {
                if (entry is Mailbox mailbox)
                {
                    _settlement.EndDue(mailbox);
                    _replay.GoOn(mailbox.User, mailbox);
                    _settlement.RemoveIfEmpty(mailbox);
                }
                else
                {
                    SendPush((PendingPush)entry);
                }
            }

            return _state.Wheel.Count > 0;
        }
    }

    /// <summary>Takes the gate and reads the clock, once for all that happens under it: a message asked for the time twelve times, 27 ns each.</summary>
    internal Lock.Scope Enter()
    {
        var scope = _gate.EnterScope();
        _state.Now = _hub.Time.GetUtcNow();
        return scope;
    }

    private void Start(EventProgress? progress, Event accepted, UserKey key, UserState? user, in DevicePlan plan)
    {
        if (plan.IsSuppressed)
        {
            Suppress(progress, accepted, key, plan);
        }
        else if (progress is null)
        {
            _hub.SendTransient(accepted, plan.Socket!);
        }
        else
        {
            Begin(progress, accepted, user is { Sessions.Count: > 0 } ? user : _state.GetOrAddUser(key), plan, before: null);
        }
    }

    private void Suppress(EventProgress? progress, Event accepted, UserKey key, in DevicePlan plan)
    {
        var state = plan.HeldEnd;
        _hub.Counted(state, plan.Reason, ChannelNames.None, accepted.Class);
        if (progress is not null)
        {
            _settlement.Book(progress, key, plan.DeviceId, state, plan.Reason);
        }
    }

    // Somebody with a session stays while the gate is held: no need to look again.
    private void RemoveIfIdle(UserKey key, UserState? user)
    {
        if (user is not { Sessions.Count: > 0 })
        {
            _state.RemoveIfIdle(key);
        }
    }

    // Quiet hours are on the user's wall: the hub's own clock may be apart from the machine's.
    private void PlanFor(Event accepted, UserKey key, UserSnapshot snapshot, UserState? user, ICollection<DevicePlan> plans)
    {
        plans.Clear();
        DateTimeOffset? wall = snapshot.Settings.MayBeQuiet ? SteadyClock.WallOf(_hub.Time).GetUtcNow() : null;
        _hub.Planner.Plan(accepted, key.User, snapshot, user?.Sessions ?? SessionList.None, _state.Now, plans, wall);
    }
}
