using System.Collections.Frozen;
using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary><c>pnh_events_total</c>: one row of cells per configured app and one for <c>other</c>, so that nobody can make up series.</summary>
internal sealed class EventCounters
{
    private readonly FrozenDictionary<string, StripedCells> _rows;
    private readonly StripedCells _other;
    private readonly StripedCells[] _all;

    public EventCounters(CollectFeed feed, IEnumerable<string> apps)
    {
        var family = feed.Counters("pnh_events_total", "Events that publishers sent, by what the hub answered.", "app", "class", "result");
        _rows = apps.Distinct(StringComparer.Ordinal).ToFrozenDictionary(app => app, app => AddRow(feed, family, app), StringComparer.Ordinal);
        _other = _rows.TryGetValue(CollectFeed.Other, out var row) ? row : AddRow(feed, family, CollectFeed.Other);
        _all = row is null ? [.. _rows.Values, _other] : [.. _rows.Values];
    }

    public void Count(string app, EventClass @class, EventResult result) =>
        (_rows.TryGetValue(app, out var row) ? row : _other).Add(Index(@class, result), 1);

    /// <summary>Sums over all apps, without zeros.</summary>
    public List<EventTotal> Read()
    {
        var totals = new List<EventTotal>();
        foreach (var @class in EventClassNames.All)
        {
            for (var result = 0; result < EventResultNames.Count; result++)
            {
                var count = _all.Sum(row => row.Read(Index(@class, (EventResult)result)));
                if (count > 0)
                {
                    totals.Add(new EventTotal(@class, (EventResult)result, count));
                }
            }
        }

        return totals;
    }

    private static StripedCells AddRow(CollectFeed feed, Counter family, string app)
    {
        var cells = new StripedCells(EventClassNames.All.Length * EventResultNames.Count);
        foreach (var @class in EventClassNames.All)
        {
            for (var result = 0; result < EventResultNames.Count; result++)
            {
                var at = Index(@class, (EventResult)result);
                feed.Add(family.WithLabels(app, @class.Label(), ((EventResult)result).Label()), cells, at);
            }
        }

        return cells;
    }

    private static int Index(EventClass @class, EventResult result) => ((int)@class * EventResultNames.Count) + (int)result;
}
