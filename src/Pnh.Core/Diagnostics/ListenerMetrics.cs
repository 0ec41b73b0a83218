using Pnh.Core.Diagnostics.Exposition;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>The connections of each listener: how many there are, may be, had to make room, and were refused. Thread-safe.</summary>
public sealed class ListenerMetrics
{
    private readonly ReadingFamily _connections;
    private readonly ReadingFamily _limit;
    private readonly ReadingFamily _evicted;
    private readonly ReadingFamily _refused;

    /// <summary>Adds the families.</summary>
    public ListenerMetrics(CollectorRegistry registry)
    {
        var feed = new CollectFeed(registry);
        _connections = feed.Gauges("pnh_connections", "Connections that a listener has accepted and that are open.", Fold.Sum, "listener");
        _limit = feed.Gauges("pnh_connections_limit", "Connections that a listener may have open, of the files that the process may.", Fold.Sum, "listener");
        _evicted = feed.CounterReadings("pnh_connections_evicted_total", "Idle connections that had to make room for others.", "listener");
        _refused = feed.CounterReadings("pnh_connections_refused_total", "Connections closed as they came.", "listener", "reason");
    }

    /// <summary>Exports a listener. The callbacks must be quick.</summary>
    public void Add(string listener, int limit, Func<long> connections, Func<long> evicted, IEnumerable<(string Reason, Func<long> Count)> refused)
    {
        ArgumentNullException.ThrowIfNull(refused);
        _ = _connections.Add(() => connections(), listener);
        _ = _limit.Add(() => limit, listener);
        _ = _evicted.Add(() => evicted(), listener);
        foreach (var (reason, count) in refused)
        {
            _ = _refused.Add(() => count(), listener, reason);
        }
    }
}
