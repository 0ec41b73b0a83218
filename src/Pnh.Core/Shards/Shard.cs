using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>
/// A slice of all users. Everything that happens to a user happens here, one thing at a time: dispatch, acks, provider answers, timers,
/// sessions. Nothing waits while the gate is held: sockets and lanes take or refuse at once. Its parts share one state and one gate; a part
/// calls those that were made before it.
/// </summary>
internal sealed class Shard
{
    private readonly ShardState _state;
    private readonly Settlement _settlement;
    private readonly SessionReplay _replay;
    private readonly DeliveryStart _start;
    private readonly List<WheelEntry> _due = [];

    internal Shard(ShardContext hub)
    {
        _state = new ShardState(this, hub);
        _settlement = new Settlement(_state);
        _replay = new SessionReplay(_state, _settlement);
        Pushes = new PushSchedule(_state, _settlement);
        Mail = new RestingMail(_state, _settlement, _replay);
        Held = new HeldFrames(_state, _replay);
        _start = new DeliveryStart(_state, _settlement, _replay, Mail, Held, Pushes);
        Holds = new HoldRelease(_state, _settlement, _start);
        Shares = new RestoredShares(_state, _settlement, _replay, Mail, Held, _start);
        Withdrawals = new ShardWithdrawals(_state, _settlement, _replay, Mail, Pushes);
        Frames = new DeviceFrames(_state, _settlement, _replay, Pushes);
        Inbox = new ShardInbox(_state, _settlement, _replay);
        Sessions = new SessionBook(_state, _settlement, _replay, Mail, Held);
    }

    /// <summary>The sessions of its users.</summary>
    internal SessionBook Sessions { get; }

    /// <summary>What they say of their frames.</summary>
    internal DeviceFrames Frames { get; }

    /// <summary>What inboxes show.</summary>
    internal ShardInbox Inbox { get; }

    /// <summary>What its users' events are pushed by.</summary>
    internal PushSchedule Pushes { get; }

    /// <summary>Pushes that quiet hours keep back.</summary>
    internal HoldRelease Holds { get; }

    /// <summary>What is taken back.</summary>
    internal ShardWithdrawals Withdrawals { get; }

    /// <summary>What of its users rests.</summary>
    internal RestingMail Mail { get; }

    /// <summary>At a start: what the previous process began.</summary>
    internal RestoredShares Shares { get; }

    /// <summary>At a start: what sessions of other nodes hold.</summary>
    internal HeldFrames Held { get; }

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
            _state.Plan(accepted, key, snapshot, user, _state.Plans);
            foreach (ref readonly var plan in CollectionsMarshal.AsSpan(_state.Plans))
            {
                if (begun?.HasGuest(key.User, plan.DeviceId) != true)
                {
                    _start.Start(progress, accepted, key, user, plan);
                }
            }

            if (progress is not null)
            {
                progress.Planned(_state.Plans.Count);
                RemoveIfIdle(key, user);
            }

            return _state.Plans.Count > 0;
        }
    }

    /// <summary>Starts the delivery to a session that joined the event's topic; nothing when it is gone.</summary>
    internal void DispatchJoined(EventProgress progress, Event accepted, ShardSubscriber joined)
    {
        using (Enter())
        {
            if (joined.Session is { } session)
            {
                _start.Start(progress, accepted, joined.User.Key, joined.User, Planner.PlanJoined(accepted, session));
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
            _state.Plan(accepted, key, snapshot, user, plans);
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
                    Pushes.Send((PendingPush)entry);
                }
            }

            return _state.Wheel.Count > 0;
        }
    }

    /// <summary>A lane's answer.</summary>
    internal void Complete(PendingPush push, in DeliveryResult result)
    {
        if (push.Withdrawal is null)
        {
            Pushes.Complete(push, result);
        }
        else
        {
            Withdrawals.Complete(push, result);
        }
    }

    /// <summary>The device has no such address any more. Without the device itself, nobody can come for the rest.</summary>
    internal void AddressGone(PendingPush push, bool isDeviceGone)
    {
        if (push.Withdrawal is null)
        {
            Pushes.AddressGone(push, isDeviceGone);
        }
        else
        {
            Withdrawals.AddressGone(push);
        }
    }

    /// <summary>Deliveries without a terminal state, counted one by one: the ledger's in-flight must be the same.</summary>
    internal int CountInFlight()
    {
        using (Enter())
        {
            return _state.Users.Values.Sum(static user => user.Mailboxes.Sum(static mailbox => mailbox.CountPending()));
        }
    }

    /// <summary>Does this under the gate, if anything is kept of the user.</summary>
    internal void Under(UserKey key, Action<UserState> action)
    {
        using (Enter())
        {
            if (_state.Users.TryGetValue(key, out var user))
            {
                action(user);
            }
        }
    }

    /// <summary>Does this under the gate, though nothing may be kept of the user any more.</summary>
    internal void Under(UserState user, Action<UserState> action)
    {
        using (Enter())
        {
            action(user);
        }
    }

    /// <summary>Takes the gate: <see cref="ShardState.Enter"/>.</summary>
    internal Lock.Scope Enter() => _state.Enter();

    // Somebody with a session stays while the gate is held: no need to look again.
    private void RemoveIfIdle(UserKey key, UserState? user)
    {
        if (user is not { Sessions.Count: > 0 })
        {
            _state.RemoveIfIdle(key);
        }
    }
}
