using System.Collections.Concurrent;
using Pnh.Core.Users;

namespace Pnh.Core.Sessions;

/// <summary>
/// Which sessions joined which topic, both ways: a topic's sessions for its events, a session's topics so that its end costs only those, however
/// many topics there are. Thread-safe.
/// </summary>
internal sealed class TopicTable
{
    private readonly ConcurrentDictionary<TopicKey, Topic> _topics = new();

    /// <summary>Topics that somebody is in.</summary>
    internal int Count => _topics.Count;

    /// <summary>Into the topics that it is not in yet; into none after <see cref="Remove(Subscriber)"/>: nobody would take it off them again.</summary>
    internal void Join(Subscriber subscriber, IReadOnlyList<string> topics)
    {
        lock (subscriber.Places)
        {
            subscriber.Places.EnsureCapacity(subscriber.Places.Count + topics.Count);
            for (var i = 0; i < topics.Count && !subscriber.IsGone; i++)
            {
                if (Find(subscriber, topics[i]) < 0)
                {
                    subscriber.Places.Add(Add(new TopicKey(subscriber.Key.App, topics[i]), subscriber));
                }
            }
        }
    }

    internal void Leave(Subscriber subscriber, IReadOnlyList<string> topics)
    {
        lock (subscriber.Places)
        {
            for (var i = 0; i < topics.Count; i++)
            {
                if (Find(subscriber, topics[i]) is >= 0 and var at)
                {
                    Remove(subscriber.Places[at]);
                    subscriber.Places.RemoveAt(at);
                }
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
        }
    }

    /// <summary>A topic that somebody is in; null = nobody is.</summary>
    internal Topic? Find(TopicKey topic) => _topics.GetValueOrDefault(topic);

    private TopicPlace Add(TopicKey key, Subscriber subscriber)
    {
        TopicPlace? place;
        while ((place = _topics.GetOrAdd(key, static key => new Topic(key)).TryAdd(subscriber)) is null)
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

    private static int Find(Subscriber subscriber, string topic)
    {
        for (var i = 0; i < subscriber.Places.Count; i++)
        {
            if (string.Equals(subscriber.Places[i].Topic.Key.Topic, topic, StringComparison.Ordinal))
            {
                return i;
            }
        }

        return -1;
    }
}
