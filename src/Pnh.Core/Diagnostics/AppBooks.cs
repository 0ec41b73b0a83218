using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>One app's part of the <see cref="Ledger"/>: an event finds it once, its deliveries hold on to it. Thread-safe, does not wait.</summary>
internal sealed class AppBooks
{
    private const int States = 8;
    private static readonly int Classes = EventClassNames.All.Length;
    private readonly StripedCells _cells = new(Classes * (1 + States));

    private readonly StripedCells _held = new(1);

    // Apart from the others: a lost or twice-booked delivery shows as a difference.
    private readonly StripedCells _inFlight = new(Classes);
    private readonly StripedCells _heldBack = new(Classes);
    private readonly StripedCells _resting = new(Classes);

    internal AppBooks(string app, CollectFeed feed, Counter planned, Counter settled, ReadingFamily inFlight, ReadingFamily heldBack, ReadingFamily resting, ReadingFamily held, ReadingFamily over)
    {
        App = app;
        held.Add(() => Held, app);
        over.Add(() => IsOverShare ? 1 : 0, app);
        foreach (var @class in EventClassNames.All)
        {
            if (@class == EventClass.Transient)
            {
                continue;
            }

            var cell = (int)@class;
            feed.Add(planned.WithLabels(app, @class.Label()), _cells, cell);
            inFlight.Add(() => _inFlight.Read(cell), app, @class.Label());
            heldBack.Add(() => _heldBack.Read(cell), app, @class.Label());
            resting.Add(() => _resting.Read(cell), app, @class.Label());
            for (var state = 1; state < States; state++)
            {
                feed.Add(settled.WithLabels(app, @class.Label(), ((DeliveryState)state).Label()), _cells, SettledCell(@class, (DeliveryState)state));
            }
        }
    }

    /// <summary>Its name; <see cref="CollectFeed.Other"/> = of all that are not configured.</summary>
    internal string App { get; }

    /// <summary>Bytes of memory that what waits of the app takes, as estimated by what puts it there and takes it away.</summary>
    internal long Held => _held.Read(0);

    /// <summary>True while its events are refused because it holds more than its share.</summary>
    internal bool IsOverShare { get; set; }

    internal void Holds(long bytes) => _held.Add(0, bytes);

    internal void Planned(EventClass @class, int count = 1) => _cells.Add((int)@class, count);

    internal void Settled(EventClass @class, DeliveryState state, int count = 1) => _cells.Add(SettledCell(@class, state), count);

    internal void InFlight(EventClass @class, int delta) => _inFlight.Add((int)@class, delta);

    /// <summary>So many more are held until quiet hours end, and no longer in flight; negative = so many fewer.</summary>
    internal void HeldBack(EventClass @class, int delta)
    {
        if (delta != 0)
        {
            _heldBack.Add((int)@class, delta);
            _inFlight.Add((int)@class, -delta);
        }
    }

    /// <summary>So many deliveries without an end left memory for the journal; negative = so many came back, or ended there.</summary>
    internal void Resting(EventClass @class, int delta) => _resting.Add((int)@class, delta);

    /// <summary>Deliveries of a class that rest without an end.</summary>
    internal long ReadResting(EventClass @class) => _resting.Read((int)@class);

    /// <summary>Deliveries of a class whose push is held until quiet hours end.</summary>
    internal long ReadHeldBack(EventClass @class) => _heldBack.Read((int)@class);

    /// <summary>Planned, settled and in flight of a class now.</summary>
    internal (long Planned, long Settled, long InFlight) Read(EventClass @class)
    {
        long settled = 0;
        for (var state = 1; state < States; state++)
        {
            settled += _cells.Read(SettledCell(@class, (DeliveryState)state));
        }

        return (_cells.Read((int)@class), settled, _inFlight.Read((int)@class));
    }

    private static int SettledCell(EventClass @class, DeliveryState state) => Classes + ((int)@class * States) + (int)state;
}
