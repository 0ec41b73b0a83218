namespace Pnh.Core.Sessions;

/// <summary>A session as the plan sees it.</summary>
/// <param name="Key">Device and session.</param>
/// <param name="State">In front or in the background.</param>
/// <param name="Link">The way to it.</param>
/// <param name="Since">When the connection that opened it came.</param>
public sealed record LiveSession(SessionKey Key, SessionState State, ISessionLink Link, DateTimeOffset Since)
{
    /// <summary>True while it has no connection and may be resumed: it counts as offline, and what comes meanwhile waits for it.</summary>
    public bool IsDetached { get; init; }

    /// <summary>
    /// True when this is another session, of a connection that came after the other's: a hello of the other is stale, whenever it is read. One of a time to come says that the clock was set back, and nothing else.
    /// </summary>
    internal bool CameAfter(LiveSession other, DateTimeOffset now) => Key != other.Key && Since > other.Since && Since <= now;

    /// <summary>The same session as its topics know it; null = it joined none yet. Set once, under its shard's gate.</summary>
    internal Subscriber? Subscriber { get; set; }
}
