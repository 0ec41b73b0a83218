using Pnh.Core.Journal;
using Pnh.Core.Users;

namespace Pnh.Core.Progress;

/// <summary>
/// What the previous process began of an event, while it is taken up again. Both lists are read once: of a topic event each may be as long as the topic. Used by one
/// dispatch; while its fan-out goes on, other threads may ask for members of whom the previous process began nothing.
/// </summary>
internal sealed class PastDispatch
{
    private readonly Dictionary<(string User, string Device), UnfinishedDelivery> _deliveries = [];
    private readonly Dictionary<string, List<UnfinishedDelivery>> _users = new(StringComparer.Ordinal);
    private readonly HashSet<string> _withdrawn = new(StringComparer.Ordinal);
    private HashSet<string>? _lost;
    private HashSet<string>? _taken;

    internal PastDispatch(UnfinishedEvent unfinished)
    {
        IsComplete = unfinished.IsDispatched;
        Reached = unfinished.Reached;
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
            IsWithdrawnFromAll |= user is null;
            if (user is not null)
            {
                _withdrawn.Add(user);
            }
        }
    }

    /// <summary>Users with deliveries in it.</summary>
    internal IReadOnlyCollection<string> Users => _users.Keys;

    /// <summary>The last member of the topic that the previous process had planned for good; empty = none.</summary>
    internal string Reached { get; }

    internal bool IsWithdrawnFromAll { get; }

    /// <summary>True when every delivery had begun: no user and no device is added.</summary>
    internal bool IsComplete { get; }

    /// <summary>Where the delivery stood; null = it had not begun.</summary>
    internal UnfinishedDelivery? Find(string user, string device)
    {
        // What was for a session stays: no plan takes it up.
        lock (_deliveries)
        {
            if (_deliveries.TryGetValue((user, device), out var delivery) && !delivery.IsJoined)
            {
                _deliveries.Remove((user, device));
            }

            return delivery;
        }
    }

    /// <summary>
    /// True when nothing is to be done for the device now: it came after the dispatch, the event was taken back before it began, or only its session
    /// was meant, which is no more (<see cref="TakeLost"/> gives that one).
    /// </summary>
    internal bool Skips(string user, UnfinishedDelivery? before) => before is null
        ? IsReached(user) || IsWithdrawn(user) || IsTaken(user)
        : before is { IsSettled: true, IsKept: false } or { IsJoined: true };

    /// <summary>True when every delivery to the user had begun, who was a member then.</summary>
    internal bool IsReached(string user) => IsComplete || (Reached.Length > 0 && !TopicMembers.IsAfter(user, Reached));

    /// <summary>True when anything was begun for the user.</summary>
    internal bool HasBegun(string user) => _users.ContainsKey(user);

    /// <summary>True when the user's devices were planned, for a member of the topic or one of the users; not for a guest of it.</summary>
    internal bool WasPlanned(string user) => _users.GetValueOrDefault(user)?.Exists(static delivery => !delivery.IsJoined) == true;

    /// <summary>The user's devices have been taken up, all of them: his page adds none. Before the fan-out goes on.</summary>
    internal void Take(string user) => (_taken ??= new HashSet<string>(StringComparer.Ordinal)).Add(user);

    /// <summary>True when that was said.</summary>
    internal bool IsTaken(string user) => _taken?.Contains(user) == true;

    /// <summary>
    /// True when a registered device of the user still had something to come, but the registry knows nothing of the user: their rows were lost, or are another
    /// folder's. What was deleted is known.
    /// </summary>
    internal bool IsLost(string user, UserSnapshot snapshot)
    {
        foreach (var delivery in snapshot.IsKnown ? [] : _users.GetValueOrDefault(user) ?? [])
        {
            if (!delivery.IsResting && (delivery.IsKept || delivery is { IsRegistered: true, IsSettled: false }) && _deliveries.ContainsKey((user, delivery.Device)))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Users who are lost, left for the end of the dispatch; null = none.</summary>
    internal IReadOnlyCollection<string>? Lost => _lost;

    internal void LeaveLost(string user) => (_lost ??= new HashSet<string>(StringComparer.Ordinal)).Add(user);

    internal bool IsWithdrawn(string user) => IsWithdrawnFromAll || _withdrawn.Contains(user);

    /// <summary>What was for a session of the device that had joined the event's topic, and has no end yet; null = nothing. It is the caller's then.</summary>
    internal UnfinishedDelivery? TakeJoined(string user, string device)
    {
        lock (_deliveries)
        {
            if (_deliveries.TryGetValue((user, device), out var delivery) && delivery is { IsJoined: true, IsSettled: false })
            {
                _deliveries.Remove((user, device));
                return delivery;
            }

            return null;
        }
    }

    /// <summary>The user's devices that a session would have given it to, and none has; not what was taken back, or rests: that has its end where it rests.</summary>
    internal List<string> Unseen(string user) => IsWithdrawn(user)
        ? []
        : [.. (_users.GetValueOrDefault(user) ?? []).Where(static each => !each.IsResting && (each.IsKept || each is { IsRegistered: false, IsSettled: false })).Select(static each => each.Device)];

    /// <summary>After a user's plan: what of the user no plan asked for, and has no end yet or rests. It is the caller's then.</summary>
    internal IEnumerable<UnfinishedDelivery> TakeLost(string user)
    {
        foreach (var delivery in _users.GetValueOrDefault(user) ?? [])
        {
            bool isLeft;
            lock (_deliveries)
            {
                isLeft = _deliveries.Remove((user, delivery.Device));
            }

            if (isLeft && (!delivery.IsSettled || delivery.IsResting))
            {
                yield return delivery;
            }
        }
    }
}
