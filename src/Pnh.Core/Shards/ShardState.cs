using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What the parts of a shard share. Touched under its gate only.</summary>
internal sealed class ShardState
{
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
    internal DateTimeOffset Now { get; set; }

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
