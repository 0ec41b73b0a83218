using Pnh.Core.Journal;
using Pnh.Core.Users;

namespace Pnh.Core.Progress;

/// <summary>An event that the previous process left unfinished, as its users share it. Made by one walk over what was noted, which may be as long as a topic. Immutable; thread-safe.</summary>
internal sealed class RestoredEvent
{
    private readonly Dictionary<string, RestoredUser> _users = new(StringComparer.Ordinal);
    private readonly HashSet<string> _withdrawn = new(StringComparer.Ordinal);

    internal RestoredEvent(UnfinishedEvent unfinished)
    {
        IsComplete = unfinished.IsDispatched;
        Reached = unfinished.Reached;
        foreach (var user in unfinished.Withdrawn)
        {
            IsWithdrawnFromAll |= user is null;
            if (user is not null)
            {
                _withdrawn.Add(user);
            }
        }

        foreach (var own in unfinished.Deliveries.GroupBy(static delivery => delivery.User, StringComparer.Ordinal))
        {
            _users.Add(own.Key, Share(own.Key, [.. own]));
        }
    }

    /// <summary>Users with deliveries that had begun.</summary>
    internal IReadOnlyDictionary<string, RestoredUser> Users => _users;

    /// <summary>Users whom it was taken back from, each for themselves.</summary>
    internal IReadOnlyCollection<string> Withdrawn => _withdrawn;

    /// <summary>The last member of the topic that the previous process had planned for good; empty = none.</summary>
    internal string Reached { get; }

    internal bool IsWithdrawnFromAll { get; }

    /// <summary>True when every delivery had begun: no user and no device is added.</summary>
    internal bool IsComplete { get; }

    /// <summary>The share of any user; without deliveries where none had begun.</summary>
    internal RestoredUser Of(string user) => _users.GetValueOrDefault(user) ?? Share(user, []);

    private RestoredUser Share(string user, IReadOnlyList<UnfinishedDelivery> deliveries) => new(
        deliveries, IsWithdrawnFromAll || _withdrawn.Contains(user), IsComplete || (Reached.Length > 0 && !TopicMembers.IsAfter(user, Reached)));
}
