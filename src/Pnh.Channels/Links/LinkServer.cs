using System.Collections.Concurrent;
using System.Net.WebSockets;
using Microsoft.Extensions.Logging;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>A hub's links: greets each, and carries it until it ends. Thread-safe.</summary>
internal sealed partial class LinkServer
{
    private static readonly TimeSpan HelloWithin = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private readonly ConcurrentDictionary<(string Node, int Place), Linked> _links = new();
    private readonly ConcurrentDictionary<Linked, bool> _open = new();
    private readonly ConcurrentDictionary<(string Reason, string Peer), long> _said = new();
    private readonly ISessionEvents _hub;
    private readonly LinkHello _self;
    private readonly TimeProvider _time;
    private readonly ILogger<LinkServer> _log;
    private volatile bool _isStopping;

    /// <param name="hub">Hears what sessions say.</param>
    /// <param name="self">What this hub says of itself.</param>
    /// <param name="time">Clock.</param>
    /// <param name="log">Log.</param>
    public LinkServer(ISessionEvents hub, LinkHello self, TimeProvider time, ILogger<LinkServer> log)
    {
        _hub = hub;
        _self = self;
        _time = time;
        _log = log;
    }

    /// <summary>Called with the reason of each link that was refused, and of each that ended for a fault of its edge. Must not wait or throw.</summary>
    public Action<string> Refused { get; set; } = static _ => { };

    /// <summary>Links that have been greeted, with what their edges said of themselves.</summary>
    public IReadOnlyList<(LinkHello Edge, int Sessions)> Links => [.. _links.Values.Select(static linked => (linked.Edge!, linked.Link.Sessions))];

    /// <summary>Serves one link until it ends. The caller owns the socket. Never throws for what an edge does.</summary>
    public async Task RunAsync(WebSocket socket, string peer)
    {
        var link = new HubLink(_hub, _time, _log);
        using var carrier = new LinkSocket(socket, link.Output, _time);
        var linked = new Linked(link, carrier, peer);
        _open[linked] = true;
        using var late = _time.CreateTimer(_ => EndUnlessGreeted(linked), null, HelloWithin, Timeout.InfiniteTimeSpan);
        if (_isStopping)
        {
            link.Output.Complete();
        }

        var why = await carrier.RunAsync((kind, members) => Receive(linked, kind, members));
        link.End();
        _open.TryRemove(linked, out _);
        if (linked.Edge is { } edge)
        {
            _links.TryRemove(new(KeyOf(edge), linked));
            Log.Ended(_log, edge.Node, peer, link.Fault?.Message ?? why);
        }
        else if (!linked.IsRefused)
        {
            Refuse(linked, new("no-hello", why));
        }
    }

    /// <summary>Says goodbye to all links, once what was said to their edges has left.</summary>
    public void Stop()
    {
        _isStopping = true;
        foreach (var (linked, _) in _open)
        {
            linked.Link.Output.Complete();
        }
    }

    /// <summary>Counts a link that was not even accepted, and says so once a minute.</summary>
    public void NoteRefusal(string peer, LinkRefusal refusal)
    {
        Refused(refusal.Reason);
        var now = _time.GetTimestamp();
        if (_said.TryGetValue((refusal.Reason, peer), out var last) && _time.GetElapsedTime(last, now) < Minute)
        {
            return;
        }

        if (_said.Count > 1_000)
        {
            _said.Clear(); // of as many peers the lines come sooner again
        }

        _said[(refusal.Reason, peer)] = now;
        Log.Refused(_log, peer, refusal.Reason, refusal.Text);
    }

    private static (string Node, int Place) KeyOf(LinkHello edge) => (edge.Node, edge.Place);

    private void Receive(Linked linked, LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        if (linked.Edge is not null)
        {
            linked.Link.Receive(kind, members);
        }
        else if (kind != LinkItemKind.Hello)
        {
            throw new LinkFormatException("the first item is no hello");
        }
        else if (!linked.IsRefused)
        {
            Greet(linked, LinkHello.Read(members));
        }
    }

    private void Greet(Linked linked, LinkHello edge)
    {
        var refusal = LinkRefusal.Of(_self, edge) ?? Outlive(linked, edge);
        if (refusal is not null)
        {
            Refuse(linked, refusal);
            using (var item = linked.Link.Output.Begin(LinkItemKind.NotLinked))
            {
                item.Members.Text(refusal.Reason).Text(refusal.Text);
            }

            linked.Link.Output.Complete();
            return;
        }

        linked.Edge = edge;
        _self.Write(linked.Link.Output);
        Log.Greeted(_log, edge.Node, linked.Peer, string.Join(' ', edge.Apps));
    }

    // Of two edges with one name the one that started last is believed; of one edge the newer connection: the older one broke, and this end has not noticed yet.
    private LinkRefusal? Outlive(Linked linked, LinkHello edge)
    {
        if (_links.Values.Any(other => other.Edge!.Node == edge.Node && other.Edge.Incarnation > edge.Incarnation))
        {
            return new("older-node", $"A node {edge.Node} that started later is linked: give each edge a name of its own with Pnh:Node.");
        }

        linked.Edge = edge;
        foreach (var other in _links.Values.Where(other => other.Edge!.Node == edge.Node && other.Edge.Incarnation < edge.Incarnation))
        {
            other.Carrier.Abort("a node of its name started later");
        }

        if (_links.TryGetValue(KeyOf(edge), out var older))
        {
            older.Carrier.Abort("the edge has a newer link in its place");
        }

        _links[KeyOf(edge)] = linked;
        return null;
    }

    private static void EndUnlessGreeted(Linked linked)
    {
        if (linked.Edge is null)
        {
            linked.Carrier.Abort("no hello within 5 s");
        }
    }

    private void Refuse(Linked linked, LinkRefusal refusal)
    {
        linked.IsRefused = true;
        NoteRefusal(linked.Peer, refusal);
    }

    /// <summary>A connection, and who is behind it.</summary>
    private sealed class Linked(HubLink link, LinkSocket carrier, string peer)
    {
        public HubLink Link { get; } = link;

        public LinkSocket Carrier { get; } = carrier;

        public string Peer { get; } = peer;

        /// <summary>Null = not greeted (yet).</summary>
        public volatile LinkHello? Edge;

        public bool IsRefused { get; set; }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "Edge {Node} at {Peer} is linked; it holds sessions of {Apps}.", EventName = "EdgeLinked")]
        public static partial void Greeted(ILogger logger, string node, string peer, string apps);

        [LoggerMessage(2, LogLevel.Warning, "A link of edge {Node} at {Peer} ended: {Why}.", EventName = "EdgeLinkEnded")]
        public static partial void Ended(ILogger logger, string node, string peer, string why);

        [LoggerMessage(3, LogLevel.Warning, "A link from {Peer} was refused: {Reason}. {Text}", EventName = "EdgeLinkRefused")]
        public static partial void Refused(ILogger logger, string peer, string reason, string text);
    }
}
