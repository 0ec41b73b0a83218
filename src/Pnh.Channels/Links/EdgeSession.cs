using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// A session that this edge holds, as its link has it. In one process a shard hears of a refusal before it sends again; over a link younger events may be on their way. So a durable event
/// that was not taken gets a number, and everything younger is refused too until the hub says <see cref="LinkItemKind.GoOn"/> to the newest of these numbers. Thread-safe. Its own lock.
/// </summary>
internal sealed class EdgeSession
{
    private readonly LinkQueue _output;
    private long _lastRefusal;
    private bool _isRefusing;
    private bool _hasAcked;
    private bool _isOwedRoom;

    public EdgeSession(SessionOpened opened, long handle, EdgeLink link)
    {
        Key = opened.Key;
        Way = opened.Link;
        Handle = handle;
        Link = link;
        _output = link.Output;
    }

    /// <summary>Session and device.</summary>
    public SessionKey Key { get; }

    /// <summary>Its number on the link.</summary>
    public long Handle { get; }

    /// <summary>The link that carries it.</summary>
    public EdgeLink Link { get; }

    /// <summary>The way to it, on this node.</summary>
    public ISessionLink Way { get; }

    /// <summary>Asks for the memory that events for these sessions will touch, as <see cref="ISessionLink.Prefetch"/> says.</summary>
    public static void Prefetch(ReadOnlySpan<EdgeSession> block)
    {
        foreach (var session in block)
        {
            Core.Threads.Prefetch.Object(session, lines: 2);
        }

        foreach (var session in block)
        {
            Core.Threads.Prefetch.Object(session.Way, lines: 4);
        }

        for (var step = 0; step < ISessionLink.PrefetchSteps; step++)
        {
            foreach (var session in block)
            {
                session.Way.Prefetch(step);
            }
        }
    }

    /// <summary>Begins an item about it.</summary>
    public LinkItem Begin(LinkItemKind kind)
    {
        var item = _output.Begin(kind);
        item.Members.Number(Handle);
        return item;
    }

    /// <summary>An item without further members.</summary>
    public void Tell(LinkItemKind kind) => Begin(kind).Dispose();

    /// <summary>Gives the session an event of the hub.</summary>
    public void Give(Event accepted, bool isReplay)
    {
        // Under the lock, so that the refusal is on its way before the next ack, with which the hub goes on.
        lock (this)
        {
            if (_isRefusing)
            {
                // Sent before the hub heard that an older one was refused. It has a number of its own: what the hub sends before it hears of this one too is refused as well.
                _isOwedRoom |= _hasAcked;
                Refuse(accepted.Id, ++_lastRefusal);
            }
            else if (!(isReplay ? Way.TryReplay(Key.Session, accepted) : Way.TrySend(Key.Session, accepted)))
            {
                _isRefusing = accepted.IsDurable;
                (_hasAcked, _isOwedRoom) = (false, false);
                Refuse(accepted.Id, accepted.IsDurable ? ++_lastRefusal : 0);
            }
        }
    }

    /// <summary>The hub takes an event back.</summary>
    public void Withdraw(Withdrawal withdrawal)
    {
        if (!Way.TryWithdraw(Key.Session, withdrawal))
        {
            Refuse(withdrawal.Event, 0);
        }
    }

    /// <summary>The hub has heard of a refusal. What it sent on an ack meanwhile was refused too, and no other ack may come: so it is asked to send again.</summary>
    public void GoOn(long heard)
    {
        lock (this)
        {
            if (!_isRefusing || _lastRefusal != heard)
            {
                return;
            }

            _isRefusing = false;
            if (_isOwedRoom)
            {
                Tell(LinkItemKind.HasRoom);
            }
        }
    }

    /// <summary>The client has the event.</summary>
    public void Acked(string eventId)
    {
        lock (this)
        {
            using (var item = Begin(LinkItemKind.Acked))
            {
                item.Members.Text(eventId);
            }

            _hasAcked = true;
        }
    }

    /// <summary>The session takes a replay now.</summary>
    public void HasRoom()
    {
        lock (this)
        {
            Tell(LinkItemKind.HasRoom);
            _hasAcked = true;
        }
    }

    /// <summary>An event was not taken. 0 = nothing younger has to wait.</summary>
    public void Refuse(string eventId, long refusal)
    {
        using var item = Begin(LinkItemKind.Refused);
        item.Members.Text(eventId).Number(refusal);
    }
}
