namespace Pnh.Channels.Net.Epoll;

/// <summary>What a connection answers when its place is wanted.</summary>
internal enum GiveUp
{
    /// <summary>It has nothing under way and is being closed.</summary>
    Going,

    /// <summary>It has nothing under way, but has proven a credential: others go before it.</summary>
    Known,

    /// <summary>A request is under way. Later perhaps.</summary>
    Busy,

    /// <summary>It carries a session, and is not asked again.</summary>
    Settled,
}

/// <summary>A connection's client that may be asked to make room for another connection.</summary>
internal interface IIdleConnection
{
    /// <summary>
    /// Goes, or says why not. Called by any thread under a lock of the budget: it must not wait, and not call the budget. A connection that was going but
    /// became busy meanwhile may stay, and says so with <see cref="ConnectionPermit.Stay"/>.
    /// </summary>
    /// <param name="alsoKnown">True = also when it has proven a credential.</param>
    GiveUp TryGiveUp(bool alsoKnown);
}
