using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>The hub's end of a link: what an edge says of its sessions becomes calls of the hub, those of each session in their order.</summary>
internal sealed class HubLink
{
    private readonly ConcurrentDictionary<long, HubSession> _sessions = new();
    private long _highest;

    public HubLink(ISessionEvents hub, TimeProvider time, ILogger log)
    {
        Hub = hub;
        Time = time;
        Log = log;
    }

    /// <summary>Who hears what the sessions say.</summary>
    public ISessionEvents Hub { get; }

    /// <summary>This node's clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>Log.</summary>
    public ILogger Log { get; }

    /// <summary>What goes to the edge.</summary>
    public LinkQueue Output { get; } = new();

    /// <summary>How many sessions the edge has here.</summary>
    public int Sessions => _sessions.Count;

    /// <summary>What an edge said that no edge says, found when its item's turn came; null = nothing. The output has ended then.</summary>
    public LinkFormatException? Fault { get; private set; }

    /// <summary>
    /// Takes an item; returns at once, whatever the hub has to wait for. Called by the one reader of the link. Throws <see cref="LinkFormatException"/> for what no edge says: then the
    /// link is to be ended.
    /// </summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var handle = reader.Number();
        if (kind == LinkItemKind.Opened)
        {
            Open(handle, reader);
        }
        else if (_sessions.TryGetValue(handle, out var session))
        {
            session.Receive(kind, members[^reader.Left..]);
        }
        else if (handle > _highest)
        {
            throw new LinkFormatException("an item is of a session that the link never had");
        }

        // Else it has ended: what an edge refused of it meanwhile does not matter.
    }

    /// <summary>The link is no more: the hub hears of the end of each session. To be called once the reader has ended.</summary>
    public void End()
    {
        Output.End();
        foreach (var (_, session) in _sessions)
        {
            session.Receive(LinkItemKind.Closed, default);
        }
    }

    /// <summary>The hub knows the session no longer.</summary>
    public void Forget(HubSession session) => _sessions.TryRemove(session.Handle, out _);

    /// <summary>Ends the link for something that was read late.</summary>
    public void Fail(LinkFormatException fault)
    {
        Fault = fault;
        Output.End();
    }

    private void Open(long handle, LinkReader reader)
    {
        var (call, key, state, age) = (reader.Number(), reader.Key(), reader.State(), reader.Age());
        reader.End();
        var session = new HubSession(this, handle, key);
        if (!_sessions.TryAdd(handle, session))
        {
            throw new LinkFormatException("a session is opened twice");
        }

        _highest = Math.Max(_highest, handle);
        session.Open(call, new SessionOpened(key, state, session, Time.GetUtcNow() - age));
    }
}
