using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>A subscriber as its user's shard made it: the way from a topic's session back to the shard.</summary>
internal sealed class ShardSubscriber(SessionKey key, UserState user, Shard shard) : Subscriber(key)
{
    /// <summary>Whose it is; stays the shard's state of that user while the session is there. For the shard alone.</summary>
    internal UserState User { get; } = user;

    /// <summary>Where that user lives.</summary>
    internal Shard Shard { get; } = shard;
}
