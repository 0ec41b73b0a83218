using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What others do with a user's state, under the gate.</summary>
internal sealed partial class Shard
{
    /// <summary>Does this under the gate, if anything is kept of the user.</summary>
    internal void Under(UserKey key, Action<UserState> action)
    {
        using (Enter())
        {
            if (_users.TryGetValue(key, out var user))
            {
                action(user);
            }
        }
    }

    /// <summary>Does this under the gate, though nothing may be kept of the user any more.</summary>
    internal void Under(UserState user, Action<UserState> action)
    {
        using (Enter())
        {
            action(user);
        }
    }
}
