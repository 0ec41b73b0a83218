using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Index;

/// <summary>While the log is read: how many deliveries rest without an end. For one thread.</summary>
internal sealed class PendingMail
{
    private readonly Dictionary<(string App, EventClass Class), int> _counts = [];
    private readonly List<((string App, EventClass Class) Of, int Change)> _changes = [];

    /// <summary>Of each app and class that has any.</summary>
    public IReadOnlyDictionary<(string App, EventClass Class), int> Counts => _counts.Where(static each => each.Value > 0).ToDictionary();

    /// <summary>A delivery rests; what was carried is told twice.</summary>
    public void Rested(in Milestone milestone, bool isNew) => Change(milestone, isNew && milestone.State is null ? 1 : 0);

    /// <summary>A delivery rests no more: a late ack, or that it was dropped, is no end.</summary>
    public void Ended(in Milestone milestone, bool isKnown) => Change(milestone, isKnown && milestone.Kind == MilestoneKind.Settled ? -1 : 0);

    /// <summary>The changes stand.</summary>
    public void Keep()
    {
        foreach (var (of, change) in _changes)
        {
            CollectionsMarshal.GetValueRefOrAddDefault(_counts, of, out _) += change;
        }

        _changes.Clear();
    }

    /// <summary>They do not.</summary>
    public void TakeBack() => _changes.Clear();

    private void Change(in Milestone milestone, int change)
    {
        if (change != 0)
        {
            _changes.Add(((milestone.App, milestone.Class), change));
        }
    }
}
