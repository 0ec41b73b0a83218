using System.Collections.Frozen;
using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The books of planned deliveries per app and class: planned = settled (one terminal state each) + in flight + held + resting. What is in flight, held or resting is counted where
/// deliveries enter and leave mailboxes, apart from the other two, so that a lost or twice-booked one shows as a difference. Counts from the start of the
/// process; a delivery that was recovered, or rested at the start, counts as planned again. Thread-safe, does not wait.
/// </summary>
internal sealed class Ledger
{
    private readonly FrozenDictionary<string, AppBooks> _books;
    private readonly AppBooks _other;

    internal Ledger(CollectFeed feed, IEnumerable<string> apps)
    {
        var planned = feed.Counters("pnh_ledger_planned_total", "Deliveries planned, recovered ones included.", "app", "class");
        var settled = feed.Counters("pnh_ledger_settled_total", "Deliveries that reached their terminal state.", "app", "class", "state");
        var inFlight = feed.Gauges("pnh_ledger_in_flight", "Deliveries without a terminal state, counted where they wait.", Fold.Sum, "app", "class");
        var heldBack = feed.Gauges("pnh_ledger_held", "Deliveries whose push is held until quiet hours end, counted where they wait.", Fold.Sum, "app", "class");
        var resting = feed.Gauges("pnh_ledger_resting", "Deliveries without a terminal state that wait for their device in the journal.", Fold.Sum, "app", "class");
        var held = feed.Gauges("pnh_memory_app_bytes", "Memory that an app's waiting deliveries take, as estimated.", Fold.Sum, "app");
        var over = feed.Gauges("pnh_memory_app_refuses", "1 while an app's events are refused because it holds more than its share of the memory.", Fold.Max, "app");
        _books = apps.Distinct(StringComparer.Ordinal).ToFrozenDictionary(
            static app => app, app => new AppBooks(app, feed, planned, settled, inFlight, heldBack, resting, held, over), StringComparer.Ordinal);
        _other = _books.GetValueOrDefault(CollectFeed.Other) ?? new AppBooks(CollectFeed.Other, feed, planned, settled, inFlight, heldBack, resting, held, over);
        All = [.. _books.Values.Union([_other])];
    }

    /// <summary>Of every configured app, and of all others together.</summary>
    internal IReadOnlyList<AppBooks> All { get; }

    /// <summary>True while there are several apps: more than one is configured, or one that is not has something that waits.</summary>
    internal bool IsShared => _books.Count > 1 || (_books.Count == 1 && All.Count == 2 && _other.Held > 0);

    /// <summary>Deliveries of the previous process that rest without an end.</summary>
    internal void TakeUp(IReadOnlyDictionary<(string App, EventClass Class), int> resting)
    {
        foreach (var ((app, @class), count) in resting)
        {
            Of(app).Planned(@class, count);
            Of(app).Resting(@class, count);
        }
    }

    /// <summary>An app's books. One that is not configured has no series of its own: labels are bounded.</summary>
    internal AppBooks Of(string app) => _books.TryGetValue(app, out var books) ? books : _other;
}
