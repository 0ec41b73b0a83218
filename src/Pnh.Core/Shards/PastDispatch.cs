using Pnh.Core.Journal;

namespace Pnh.Core.Shards;

/// <summary>What a former run began of an event, while it is taken up again. Used by one dispatch; not thread-safe.</summary>
internal sealed class PastDispatch
{
    private readonly Dictionary<(string User, string Device), UnfinishedDelivery> _deliveries = [];
    private readonly UnfinishedEvent _event;

    internal PastDispatch(UnfinishedEvent unfinished)
    {
        _event = unfinished;
        foreach (var delivery in unfinished.Deliveries)
        {
            _deliveries[(delivery.User, delivery.Device)] = delivery;
        }
    }

    /// <summary>Users with deliveries in it.</summary>
    internal IEnumerable<string> Users => _event.Deliveries.Select(d => d.User).Distinct(StringComparer.Ordinal);

    /// <summary>True when every delivery had begun: no user and no device is added.</summary>
    internal bool IsComplete => _event.IsDispatched;

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

    internal bool IsWithdrawn(string user)
    {
        foreach (var withdrawn in _event.Withdrawn)
        {
            if (withdrawn is null || string.Equals(withdrawn, user, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>After a user's plan: what of the user no plan asked for, and has no end yet.</summary>
    internal void EndLost(string user, Action<string> end)
    {
        foreach (var delivery in _event.Deliveries)
        {
            if (string.Equals(delivery.User, user, StringComparison.Ordinal) && _deliveries.Remove((user, delivery.Device)) && !delivery.IsSettled)
            {
                end(delivery.Device);
            }
        }
    }
}
