using System.Collections.Concurrent;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Hosting;

/// <summary>Exports what the hub sees of its cluster: nodes, links, what went over them and who was refused.</summary>
internal sealed class ClusterMetrics
{
    private readonly ConcurrentDictionary<string, long> _refused = new(StringComparer.Ordinal);
    private readonly Dictionary<LinkedNode, IReadOnlyList<IDisposable>> _nodes = [];
    private readonly HashSet<string> _builds = new(StringComparer.Ordinal);
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
            _refused[reason] = 0;
            _metrics.AddRefusals(reason, () => _refused[reason]);
        }

        _links.Refusals.Counted = reason => _refused.AddOrUpdate(reason, 1, static (_, count) => count + 1);
        _links.Linked = See;
        _links.Forgotten = Forget;
    }

    // The server calls this and the next one at a time.
    private void See(LinkedNode node)
    {
        if (!_nodes.ContainsKey(node))
        {
            _nodes.Add(node,
            [
                _metrics.AddLinks(node.Name, "linked", () => node.Links),
                _metrics.AddTraffic(node.Name, () => node.Traffic.BytesIn, () => node.Traffic.BytesOut, () => node.Traffic.Dropped, () => node.Over),
            ]);
        }

        var build = node.Build;
        if (_builds.Add(build))
        {
            _metrics.AddNodes("edge", build, () => _links.Nodes.Count(node => node.Links > 0 && node.Build == build));
        }
    }

    private void Forget(LinkedNode node)
    {
        if (_nodes.Remove(node, out var registrations))
        {
            foreach (var registration in registrations)
            {
                registration.Dispose();
            }
        }
    }
}
