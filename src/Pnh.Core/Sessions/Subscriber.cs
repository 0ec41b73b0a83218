namespace Pnh.Core.Sessions;

/// <summary>
/// A session that is in topics, as they know it: an event for a topic goes from here straight to the session, without a look into any table. Made
/// with the first of them. <see cref="Session"/> is read on any thread; the topics belong to <see cref="TopicTable"/>. What the session's shard knows of it
/// besides is a <c>ShardSubscriber</c>.
/// </summary>
internal class Subscriber(SessionKey key)
{
    private LiveSession? _session;

    internal SessionKey Key { get; } = key;

    /// <summary>The session as it is now, written under the shard's gate; null = it is over.</summary>
    internal LiveSession? Session
    {
        get => Volatile.Read(ref _session);
        set => Volatile.Write(ref _session, value);
    }

    /// <summary>Its places in topics: a hundred that it joined and 10,000 that its user is a member of, at most. Under its own lock.</summary>
    internal List<TopicPlace> Places { get; } = [];

    /// <summary>The same by topic, where a look through the list would take long; null = they are few. Under the lock of <see cref="Places"/>.</summary>
    internal Dictionary<string, TopicPlace>? ByTopic { get; set; }

    /// <summary>True once it was taken off all topics: it joins none any more. Under its own lock.</summary>
    internal bool IsGone { get; set; }

    /// <summary>
    /// Before a block of sends: what they will touch lies all over the memory, and is fetched for all of them together instead of waited for one after the other.
    /// Of a broadcast to 2,000 sessions that was a seventh of all CPU.
    /// </summary>
    internal static void Prefetch(ReadOnlySpan<Subscriber> block)
    {
        foreach (var subscriber in block)
        {
            Threads.Prefetch.Object(subscriber, lines: 1);
        }

        foreach (var subscriber in block)
        {
            Threads.Prefetch.Object(subscriber.Session, lines: 2);
        }

        foreach (var subscriber in block)
        {
            Threads.Prefetch.Object(subscriber.Session?.Link, lines: 4);
        }

        var isMore = true;
        for (var step = 0; isMore && step < ISessionLink.PrefetchSteps; step++)
        {
            isMore = false;
            foreach (var subscriber in block)
            {
                isMore |= subscriber.Session?.Link.Prefetch(step) == true;
            }
        }
    }
}

/// <summary>Why a session is in a topic.</summary>
[Flags]
internal enum TopicReasons : byte
{
    /// <summary>It is not.</summary>
    None = 0,

    /// <summary>It said <c>join</c>.</summary>
    Joined = 1,

    /// <summary>Its user is a member.</summary>
    Member = 2,
}

/// <summary>A subscriber's place in a topic. <see cref="Index"/>, <see cref="Reasons"/> and <see cref="Muted"/> are the topic's, under its lock; <see cref="At"/> is the subscriber's, under that of its places.</summary>
internal sealed class TopicPlace(Topic topic, Subscriber subscriber, TopicReasons reasons)
{
    /// <summary>Why it is there; never none.</summary>
    internal TopicReasons Reasons { get; set; } = reasons;

    /// <summary>The classes of which the member wants no event of this topic, a bit each.</summary>
    internal byte Muted { get; set; }

    /// <summary>Where it stands among the subscriber's places.</summary>
    internal int At { get; set; }

    internal Topic Topic { get; } = topic;

    internal Subscriber Subscriber { get; } = subscriber;

    internal int Index { get; set; }
}
