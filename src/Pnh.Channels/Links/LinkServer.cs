using System.Collections.Concurrent;
using System.Net.WebSockets;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>A hub's links: greets each, and carries it until it ends. Thread-safe.</summary>
internal sealed partial class LinkServer
{
    private const int MostNodes = 64;
    private readonly ConcurrentDictionary<string, LinkedEdge> _links = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<LinkedEdge, bool> _open = new();
    private readonly ConcurrentDictionary<string, LinkedNode> _nodes = new(StringComparer.Ordinal);
    private readonly LinkOrphans _orphans;
    private readonly ISessionEvents _hub;
    private readonly LinkHello _self;
    private readonly SessionPasses _passes;
    private readonly TimeProvider _time;
    private readonly ILogger<LinkServer> _log;
    private volatile bool _isStopping;

    /// <param name="hub">Hears what sessions say.</param>
    /// <param name="self">What this hub says of itself.</param>
    /// <param name="passes">Of sessions of edges.</param>
    /// <param name="time">Clock.</param>
    /// <param name="log">Log.</param>
    /// <param name="linger">How long sessions of a connection that broke wait for their edge to say them again; null = a minute.</param>
    public LinkServer(ISessionEvents hub, LinkHello self, SessionPasses passes, TimeProvider time, ILogger<LinkServer> log, TimeSpan? linger = null)
    {
        _orphans = new LinkOrphans(time, linger ?? TimeSpan.FromMinutes(1));
        Start = new LinkStart(time);
        Refusals = new LinkRefusals(time, log);
        _hub = hub;
        _self = self;
        _passes = passes;
        _time = time;
        _log = log;
    }

    /// <summary>What the start of the hub waits for, and what edges wait for at it.</summary>
    public LinkStart Start { get; }

    /// <summary>Links that were refused.</summary>
    public LinkRefusals Refusals { get; }

    /// <summary>Called with the names of the links that there are, after each change but at the stop. Must not throw.</summary>
    public Action<IReadOnlyCollection<string>> Changed { get; set; } = static _ => { };

    /// <summary>Called with the edge after each of its links was greeted; this and <see cref="Forgotten"/> one at a time. Must not throw.</summary>
    public Action<LinkedNode> Linked { get; set; } = static _ => { };

    /// <summary>Called with an edge that has been without a link for a while and is counted no longer. Must not throw.</summary>
    public Action<LinkedNode> Forgotten { get; set; } = static _ => { };

    /// <summary>Edges that are linked, and some that were.</summary>
    public IReadOnlyCollection<LinkedNode> Nodes => [.. _nodes.Values];

    /// <summary>Links that have been greeted, with what their edges said of themselves.</summary>
    public IReadOnlyList<(LinkHello Edge, int Sessions)> Links => [.. _links.Values.Select(static linked => (linked.Edge!, linked.Link.Sessions))];

    /// <summary>Serves one link until it ends. The caller owns the socket. Never throws for what an edge does.</summary>
    /// <param name="socket">The connection.</param>
    /// <param name="peer">Address of the other end.</param>
    /// <param name="keyName">Name of the key that it showed; null = the key has none, and an edge of a version without passes may show it.</param>
    /// <param name="takesWord">As <see cref="LinkDoor.TakesWord"/>.</param>
    public async Task RunAsync(WebSocket socket, string peer, string? keyName = null, bool takesWord = false)
    {
        var link = new HubLink(_hub, _passes, _time, _log) { Door = { TakesWord = takesWord } };
        using var carrier = new LinkSocket(socket, link.Output, _time);
        var linked = new LinkedEdge(link, carrier, peer, keyName);
        _open[linked] = true;
        using var late = carrier.ExpectHello(() => linked.Edge is not null);
        if (_isStopping)
        {
            link.Output.Complete();
        }

        link.Reopened = _orphans.Take;
        link.Synced = () => Sync(linked);
        using var noting = _time.CreateTimer(_ => _ = linked.NoteAsync(_hub), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        linked.Noting = noting;
        link.Reported = linked.NoteSoon;
        var why = await carrier.RunAsync((kind, members) => Receive(linked, kind, members));
        _orphans.Leave(linked);
        _open.TryRemove(linked, out _);
        if (linked.Edge is { } edge)
        {
            _links.TryRemove(new(linked.Name, linked));
            _nodes.GetValueOrDefault(edge.Node)?.Remove(linked);
            SayChanged();
            Log.Ended(_log, edge.Node, peer, link.Fault?.Message ?? why);
        }
        else if (!linked.IsRefused && !LinkSocket.IsGone(why))
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

    private void Sync(LinkedEdge linked)
    {
        _orphans.EndOlder(linked);
        Start.Synced(linked);
    }

    private void SayChanged()
    {
        if (_isStopping)
        {
            return;
        }

        lock (_links)
        {
            Changed([.. _links.Keys.Order(StringComparer.Ordinal)]);
        }
    }

    private void Receive(LinkedEdge linked, LinkItemKind kind, ReadOnlyMemory<byte> members)
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

    private void Greet(LinkedEdge linked, LinkHello edge)
    {
        var refusal = LinkRefusal.Of(_self, edge, linked.KeyName) ?? Outlive(linked, edge);
        if (refusal is not null)
        {
            Refuse(linked, refusal);
            refusal.Say(linked.Link.Output);
            return;
        }

        linked.Link.Output.Version = _self.VersionWith(edge);
        linked.Link.Door.Apps = edge.Apps;
        linked.Link.Door.HasPasses = linked.Link.Output.Version >= LinkHello.CarriesFrames;
        linked.Link.Door.Refused = refusal => Refusals.Note(linked.Peer, refusal with { Text = $"Edge {edge.Node}: {refusal.Text}" });
        Count(linked, edge);
        SayChanged();
        _self.Write(linked.Link.Output);
        Log.Greeted(_log, edge.Node, linked.Peer, string.Join(' ', edge.Apps), linked.KeyName is { } key ? $"key {key}" : "a key without a name");
    }

    // Pods have a new name each: those that are gone are not counted for ever.
    private void Count(LinkedEdge linked, LinkHello edge)
    {
        lock (_nodes)
        {
            foreach (var gone in _nodes.Count < MostNodes ? [] : _nodes.Values.Where(node => node.Links == 0 && node.Name != edge.Node))
            {
                _nodes.TryRemove(gone.Name, out _);
                Forgotten(gone);
            }

            var node = _nodes.GetOrAdd(edge.Node, name => new LinkedNode(name, _time));
            node.Add(linked);
            linked.Link.Status = node.Say;
            Linked(node);
        }
    }

    // Of two edges with one name the one that started last is believed, unless it shows another key than the one that is linked: a stolen key takes no other edge's place. Of one edge the newer connection: the older one broke, and this end has not noticed yet.
    private LinkRefusal? Outlive(LinkedEdge linked, LinkHello edge)
    {
        linked.StartedAt = edge.StartedAt(_time.GetUtcNow());
        var ofName = _links.Values.Where(other => other.Edge!.Node == edge.Node).ToList();
        if (ofName.Exists(other => other.KeyName != linked.KeyName))
        {
            return new("other-key", $"A node {edge.Node} is linked that has shown another key: give each edge a name of its own with Pnh:Node.");
        }

        var others = ofName.FindAll(other => other.Edge!.Incarnation != edge.Incarnation);
        if (others.Exists(other => other.StartedAt > linked.StartedAt))
        {
            return new("older-node", $"A node {edge.Node} that started later is linked: give each edge a name of its own with Pnh:Node.");
        }

        linked.Edge = edge;
        foreach (var other in others)
        {
            other.Carrier.Abort("a node of its name started later");
        }

        if (_links.TryGetValue(linked.Name, out var older))
        {
            linked.Link.Older = older.Edge!.Incarnation == edge.Incarnation ? older.Link : null;
            older.Carrier.Abort("the edge has a newer link in its place");
        }

        _links[linked.Name] = linked;
        return null;
    }

    private void Refuse(LinkedEdge linked, LinkRefusal refusal)
    {
        linked.IsRefused = true;
        Refusals.Note(linked.Peer, refusal);
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "Edge {Node} at {Peer} is linked; it holds sessions of {Apps} and has shown {Key}.", EventName = "EdgeLinked")]
        public static partial void Greeted(ILogger logger, string node, string peer, string apps, string key);

        [LoggerMessage(2, LogLevel.Warning, "A link of edge {Node} at {Peer} ended: {Why}.", EventName = "EdgeLinkEnded")]
        public static partial void Ended(ILogger logger, string node, string peer, string why);
    }
}
