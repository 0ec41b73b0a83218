using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// A device's logical stream, which outlives its connection. Knows no transport: a connection attaches itself and pulls frames when it can
/// write, which is when they get their seq. Thread-safe; nothing waits. A sender (a shard, holding its own lock) is never called back into
/// the hub. Its own lock, as the socket is: each object more is another miss of the cache for each frame. This part is what the client and its connection do.
/// </summary>
internal sealed partial class Session : ISessionLink, IThreadPoolWorkItem
{
    private readonly DateTimeOffset _since;
    private readonly SessionParts _parts;
    private readonly SessionReports _reports;

    private SessionBacklog _backlog;
    private ConnectionPeer _peer;
    private ISessionTransport? _transport;
    private volatile string? _reporting; // the event that has left the backlog and that the hub is told of now
    private SessionClose? _end;
    private bool _isDetached;
    private volatile SessionState _state;
    private SessionTopics? _topics; // null until the first join

    /// <param name="key">Session and device.</param>
    /// <param name="state">As in its hello.</param>
    /// <param name="since">When it said hello.</param>
    /// <param name="peer">The other end.</param>
    /// <param name="parts">What sessions share.</param>
    /// <param name="seq">The seq that its client has; of a session that another node gave away.</param>
    public Session(SessionKey key, SessionState state, DateTimeOffset since, ConnectionPeer peer, SessionParts parts, long seq = 0)
    {
        Key = key;
        _state = state;
        _since = since;
        _peer = peer;
        _parts = parts;
        _reports = new SessionReports(this, parts);
        _backlog = new SessionBacklog(parts.Options.QueueItems, parts.Options.QueueBytes, seq);
    }

    /// <summary>Session and device.</summary>
    public SessionKey Key { get; }

    /// <summary>As the client said last; set by its receive loop only.</summary>
    public SessionState State
    {
        get => _state;
        set => _state = value;
    }

    /// <summary>Its topics; made here when it had none yet.</summary>
    public SessionTopics Topics
    {
        get
        {
            lock (this)
            {
                return _topics ??= new SessionTopics(this, _parts);
            }
        }
    }

    /// <summary>The topics that it is in now.</summary>
    public IReadOnlyList<string> TopicNames => KnownTopics?.All ?? [];

    /// <summary>How it is now. Thread-safe.</summary>
    public SessionPresence Presence
    {
        get
        {
            lock (this)
            {
                return _end is not null ? SessionPresence.Gone : _isDetached ? SessionPresence.Offline : SessionPresence.Online;
            }
        }
    }

    /// <summary>True when <see cref="TryTake"/> may find something.</summary>
    public bool HasWaiting
    {
        get
        {
            lock (this)
            {
                return _end is null && _backlog.Waiting > 0;
            }
        }
    }

    /// <summary>The next frame to write; false = nothing, or another connection writes now. Called by the connection's one writer.</summary>
    public bool TryTake(ISessionTransport writer, DateTimeOffset now, out Outgoing next)
    {
        bool hasRoom;
        bool isTaken;
        int over;
        lock (this)
        {
            if (_end is not null || !ReferenceEquals(writer, _transport))
            {
                next = default;
                return false;
            }

            isTaken = _backlog.Take(now, out next, out over);
            hasRoom = _backlog.TakeRoom();
        }

        if (over > 0)
        {
            _parts.CountOver(over);
        }

        if (hasRoom)
        {
            // On another thread: who writes may be a sender of the hub's, under its gate.
            ThreadPool.UnsafeQueueUserWorkItem(static session => session._parts.Events.HasRoom(session.Key), this, preferLocal: false);
        }

        return isTaken;
    }

    /// <summary>
    /// Confirms everything up to <paramref name="seq"/> and tells the hub in that order. An old seq confirms nothing. Returns how many frames it
    /// confirmed; null = a seq that was never given. Called by receive loops only.
    /// </summary>
    public int? Acknowledge(long seq) => Acknowledge(seq, out _);

    /// <summary>The same; <paramref name="isOwed"/> = a client that acks each frame once says this much.</summary>
    public int? Acknowledge(long seq, out bool isOwed)
    {
        isOwed = false;
        var confirmed = 0;
        bool isMore;
        do
        {
            Frame? frame;
            lock (this)
            {
                if (_backlog.IsFuture(seq))
                {
                    return null;
                }

                isOwed |= confirmed == 0 && _backlog.TryUseAck();
                frame = _backlog.Confirm(seq);
                _reporting = frame?.Event is null ? null : frame.EventId;
                isMore = frame is not null && seq > _backlog.Confirmed;
            }

            confirmed += frame is null ? 0 : 1;
            if (frame?.Event is not null)
            {
                _parts.Events.Acked(Key, frame.EventId); // outside the lock: the hub may be sending to us under its own
            }
        }
        while (isMore);
        _reporting = null;
        if (confirmed > 0 && TakeRoom())
        {
            // All of it was of no event, such as withdrawals, or of none that the hub still has: what waits behind it would wait for an ack that never comes.
            _parts.Events.HasRoom(Key);
        }

        return confirmed;
    }

    /// <summary>When it said hello.</summary>
    public DateTimeOffset Since => _since;

    /// <summary>How it is now.</summary>
    public SessionSnapshot Snapshot()
    {
        lock (this)
        {
            return new SessionSnapshot(Key, _state, _since, _peer, _backlog.Sent, _backlog.Waiting, _backlog.Unacked);
        }
    }

    /// <summary>Adds itself to the sums, without allocating.</summary>
    public SessionTotals AddTo(in SessionTotals totals)
    {
        lock (this)
        {
            var isActive = _state == SessionState.Active;
            return totals with
            {
                Active = totals.Active + (isActive ? 1 : 0),
                Background = totals.Background + (isActive ? 0 : 1),
                Queued = totals.Queued + _backlog.Waiting,
                Unacked = totals.Unacked + _backlog.Unacked,
            };
        }
    }

    // A detached session takes no replay; the hub sends what waits with its resume.
    private bool TakeRoom()
    {
        lock (this)
        {
            return _end is null && !_isDetached && _backlog.TakeRoom();
        }
    }

    private SessionTopics? KnownTopics
    {
        get
        {
            lock (this)
            {
                return _topics;
            }
        }
    }
}
