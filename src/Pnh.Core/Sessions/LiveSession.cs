namespace Pnh.Core.Sessions;

/// <summary>A session as the plan sees it.</summary>
/// <param name="Key">Device and session.</param>
/// <param name="State">In front or in the background.</param>
/// <param name="Link">The way to it.</param>
/// <param name="Since">When it opened.</param>
public sealed record LiveSession(SessionKey Key, SessionState State, ISessionLink Link, DateTimeOffset Since)
{
    /// <summary>True while it has no connection and may be resumed: it counts as offline, and what comes meanwhile waits for it.</summary>
    public bool IsDetached { get; init; }

    /// <summary>The same session as its topics know it; null = it joined none yet. Set once, under its shard's gate.</summary>
    internal Subscriber? Subscriber { get; set; }
}
