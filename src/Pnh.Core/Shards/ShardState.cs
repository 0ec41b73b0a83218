using System.Diagnostics;
using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What the parts of a shard share. Touched under its gate only.</summary>
internal sealed class ShardState
{
    private readonly Lock _gate = new();

    internal ShardState(Shard shard, ShardContext hub)
    {
        Shard = shard;
        Hub = hub;
        Wheel = new TimingWheel(hub.Time, hub.Ticker.Wake);
    }

    internal Shard Shard { get; }

    internal ShardContext Hub { get; }

    internal Dictionary<UserKey, UserState> Users { get; } = [];

    internal TimingWheel Wheel { get; }

    /// <summary>What ended unacknowledged, to be told.</summary>
    internal MissedTable Missed { get; } = new(ShardContext.MissedDevices);

    /// <summary>What may leave memory soon.</summary>
    internal List<(Mailbox Mailbox, MailboxItem Item)> Resting { get; } = [];

    // What rests by the journal's word, and has left memory for good: a read that began before does not know that. Of this second, and of the one before.
    private HashSet<(UserKey User, string Device, string Event)> _ended = [];
    private HashSet<(UserKey User, string Device, string Event)> _endedBefore = [];

    /// <summary>When the gate was taken: all that happens under it happens at one time.</summary>
    internal DateTimeOffset Now
    {
        get
        {
            Debug.Assert(_gate.IsHeldByCurrentThread, "A part of a shard is used without its gate.");
            return field;
        }
        private set;
    }

    /// <summary>For one user's plans; what is in it is of the last one.</summary>
    internal List<DevicePlan> Plans { get; } = [];

    internal bool IsExpired(Event accepted) => accepted.ExpiresAt <= Now;

    /// <summary>A delivery that rested is over.</summary>
    internal void Ended(UserKey user, string device, string id) => _ended.Add((user, device, id));

    /// <summary>True when that was said a second ago, or less.</summary>
    internal bool HasEnded(UserKey user, string device, string id) => _ended.Contains((user, device, id)) || _endedBefore.Contains((user, device, id));

    /// <summary>A second has passed, and the journal has written what it was told before.</summary>
    internal void ForgetEnded()
    {
        (_ended, _endedBefore) = (_endedBefore, _ended);
        _ended.Clear();
    }

    /// <summary>Takes the gate and reads the clock, once for all that happens under it: a message asked for the time twelve times, 27 ns each.</summary>
    internal Lock.Scope Enter()
    {
        var scope = _gate.EnterScope();
        Now = Hub.Time.GetUtcNow();
        return scope;
    }

    internal UserState GetOrAddUser(UserKey key)
    {
        ref var user = ref CollectionsMarshal.GetValueRefOrAddDefault(Users, key, out _);
        return user ??= new UserState(key);
    }

    internal void RemoveIfIdle(UserKey key)
    {
        if (Users.TryGetValue(key, out var user) && user.IsIdle)
        {
            Users.Remove(key);
        }
    }

    /// <summary>Plans the event for the user. Quiet hours are on the user's wall: the hub's own clock may be apart from the machine's.</summary>
    internal void Plan(Event accepted, UserKey key, UserSnapshot snapshot, UserState? user, ICollection<DevicePlan> plans)
    {
        plans.Clear();
        DateTimeOffset? wall = snapshot.Settings.MayBeQuiet ? SteadyClock.WallOf(Hub.Time).GetUtcNow() : null;
        Hub.Planner.Plan(accepted, key.User, snapshot, user?.Sessions ?? SessionList.None, Now, plans, wall);
    }

    /// <summary>The place of the session among its user's; false = it is not the device's any more.</summary>
    internal bool TryFind(SessionKey session, out UserState user, out int index)
    {
        index = Users.TryGetValue(KeyOf(session), out user!) ? user.FindSession(session.Device) : -1;
        return index >= 0 && user.Sessions[index].Key == session;
    }

    internal static UserKey KeyOf(SessionKey session) => new(session.App, session.User);

    internal static bool IsDevice(string device, string? other) => string.Equals(device, other, StringComparison.Ordinal);

    /// <summary>The mailbox that the push is of; null = it is gone with all that was in it.</summary>
    internal Mailbox? FindMailbox(PendingPush push) => Users.TryGetValue(push.User, out var user) ? user.FindMailbox(push.Device.Id) : null;

    /// <summary>A held push's time has come: its event, its user and a place in its lane are waited for off the gate.</summary>
    internal void Release(Mailbox mailbox, MailboxItem item)
    {
        if (item.Hold is { IsReleased: false } hold)
        {
            hold.IsReleased = true;
            Hub.Release(new HeldPush(Shard, mailbox.User.Key, mailbox.Device, item), hold.Lane);
        }
    }
}

/// <summary>A subscriber as its user's shard made it: the way from a topic's session back to the shard.</summary>
internal sealed class ShardSubscriber(SessionKey key, UserState user, Shard shard) : Subscriber(key)
{
    /// <summary>Whose it is; stays the shard's state of that user while the session is there. For the shard alone.</summary>
    internal UserState User { get; } = user;

    /// <summary>Where that user lives.</summary>
    internal Shard Shard { get; } = shard;
}
