namespace Pnh.Core.Sessions;

/// <summary>
/// A session that is in topics, as they know it: an event for a topic goes from here straight to the session, without a look into any table. Made
/// with the first of them. <see cref="Session"/> is read on any thread; the topics belong to <see cref="TopicTable"/>. What the session's shard knows of it
/// besides is a <c>ShardSubscriber</c>.
/// </summary>
internal class Subscriber(SessionKey key)
{
    // Copied out of the session and its link, as a broadcast would miss the cache at each of the two for each of its sessions.
    private ISessionLink? _way;
    private ISessionCarrier? _carrier;
    private long _number;
    private int _changes; // odd while the carrier and the number are written
    private LiveSession? _session;

    internal SessionKey Key { get; } = key;

    /// <summary>The session as it is now, written under the shard's gate; null = it is over.</summary>
    internal LiveSession? Session
    {
        get => Volatile.Read(ref _session);
        set
        {
            Volatile.Write(ref _session, value);
            SetWay(value is { IsDetached: false } ? value.Link : null);
        }
    }

    /// <summary>The way to the session while it has a connection; null = it waits for a resume, or is over.</summary>
    internal ISessionLink? Way => Volatile.Read(ref _way);

    /// <summary>Its places in topics: a hundred that it joined and 10,000 that its user is a member of, at most. Under its own lock.</summary>
    internal List<TopicPlace> Places { get; } = [];

    /// <summary>The same by topic, where a look through the list would take long; null = they are few. Under the lock of <see cref="Places"/>.</summary>
    internal Dictionary<string, TopicPlace>? ByTopic { get; set; }

    /// <summary>True once it was taken off all topics: it joins none any more. Under its own lock.</summary>
    internal bool IsGone { get; set; }

    /// <summary>What carries the session to its node, as <see cref="ISessionLink.FindCarrier"/> of its way says; null = it is on this node, or has no connection.</summary>
    internal ISessionCarrier? FindCarrier(out long number)
    {
        var changes = Volatile.Read(ref _changes);
        var carrier = Volatile.Read(ref _carrier);
        number = Volatile.Read(ref _number);
        if (changes % 2 == 0 && Volatile.Read(ref _changes) == changes)
        {
            return carrier;
        }

        // A number of one carrier is another session's at the next.
        return Way?.FindCarrier(out number);
    }

    /// <summary>
    /// Before a block of sends: what they will touch lies all over the memory, and is fetched for all of them together instead of waited for one after the other.
    /// Of a broadcast to 2,000 sessions that was a seventh of all CPU. Of sessions at other nodes nothing else is touched.
    /// </summary>
    /// <param name="block">Whose turn is next.</param>
    /// <param name="isDurable">True when the event leaves something in each one's shard.</param>
    internal static void Prefetch(ReadOnlySpan<Subscriber> block, bool isDurable)
    {
        foreach (var subscriber in block)
        {
            Threads.Prefetch.Object(subscriber, lines: 2);
        }

        var isAnyHere = false;
        foreach (var subscriber in block)
        {
            Threads.Prefetch.Object(isDurable ? subscriber._session : null, lines: 2);
            Threads.Prefetch.Object(subscriber.WayHere, lines: 4);
            isAnyHere |= subscriber.WayHere is not null;
        }

        for (var step = 0; isAnyHere && step < ISessionLink.PrefetchSteps; step++)
        {
            foreach (var subscriber in block)
            {
                subscriber.WayHere?.Prefetch(step);
            }
        }
    }

    private ISessionLink? WayHere => _carrier is null ? _way : null;

    private void SetWay(ISessionLink? way)
    {
        if (ReferenceEquals(way, _way))
        {
            return;
        }

        var number = 0L;
        var carrier = way?.FindCarrier(out number);
        Volatile.Write(ref _changes, _changes + 1);
        Volatile.Write(ref _carrier, carrier);
        Volatile.Write(ref _number, number);
        Volatile.Write(ref _changes, _changes + 1);
        Volatile.Write(ref _way, way);
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

    /// <summary>Where it stands among the subscriber's places: they are fewer than 65,536, and with an int each place was 8 bytes more.</summary>
    internal ushort At { get; set; }

    internal Topic Topic { get; } = topic;

    internal Subscriber Subscriber { get; } = subscriber;

    internal int Index { get; set; }
}
