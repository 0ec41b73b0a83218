using System.Collections.Concurrent;
using Pnh.Core.Users;

namespace Pnh.Core.Sessions;

/// <summary>
/// Which sessions are in which topic, and why, both ways: a topic's sessions for its events, a session's topics so that its end costs only those, however
/// many topics there are. Thread-safe.
/// </summary>
internal sealed class TopicTable
{
    // So many places are looked through faster than found in a dictionary.
    private const int Few = 32;

    private readonly ConcurrentDictionary<TopicKey, Topic> _topics = new();

    /// <summary>Topics that somebody is in.</summary>
    internal int Count => _topics.Count;

    /// <summary>
    /// Into the topics, for this reason besides those that it is there for already; into none after <see cref="Remove(Subscriber)"/>: nobody would take it off them again.
    /// </summary>
    /// <param name="subscriber">Whose session.</param>
    /// <param name="topics">Their names.</param>
    /// <param name="reason">Why.</param>
    /// <param name="muted">Of a member: the classes of which he wants no event of a topic, a bit each. Null = as before, and of new places none.</param>
    internal void Join(Subscriber subscriber, IReadOnlyList<string> topics, TopicReasons reason = TopicReasons.Joined, Func<string, byte>? muted = null)
    {
        lock (subscriber.Places)
        {
            subscriber.Places.EnsureCapacity(subscriber.Places.Count + topics.Count);
            for (var i = 0; i < topics.Count && !subscriber.IsGone; i++)
            {
                if (Find(subscriber, topics[i]) is { } place)
                {
                    place.Topic.Change(place, place.Reasons | reason, muted?.Invoke(topics[i]) ?? place.Muted);
                }
                else
                {
                    Keep(subscriber, Add(new TopicKey(subscriber.Key.App, topics[i]), subscriber, reason, muted?.Invoke(topics[i]) ?? 0));
                }
            }
        }
    }

    /// <summary>Has joined these topics, and no others. Those that it stays in miss nothing meanwhile.</summary>
    internal void SetJoined(Subscriber subscriber, IReadOnlyList<string> topics)
    {
        lock (subscriber.Places)
        {
            var wanted = topics.ToHashSet(StringComparer.Ordinal);
            Leave(subscriber, [.. subscriber.Places.Where(place => (place.Reasons & TopicReasons.Joined) != 0 && !wanted.Contains(place.Topic.Key.Topic)).Select(static place => place.Topic.Key.Topic)]);
            Join(subscriber, topics);
        }
    }

    /// <summary>No longer in the topics for this reason; out of those that it is in for no other.</summary>
    internal void Leave(Subscriber subscriber, IReadOnlyList<string> topics, TopicReasons reason = TopicReasons.Joined)
    {
        lock (subscriber.Places)
        {
            for (var i = 0; i < topics.Count; i++)
            {
                if (Find(subscriber, topics[i]) is not { } place)
                {
                    continue;
                }

                if ((place.Reasons & ~reason) is not TopicReasons.None and var left)
                {
                    place.Topic.Change(place, left, place.Muted);
                }
                else
                {
                    Remove(place);
                    Forget(subscriber, place);
                }
            }
        }
    }

    /// <summary>What the subscriber's user wants of the topics that he is a member of: the classes that are muted, a bit each, for each topic's name.</summary>
    internal static void Mute(Subscriber subscriber, Func<string, byte> classes)
    {
        lock (subscriber.Places)
        {
            foreach (var place in subscriber.Places)
            {
                place.Topic.Change(place, place.Reasons, classes(place.Topic.Key.Topic));
            }
        }
    }

    /// <summary>Out of all its topics, for good: its own only are touched.</summary>
    internal void Remove(Subscriber subscriber)
    {
        lock (subscriber.Places)
        {
            subscriber.IsGone = true;
            foreach (var place in subscriber.Places)
            {
                Remove(place);
            }

            subscriber.Places.Clear();
            subscriber.ByTopic = null;
        }
    }

    /// <summary>A topic that somebody is in; null = nobody is.</summary>
    internal Topic? Find(TopicKey topic) => _topics.GetValueOrDefault(topic);

    private TopicPlace Add(TopicKey key, Subscriber subscriber, TopicReasons reason, byte muted)
    {
        TopicPlace? place;
        while ((place = _topics.GetOrAdd(key, static key => new Topic(key)).TryAdd(subscriber, reason, muted)) is null)
        {
            // Its last subscriber left in between and takes it off the table.
        }

        return place;
    }

    private void Remove(TopicPlace place)
    {
        if (place.Topic.Remove(place))
        {
            _topics.TryRemove(new KeyValuePair<TopicKey, Topic>(place.Topic.Key, place.Topic));
        }
    }

    private static void Keep(Subscriber subscriber, TopicPlace place)
    {
        place.At = checked((ushort)subscriber.Places.Count);
        subscriber.Places.Add(place);
        if (subscriber.ByTopic is { } byTopic)
        {
            byTopic.Add(place.Topic.Key.Topic, place);
        }
        else if (subscriber.Places.Count > Few)
        {
            subscriber.ByTopic = subscriber.Places.ToDictionary(static one => one.Topic.Key.Topic, StringComparer.Ordinal);
        }
    }

    // The last takes the free place, so that nobody else moves.
    private static void Forget(Subscriber subscriber, TopicPlace place)
    {
        var last = subscriber.Places[^1];
        subscriber.Places[place.At] = last;
        last.At = place.At;
        subscriber.Places.RemoveAt(subscriber.Places.Count - 1);
        subscriber.ByTopic?.Remove(place.Topic.Key.Topic);
    }

    private static TopicPlace? Find(Subscriber subscriber, string topic)
    {
        if (subscriber.ByTopic is { } byTopic)
        {
            return byTopic.GetValueOrDefault(topic);
        }

        foreach (var place in subscriber.Places)
        {
            if (string.Equals(place.Topic.Key.Topic, topic, StringComparison.Ordinal))
            {
                return place;
            }
        }

        return null;
    }
}
