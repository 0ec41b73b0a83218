using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Sessions;

/// <summary>
/// The sessions that are in one topic, because they joined or because their users are members. Joining and leaving cost the same however many there are. Thread-safe. Its own lock, and its places in an array of
/// its own: among 200,000 topics each object more is another miss of the cache, and a disconnect is little else.
/// </summary>
internal sealed class Topic(TopicKey key)
{
    private const byte TransientBit = 1 << (int)EventClass.Transient;
    private TopicPlace[] _places = new TopicPlace[1];
    private int _count;
    private Subscriber[]? _read;
    private Recipients? _transient;
    private TopicSessions? _sessions;
    private long _memberless = -1;

    internal TopicKey Key { get; } = key;

    /// <summary>
    /// True when the registry, whose <see cref="IDeviceStore.MembersVersion"/> this is, was found to have no members for it: topics that sessions join rarely have any, and among
    /// thousands of them each look into the registry costs 1 us of missed caches.
    /// </summary>
    internal bool IsMemberless(long version) => version >= 0 && Volatile.Read(ref _memberless) == version;

    /// <summary>The registry, asked after its version was read, has no members for it.</summary>
    internal void NoteMemberless(long version) => Volatile.Write(ref _memberless, version);

    /// <summary>The place; null = its last subscriber left in between and it is off the table.</summary>
    internal TopicPlace? TryAdd(Subscriber subscriber, TopicReasons reason, byte muted)
    {
        lock (this)
        {
            if (_count < 0)
            {
                return null;
            }

            if (_count == _places.Length)
            {
                Array.Resize(ref _places, _count * 2);
            }

            var place = new TopicPlace(this, subscriber, reason) { Index = _count, Muted = muted };
            _places[_count++] = place;
            Changed();
            return place;
        }
    }

    /// <summary>Why the session is there from now on, and the classes that the member has muted, a bit each.</summary>
    internal void Change(TopicPlace place, TopicReasons reasons, byte muted)
    {
        lock (this)
        {
            if (place.Reasons != reasons || place.Muted != muted)
            {
                (place.Reasons, place.Muted) = (reasons, muted);
                Changed();
            }
        }
    }

    /// <summary>True when that was the last: the topic is gone.</summary>
    internal bool Remove(TopicPlace place)
    {
        lock (this)
        {
            // The last takes the free place, so that nobody else moves.
            var last = _places[--_count];
            _places[_count] = null!;
            if (last != place)
            {
                _places[place.Index] = last;
                last.Index = place.Index;
            }

            Changed();
            if (_count > 0)
            {
                return false;
            }

            _count = -1; // nobody joins it any more
            return true;
        }
    }

    /// <summary>Those that joined, now; the array is made once per change and does not change.</summary>
    internal Subscriber[] Read()
    {
        lock (this)
        {
            return _read ??= Those(static place => (place.Reasons & TopicReasons.Joined) != 0);
        }
    }

    /// <summary>Whom a transient event goes to, now: all who are in the topic but for members who have muted it. Made once per change.</summary>
    internal Recipients ReadTransient()
    {
        lock (this)
        {
            return _transient ??= Recipients.Of(Those(static place => (place.Reasons & TopicReasons.Member) == 0 || (place.Muted & TransientBit) == 0), _count);
        }
    }

    /// <summary>Everybody in it, now, as a durable event meets them. Made once per change.</summary>
    internal TopicSessions ReadSessions()
    {
        lock (this)
        {
            return _sessions ??= new TopicSessions(_places.AsSpan(0, Math.Max(_count, 0)));
        }
    }

    /// <summary>Those whose users are members, now.</summary>
    internal Subscriber[] ReadMembers()
    {
        lock (this)
        {
            return Those(static place => (place.Reasons & TopicReasons.Member) != 0);
        }
    }

    private void Changed()
    {
        _read = null;
        _transient = null;
        _sessions = null;
    }

    private Subscriber[] Those(Func<TopicPlace, bool> isOne)
    {
        var those = new Subscriber[Math.Max(_count, 0)];
        var count = 0;
        for (var i = 0; i < _count; i++)
        {
            if (isOne(_places[i]))
            {
                those[count++] = _places[i].Subscriber;
            }
        }

        return count == those.Length ? those : those[..count];
    }
}

/// <summary>Whom an event of a topic goes to.</summary>
/// <param name="Subscribers">Their sessions; some may be over.</param>
/// <param name="Held">How many sessions it does not go to, since their users have muted it.</param>
internal sealed record Recipients(Subscriber[] Subscribers, int Held)
{
    public static Recipients None { get; } = new([], 0);

    /// <summary>These of so many; negative = the topic is gone.</summary>
    public static Recipients Of(Subscriber[] subscribers, int all) => new(subscribers, Math.Max(all, 0) - subscribers.Length);
}
