namespace Pnh.Core.Sessions;

/// <summary>A session as the plan sees it.</summary>
/// <param name="Key">Device and session.</param>
/// <param name="State">In front or in the background.</param>
/// <param name="Link">The way to it.</param>
/// <param name="Since">When its connection came; while it has none, its last one.</param>
public sealed record LiveSession(SessionKey Key, SessionState State, ISessionLink Link, DateTimeOffset Since)
{
    /// <summary>True while it has no connection and may be resumed: it counts as offline, and what comes meanwhile waits for it.</summary>
    public bool IsDetached { get; init; }

    /// <summary>
    /// True when this is another session, of a connection that came after the other's: a hello of the other is stale, whenever it is read. One of a time to come says that the clock was set back, and nothing else.
    /// </summary>
    internal bool CameAfter(LiveSession other, DateTimeOffset now) => Key != other.Key && CameAfter(other.Since, now);

    /// <summary>True when it has a connection that came after <paramref name="asker"/>'s, which asks for the session: that hello is stale. Null = nobody knows when that one came.</summary>
    internal bool IsNotFor(DateTimeOffset? asker, DateTimeOffset now) => !IsDetached && asker is { } since && CameAfter(since, now);

    /// <summary>The same session as its topics know it; null = it joined none yet. Set once, under its shard's gate.</summary>
    internal Subscriber? Subscriber { get; set; }

    private bool CameAfter(DateTimeOffset since, DateTimeOffset now) => Since > since && Since <= now;
}
