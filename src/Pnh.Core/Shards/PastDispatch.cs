using Pnh.Core.Journal;

namespace Pnh.Core.Shards;

/// <summary>
/// What a former run began of an event, while it is taken up again. Both lists are read once: of a topic event each may be as long as the topic. Used by one
/// dispatch; not thread-safe.
/// </summary>
internal sealed class PastDispatch
{
    private readonly Dictionary<(string User, string Device), UnfinishedDelivery> _deliveries = [];
    private readonly Dictionary<string, List<UnfinishedDelivery>> _users = new(StringComparer.Ordinal);
    private readonly HashSet<string> _withdrawn = new(StringComparer.Ordinal);
    private readonly bool _isWithdrawnFromAll;

    internal PastDispatch(UnfinishedEvent unfinished)
    {
        IsComplete = unfinished.IsDispatched;
        foreach (var delivery in unfinished.Deliveries)
        {
            _deliveries[(delivery.User, delivery.Device)] = delivery;
            if (!_users.TryGetValue(delivery.User, out var own))
            {
                _users.Add(delivery.User, own = new List<UnfinishedDelivery>(1));
            }

            own.Add(delivery);
        }

        foreach (var user in unfinished.Withdrawn)
        {
            _isWithdrawnFromAll |= user is null;
            if (user is not null)
            {
                _withdrawn.Add(user);
            }
        }
    }

    /// <summary>Users with deliveries in it.</summary>
    internal IEnumerable<string> Users => _users.Keys;

    /// <summary>True when every delivery had begun: no user and no device is added.</summary>
    internal bool IsComplete { get; }

    /// <summary>True when the topic's members could not be read to the last: who is left over may still be one.</summary>
    internal bool IsUnread { get; private set; }

    /// <summary>Where the delivery stood; null = it had not begun.</summary>
    internal UnfinishedDelivery? Find(string user, string device)
    {
        // What was for a session stays: no plan takes it up.
        if (_deliveries.TryGetValue((user, device), out var delivery) && !delivery.IsJoined)
        {
            _deliveries.Remove((user, device));
        }

        return delivery;
    }

    /// <summary>
    /// True when nothing is to be done for the device now: it came after the dispatch, the event was taken back before it began, or only its session
    /// was meant, which is no more (<see cref="EndLost"/> ends that one).
    /// </summary>
    internal bool Skips(string user, UnfinishedDelivery? before) => before is null
        ? IsComplete || IsWithdrawn(user)
        : before is { IsSettled: true, IsKept: false } or { IsJoined: true };

    internal void MembersUnread() => IsUnread = true;

    internal bool IsWithdrawn(string user) => _isWithdrawnFromAll || _withdrawn.Contains(user);

    /// <summary>After a user's plan: what of the user no plan asked for, and has no end yet.</summary>
    internal void EndLost(string user, Action<string> end)
    {
        foreach (var delivery in _users.GetValueOrDefault(user) ?? [])
        {
            if (_deliveries.Remove((user, delivery.Device)) && !delivery.IsSettled)
            {
                end(delivery.Device);
            }
        }
    }
}
