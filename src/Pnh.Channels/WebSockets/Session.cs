using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets;

/// <summary>
/// A device's logical stream. Knows no transport: a connection attaches itself and pulls frames when it can write, which is when they get
/// their seq. Thread-safe; nothing waits. A sender (a shard, holding its own lock) is never called back into the hub.
/// </summary>
internal sealed class Session : ISessionLink
{
    private readonly Lock _gate = new();
    private readonly DateTimeOffset _since;
    private readonly ConnectionPeer _peer;

    private SessionBacklog _backlog;
    private ISessionTransport? _transport;
    private SessionClose? _end;
    private int _reported;
    private volatile SessionState _state;

    public Session(SessionKey key, SessionState state, DateTimeOffset since, ConnectionPeer peer, WebSocketServerOptions options)
    {
        Key = key;
        _state = state;
        _since = since;
        _peer = peer;
        _backlog = new SessionBacklog(options.QueueItems, options.QueueBytes);
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
            lock (_gate)
            {
                return _end is null && _backlog.Waiting > 0;
            }
        }
    }

    /// <inheritdoc/>
    public bool TrySend(string session, Event accepted) => IsThis(session) && TryQueue(EventFrames.Of(accepted));

    /// <inheritdoc/>
    public bool TryReplay(string session, Event accepted) => IsThis(session) && TryQueue(EventFrames.Replaying(accepted));

    /// <inheritdoc/>
    public void Close(string session, SessionClose reason)
    {
        if (IsThis(session))
        {
            End(reason);
        }
    }

    /// <inheritdoc/>
    public bool TryWithdraw(string session, Withdrawal withdrawal) => false;

    /// <summary>Takes an event back: out of what waits, else by a withdraw frame behind it. False when the session is gone or too slow.</summary>
    public bool TryWithdraw(Event accepted, string reason)
    {
        lock (_gate)
        {
            if (_end is null && _backlog.Remove(accepted))
            {
                return true;
            }
        }

        return TryQueue(EventFrames.Withdrawing(accepted, reason));
    }

    /// <summary>Gives the stream its connection; when it was ended meanwhile, closes that.</summary>
    public void Attach(ISessionTransport transport)
    {
        SessionClose? end;
        lock (_gate)
        {
            _transport = transport;
            end = _end;
        }

        if (end is null)
        {
            transport.Wake();
        }
        else
        {
            transport.Close(end);
        }
    }

    /// <summary>The next frame to write and its seq; false = nothing. Called by the connection's one writer.</summary>
    public bool TryTake(DateTimeOffset now, out Frame frame, out long seq)
    {
        lock (_gate)
        {
            seq = 0;
            var next = _end is null ? _backlog.Take(now, out seq) : null;
            frame = next!;
            return next is not null;
        }
    }

    /// <summary>
    /// Confirms everything up to <paramref name="seq"/> and tells the hub in that order. An old seq confirms nothing. Returns how many frames it
    /// confirmed; null = a seq that was never given. Called by the receive loop only.
    /// </summary>
    public int? Acknowledge(long seq, ISessionEvents events)
    {
        var confirmed = 0;
        while (true)
        {
            Frame? frame;
            lock (_gate)
            {
                if (_backlog.IsFuture(seq))
                {
                    return null;
                }

                frame = _backlog.Confirm(seq);
            }

            if (frame is null)
            {
                return confirmed;
            }

            confirmed++;
            if (!frame.IsWithdrawal)
            {
                events.Acked(Key, frame.Event.Id); // outside the lock: the hub may be sending to us under its own
            }
        }
    }

    /// <summary>Ends the stream and closes its connection; the first reason stands. What is not acked is the hub's again.</summary>
    public void End(SessionClose reason)
    {
        ISessionTransport? transport;
        lock (_gate)
        {
            if (_end is not null)
            {
                return;
            }

            _end = reason;
            _backlog.Clear();
            transport = _transport;
        }

        transport?.Close(reason);
    }

    /// <summary>Tells the hub that the session is gone; once, however often it is called. Not for senders.</summary>
    public void ReportClosed(ISessionEvents events)
    {
        if (Interlocked.Exchange(ref _reported, 1) == 0)
        {
            events.Closed(Key);
        }
    }

    /// <summary>How it is now.</summary>
    public SessionSnapshot Snapshot()
    {
        lock (_gate)
        {
            return new SessionSnapshot(Key, _state, _since, _peer, _backlog.Sent, _backlog.Waiting, _backlog.Unacked);
        }
    }

    /// <summary>Adds itself to the sums, without allocating.</summary>
    public SessionTotals AddTo(in SessionTotals totals)
    {
        lock (_gate)
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

    private bool TryQueue(Frame frame)
    {
        ISessionTransport? transport;
        Queued queued;
        lock (_gate)
        {
            if (_end is not null)
            {
                return false;
            }

            queued = _backlog.Add(frame);
            transport = _transport;
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
                return false; // dropped, or a replay that waits for acks
        }
    }

    private bool IsThis(string session) => string.Equals(session, Key.Session, StringComparison.Ordinal);
}
