using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>An event's users, one after the other. Where one cannot be read it stops, and goes on there when it is called again. For one thread at a time.</summary>
internal sealed class UserWalk(Dispatcher dispatcher, Event accepted, int served = 0)
{
    private int _served = served;

    /// <summary>Goes on; false = a user cannot be read now. Read together where <paramref name="areRead"/> says so, and one by one when that fails: one user who cannot be read holds up nobody before.</summary>
    /// <param name="users">The same at each call until it is done.</param>
    /// <param name="areRead">True = they are not in memory, most likely.</param>
    /// <param name="take">Gets each user, with null for one who could not be read until the event was over.</param>
    internal async ValueTask<bool> TryAsync(IReadOnlyList<string> users, bool areRead, Action<UserKey, UserSnapshot?> take)
    {
        var snapshots = areRead && _served == 0 ? await dispatcher.Reads.TryUsersAsync(accepted.App, users).ConfigureAwait(false) : null;
        for (; _served < users.Count; _served++)
        {
            if (_served > 0 && _served % FanOutPages.YieldEvery == 0)
            {
                await dispatcher.Turns.NextAsync();
            }

            var key = new UserKey(accepted.App, users[_served]);
            var snapshot = snapshots?[_served] ?? await dispatcher.Reads.TryUserAsync(key).ConfigureAwait(false);
            if (snapshot is null && !dispatcher.IsOver(accepted))
            {
                return false;
            }

            take(key, snapshot);
        }

        _served = 0;
        return true;
    }
}
