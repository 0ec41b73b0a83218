using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// A device's logical stream, which outlives its connection. Knows no transport: a connection attaches itself and pulls frames when it can
/// write, which is when they get their seq. Thread-safe; nothing waits. A sender (a shard, holding its own lock) is never called back into
/// the hub. Its own lock, as the socket is: each object more is another miss of the cache for each frame. This part is what the hub and the connection do with frames.
/// </summary>
internal sealed partial class Session : ISessionLink, IThreadPoolWorkItem
{
    private readonly DateTimeOffset _since;
    private readonly SessionParts _parts;

    private SessionBacklog _backlog;
    private ConnectionPeer _peer;
    private ISessionTransport? _transport;
    private volatile string? _reporting; // the event that has left the backlog and that the hub is told of now
    private SessionClose? _end;
    private bool _isDetached;
    private volatile SessionState _state;

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

    /// <inheritdoc/>
    public bool TrySend(string session, Event accepted) => IsThis(session) && TryQueue(EventFrames.Of(accepted));

    /// <inheritdoc/>
    public bool TryReplay(string session, Event accepted) => IsThis(session) && TryQueue(EventFrames.Replaying(accepted));

    /// <summary>
    /// As the contract says; a session without a connection takes the event back too, so that a resume does not show it, and answers false all
    /// the same when the client may have it: what is on the screen has to be cleared on another way meanwhile.
    /// </summary>
    public bool TryWithdraw(string session, Withdrawal withdrawal)
    {
        if (!IsThis(session))
        {
            return false;
        }

        lock (this)
        {
            if (_end is not null)
            {
                return false;
            }

            var found = _backlog.Withdraw(withdrawal.Event, _isDetached);
            if (found != TakenBack.Seen)
            {
                return found == TakenBack.Unseen || !_isDetached;
            }

            if (_isDetached)
            {
                _backlog.Add(EventFrames.Of(withdrawal)); // for the resume, if there is room
                return false;
            }
        }

        return TryQueue(EventFrames.Of(withdrawal));
    }

    /// <inheritdoc/>
    public bool TryTellMissed(string session, MissedEvents missed) => IsThis(session) && _peer.HearsMissed && TryQueue(EventFrames.Of(missed));

    /// <inheritdoc/>
    public void Close(string session, SessionClose reason)
    {
        if (IsThis(session))
        {
            End(reason);
        }
    }

    /// <inheritdoc/>
    public void Prefetch(int step)
    {
        Core.Threads.Prefetch.Object(step == 0 ? _transport : null, lines: 4);
        (step == 0 ? null : _transport)?.Prefetch();
    }

    /// <inheritdoc/>
    public SessionContent Describe()
    {
        lock (this)
        {
            return new SessionContent(_state, _topics is null ? [] : [.. _topics], _backlog.Held(_reporting));
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

    private bool TryQueue(Frame frame)
    {
        ISessionTransport? transport;
        Queued queued;
        lock (this)
        {
            if (_end is not null || _isDetached)
            {
                return false;
            }

            transport = _transport;
            if (transport is not null && TryPass(transport, frame))
            {
                return true;
            }

            queued = _backlog.Add(frame);
        }

        switch (queued)
        {
            case Queued.Waiting:
                transport?.Wake();
                return true;
            case Queued.Full:
                End(SessionClose.SlowConsumer);
                return false;
            default:
                return false; // dropped, or it waits for acks
        }
    }

    // The common case, under one lock: nothing waits, and the connection writes at once.
    private bool TryPass(ISessionTransport transport, Frame frame)
    {
        if (!_backlog.MayPass(frame) || frame.IsExpired(_parts.Clock.GetUtcNow())
            || !transport.TryWrite(new Outgoing(frame, frame.HasSeq ? _backlog.NextSeq : 0, IsRepeat: false)))
        {
            return false;
        }

        _backlog.Written(frame);
        return true;
    }

    private bool IsThis(string session) => string.Equals(session, Key.Session, StringComparison.Ordinal);
}
