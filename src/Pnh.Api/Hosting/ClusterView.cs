using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Operations;
using Pnh.Channels.Links;
using Pnh.Channels.WebSockets.Server;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Hosting;

/// <summary>The nodes of a hub's cluster as an operator sees them; a hub that takes no links is all of it. Thread-safe.</summary>
internal sealed class ClusterView
{
    /// <summary>For so long an edge without a link is shown: the pod that takes its place has another name.</summary>
    public static readonly TimeSpan ShownGone = TimeSpan.FromMinutes(10);

    private readonly string _name;
    private readonly Role _role;
    private readonly HubMetrics _metrics;
    private readonly WebSocketServer _sockets;
    private readonly LinkServer? _links;

    /// <param name="name">Of this node.</param>
    /// <param name="role">Of this node.</param>
    /// <param name="metrics">What this process takes.</param>
    /// <param name="sockets">What this node holds itself.</param>
    /// <param name="links">Its edges; null = it takes no links.</param>
    public ClusterView(string name, Role role, HubMetrics metrics, WebSocketServer sockets, LinkServer? links)
    {
        _name = name;
        _role = role;
        _metrics = metrics;
        _sockets = sockets;
        _links = links;
    }

    /// <summary>The nodes now.</summary>
    public ClusterBody Read()
    {
        var edges = (_links?.Nodes ?? []).Where(static node => node.GoneFor is not { } gone || gone < ShownGone).OrderBy(static node => node.Name, StringComparer.Ordinal).Select(ReadEdge);
        IReadOnlyList<NodeBody> nodes = [ReadHub(), .. edges];
        return new ClusterBody(nodes, Sum(nodes));
    }

    private NodeBody ReadHub()
    {
        var (use, sessions) = (_metrics.Use, _sockets.CountSessions());
        return new(
            _name, _role == Role.Hub ? "hub" : "all", ProgramVersion.Text, _links?.Links.Count ?? 0, sessions.Active + sessions.Background, sessions.Active,
            use.Served, use.Cpu.TotalSeconds, use.Cores, use.Memory, use.QFactor);
    }

    private static NodeBody ReadEdge(LinkedNode node)
    {
        var edge = new NodeBody(node.Name, "edge", node.Build, node.Links, null, null, null, null, null, null, null);
        return node.Status is not { } status ? edge with { Sessions = node.Links > 0 ? node.Sessions : null } : edge with
        {
            Sessions = status.Active + status.Background,
            ActiveSessions = status.Active,
            Served = status.Use.Served,
            CpuSeconds = status.Use.Cpu.TotalSeconds,
            Cores = status.Use.Cores,
            MemoryBytes = status.Use.Memory,
            QFactor = status.Use.QFactor,
        };
    }

    private static ClusterSum Sum(IReadOnlyList<NodeBody> nodes)
    {
        var hub = nodes[0];
        var cores = nodes.Sum(static node => node.Cores ?? 0);
        var served = (hub.QFactor * hub.Cores) ?? 0; // a second
        return new(
            1 + nodes.Skip(1).Count(static node => node.Links > 0),
            nodes.Sum(static node => node.Sessions ?? 0),
            nodes.Sum(static node => node.ActiveSessions ?? 0),
            hub.Served ?? 0,
            nodes.Sum(static node => node.CpuSeconds ?? 0),
            cores,
            nodes.Sum(static node => node.MemoryBytes ?? 0),
            cores > 0 ? served / cores : 0);
    }
}
