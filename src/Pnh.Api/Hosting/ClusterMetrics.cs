using System.Collections.Concurrent;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Channels.Links;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Hosting;

/// <summary>Exports what the hub sees of its cluster: nodes, links, what went over them and who was refused.</summary>
internal sealed class ClusterMetrics
{
    private readonly ConcurrentDictionary<string, long> _refused = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<LinkedNode, IReadOnlyList<IDisposable>> _nodes = new();
    private readonly ConcurrentDictionary<string, IDisposable> _builds = new(StringComparer.Ordinal);
    private readonly LinkServer _links;
    private readonly LinkMetrics _metrics;
    private readonly Role _role;

    public ClusterMetrics(LinkServer links, LinkMetrics metrics, Role role)
    {
        _links = links;
        _metrics = metrics;
        _role = role;
    }

    /// <summary>Exports from now on; before the first link.</summary>
    public void Begin()
    {
        _metrics.AddNodes(_role == Role.Hub ? "hub" : "all", ProgramVersion.Text, static () => 1);
        foreach (var reason in LinkRefusal.Reasons)
        {
            _metrics.AddRefusals(reason, () => _refused.GetValueOrDefault(reason));
        }

        _links.Refusals.Counted = reason => _refused.AddOrUpdate(reason, 1, static (_, count) => count + 1);
        _links.Linked = See;
        _links.Forgotten = Forget;
    }

    private void See(LinkedNode node)
    {
        lock (_nodes)
        {
            _nodes.GetOrAdd(node, static (node, metrics) =>
            [
                metrics.AddLinks(node.Name, "linked", () => node.Links),
                metrics.AddTraffic(node.Name, () => node.Traffic.BytesIn, () => node.Traffic.BytesOut, () => node.Traffic.Dropped),
            ], _metrics);
            var build = node.Build;
            _builds.GetOrAdd(build, (_, self) => self._metrics.AddNodes("edge", build, () => self._links.Nodes.Count(node => node.Links > 0 && node.Build == build)), this);
        }
    }

    private void Forget(LinkedNode node)
    {
        if (_nodes.TryRemove(node, out var registrations))
        {
            foreach (var registration in registrations)
            {
                registration.Dispose();
            }
        }
    }
}
