using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Who has a session: few beside those that a shard keeps mailboxes of.</summary>
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

    private readonly List<UserState> _present = [];

    /// <summary>Adds the app's users that have a session.</summary>
    internal void AddPresent(string app, List<string> users)
    {
        using (Enter())
        {
            foreach (var user in _present)
            {
                if (string.Equals(user.Key.App, app, StringComparison.Ordinal))
                {
                    users.Add(user.Key.User);
                }
            }
        }
    }

    private void Arrive(UserState user)
    {
        if (user.PresentAt < 0)
        {
            user.PresentAt = _present.Count;
            _present.Add(user);
        }
    }

    private void Go(UserState user)
    {
        if (user.Sessions.Count == 0)
        {
            // The last takes the free place, so that nobody else moves.
            var last = _present[^1];
            _present[user.PresentAt] = last;
            last.PresentAt = user.PresentAt;
            _present.RemoveAt(_present.Count - 1);
            user.PresentAt = -1;
        }
    }
}
