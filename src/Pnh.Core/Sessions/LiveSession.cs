namespace Pnh.Core.Sessions;

/// <summary>A session as the plan sees it.</summary>
/// <param name="Key">Device and session.</param>
/// <param name="State">In front or in the background.</param>
/// <param name="Link">The way to it.</param>
/// <param name="Since">When its connection came; while it has none, its last one.</param>
public sealed record LiveSession(SessionKey Key, SessionState State, ISessionLink Link, DateTimeOffset Since)
{
    // Another node says how long ago its connection came, and the hub may read that late. A client that is sent away by mistake stays away, so in doubt the hello that is read last is the newer.
    private static readonly TimeSpan OtherNodeLeeway = TimeSpan.FromSeconds(1);

    /// <summary>True while it has no connection and may be resumed: it counts as offline, and what comes meanwhile waits for it.</summary>
    public bool IsDetached { get; init; }

    /// <summary>True when this is another session, of a connection that came after the other's. One of a time to come says that the clock was set back, and nothing else.</summary>
    internal bool CameAfter(LiveSession other, DateTimeOffset now) => Key != other.Key && Since > other.Since && Since <= now;

    /// <summary>True when it has a connection that came after the one of this hello, which is stale then, whenever it is read. Null = nobody knows when that one came.</summary>
    internal bool Outdates(DateTimeOffset? hello, DateTimeOffset now) =>
        !IsDetached && Since - hello > (Link.FindCarrier(out _) is null ? TimeSpan.Zero : OtherNodeLeeway) && Since <= now;

    /// <summary>The same session as its topics know it; null = it joined none yet. Set once, under its shard's gate.</summary>
    internal Subscriber? Subscriber { get; set; }
}
