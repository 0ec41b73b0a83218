using Pnh.Core.Diagnostics.Exposition;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>The links between a hub and its edges, as this end sees them. Thread-safe.</summary>
public sealed class LinkMetrics
{
    private readonly ReadingFamily _links;
    private readonly ReadingFamily _bytes;
    private readonly ReadingFamily _dropped;
    private readonly ReadingFamily _refused;
    private readonly ReadingFamily _nodes;

    /// <summary>Adds the families.</summary>
    public LinkMetrics(CollectorRegistry registry)
    {
        var feed = new CollectFeed(registry);
        _links = feed.Gauges("pnh_links", "Links to the node: linked, or broken while sessions wait for them.", Fold.Sum, "node", "state");
        _bytes = feed.CounterReadings("pnh_link_bytes_total", "Bytes of items over the node's links, in or out.", "node", "direction");
        _dropped = feed.CounterReadings("pnh_link_dropped_total", "Events that a link dropped, a session each: transient ones while as much waited as may (queue-full), and what the edge did not write since its time was over (over).", "node", "reason");
        _refused = feed.CounterReadings("pnh_link_refused_total", "Links that were refused.", "reason");
        _nodes = feed.Gauges("pnh_nodes", "Nodes of the cluster as the hub sees them, itself included.", Fold.Sum, "role", "version");
    }

    /// <summary>Exports how many links to the node there are in a state, until disposed. The callback must be quick.</summary>
    public IDisposable AddLinks(string node, string state, Func<int> count) => _links.Add(() => count(), node, state);

    /// <summary>Exports what went over the node's links, until disposed. The callbacks must be quick.</summary>
    public IDisposable AddTraffic(string node, Func<long> bytesIn, Func<long> bytesOut, Func<long> dropped, Func<long> over) => new Registrations(
        _bytes.Add(() => bytesIn(), node, "in"), _bytes.Add(() => bytesOut(), node, "out"), _dropped.Add(() => dropped(), node, "queue-full"), _dropped.Add(() => over(), node, "over"));

    /// <summary>Exports how often links were refused for a reason. The callback must be quick.</summary>
    public IDisposable AddRefusals(string reason, Func<long> count) => _refused.Add(() => count(), reason);

    /// <summary>Exports how many nodes of a role and version there are. The callback must be quick.</summary>
    public IDisposable AddNodes(string role, string version, Func<int> count) => _nodes.Add(() => count(), role, version);
}
