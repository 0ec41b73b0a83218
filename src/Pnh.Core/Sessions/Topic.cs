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
    internal TopicPlace? TryAdd(Subscriber subscriber, TopicReasons reason)
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

            var place = new TopicPlace(this, subscriber, reason) { Index = _count };
            _places[_count++] = place;
            Changed();
            return place;
        }
    }

    /// <summary>One reason more, or one less; what is left of them.</summary>
    internal TopicReasons Change(TopicPlace place, TopicReasons reason, bool isAdded)
    {
        lock (this)
        {
            var reasons = isAdded ? place.Reasons | reason : place.Reasons & ~reason;
            if (reasons != place.Reasons)
            {
                place.Reasons = reasons;
                Changed();
            }

            return reasons;
        }
    }

    /// <summary>The classes that the member has muted, a bit each.</summary>
    internal void Mute(TopicPlace place, byte classes)
    {
        lock (this)
        {
            if (place.Muted != classes)
            {
                place.Muted = classes;
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
            return _read ??= Those(TopicReasons.Joined);
        }
    }

    /// <summary>Whom a transient event goes to, now: all who are in the topic but for members who have muted it. Made once per change.</summary>
    internal Recipients ReadTransient()
    {
        lock (this)
        {
            return _transient ??= MakeTransient();
        }
    }

    /// <summary>Those whose users are members, now.</summary>
    internal Subscriber[] ReadMembers()
    {
        lock (this)
        {
            return Those(TopicReasons.Member);
        }
    }

    private void Changed()
    {
        _read = null;
        _transient = null;
    }

    private Recipients MakeTransient()
    {
        var those = new List<Subscriber>(Math.Max(_count, 0));
        for (var i = 0; i < _count; i++)
        {
            if ((_places[i].Reasons & TopicReasons.Member) == 0 || (_places[i].Muted & TransientBit) == 0)
            {
                those.Add(_places[i].Subscriber);
            }
        }

        return new Recipients([.. those], _count - those.Count);
    }

    private Subscriber[] Those(TopicReasons reason)
    {
        var count = 0;
        for (var i = 0; i < _count; i++)
        {
            count += (_places[i].Reasons & reason) != 0 ? 1 : 0;
        }

        var those = new Subscriber[count];
        for (int i = 0, at = 0; at < count; i++)
        {
            if ((_places[i].Reasons & reason) != 0)
            {
                those[at++] = _places[i].Subscriber;
            }
        }

        return those;
    }
}

/// <summary>Whom an event of a topic goes to.</summary>
/// <param name="Subscribers">Their sessions; some may be over.</param>
/// <param name="Held">How many sessions it does not go to, since their users have muted it.</param>
internal sealed record Recipients(Subscriber[] Subscribers, int Held)
{
    public static Recipients None { get; } = new([], 0);
}
