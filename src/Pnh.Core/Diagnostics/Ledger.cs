using System.Collections.Concurrent;
using Pnh.Core.Deliveries;
using Pnh.Core.Events;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The books of planned deliveries per app and class: planned = settled (one terminal state each) + in flight. What is in flight is counted where
/// deliveries enter and leave mailboxes, apart from the other two, so that a lost or twice-booked one shows as a difference. Counts from the start of the
/// process; a recovered delivery counts as planned again. Thread-safe, does not wait.
/// </summary>
internal sealed class Ledger
{
    private const int States = 7;
    private static readonly int Classes = EventClassNames.All.Length;
    private readonly ConcurrentDictionary<string, Books> _books = new(StringComparer.Ordinal);
    private readonly CounterFamily _planned;
    private readonly CounterFamily _settled;
    private readonly CallbackFamily _inFlight;
    private readonly HashSet<string> _apps;

    internal Ledger(MetricRegistry registry, IEnumerable<string> apps)
    {
        _apps = new HashSet<string>(apps, StringComparer.Ordinal);
        _planned = registry.Counters("pnh_ledger_planned_total", "Deliveries planned, recovered ones included.", "app", "class");
        _settled = registry.Counters("pnh_ledger_settled_total", "Deliveries that reached their terminal state.", "app", "class", "state");
        _inFlight = registry.Gauges("pnh_ledger_in_flight", "Deliveries without a terminal state, counted where they wait.", Fold.Sum, "app", "class");
        foreach (var app in _apps)
        {
            Of(app);
        }

        // Here, so that no two threads open it at once.
        Of(HubMetrics.Other);
    }

    internal void Planned(string app, EventClass @class) => Of(app).Cells.Add((int)@class, 1);

    internal void Settled(string app, EventClass @class, DeliveryState state) => Of(app).Cells.Add(SettledCell(@class, state), 1);

    internal void InFlight(string app, EventClass @class, int delta) => Of(app).InFlight.Add((int)@class, delta);

    /// <summary>Planned, settled and in flight of an app and class now.</summary>
    internal (long Planned, long Settled, long InFlight) Read(string app, EventClass @class)
    {
        var books = Of(app);
        long settled = 0;
        for (var state = 1; state < States; state++)
        {
            settled += books.Cells.Read(SettledCell(@class, (DeliveryState)state));
        }

        return (books.Cells.Read((int)@class), settled, books.InFlight.Read((int)@class));
    }

    private static int SettledCell(EventClass @class, DeliveryState state) => Classes + ((int)@class * States) + (int)state;

    // An app that is not configured has no series of its own: labels are bounded.
    private Books Of(string app) => _books.GetOrAdd(_apps.Contains(app) ? app : HubMetrics.Other, static (label, ledger) => ledger.Open(label), this);

    private Books Open(string app)
    {
        var books = new Books(new StripedCells(Classes * (1 + States)), new StripedCells(Classes));
        foreach (var @class in EventClassNames.All)
        {
            if (@class == EventClass.Transient)
            {
                continue;
            }

            var cell = (int)@class;
            _planned.Add(new Counter(books.Cells, cell), app, @class.Label());
            _inFlight.Add(() => books.InFlight.Read(cell), app, @class.Label());
            for (var state = 1; state < States; state++)
            {
                _settled.Add(new Counter(books.Cells, SettledCell(@class, (DeliveryState)state)), app, @class.Label(), ((DeliveryState)state).Label());
            }
        }

        return books;
    }

    private sealed record Books(StripedCells Cells, StripedCells InFlight);
}
