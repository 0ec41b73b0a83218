using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// How a session comes to a connection, loses it, gets another and ends. It belongs to one connection at most; what an older one still
/// says about its own end changes nothing.
/// </summary>
internal sealed partial class Session
{
    /// <summary>Its place among those without a connection; the table's own.</summary>
    internal LinkedListNode<SessionTable.Lingerer>? Lingering { get; set; }

    /// <summary>Tells the hub what it does not know yet of how the session is; never throws. Not for senders.</summary>
    public void Report() => _reports.Report();

    // The hub ended a session that no connection can report.
    void IThreadPoolWorkItem.Execute() => Report();

    /// <summary>True while this connection is the session's.</summary>
    public bool IsCarriedBy(ISessionTransport transport) => ReferenceEquals(Volatile.Read(ref _transport), transport);

    /// <summary>Gives the stream its connection; when it was ended meanwhile, closes that.</summary>
    public void Attach(ISessionTransport transport)
    {
        SessionClose? end;
        lock (this)
        {
            end = _end;
            if (_transport is null && end is null && !_isDetached)
            {
                _transport = transport;
                _parts.Sessions.Add(this);
            }
        }

        if (end is null)
        {
            transport.Wake(); // of a session that was taken over already it gets nothing
        }
        else
        {
            transport.Close(end);
        }
    }

    /// <summary>The connection goes: the session lingers or ends by the reason, unless it belongs to another one already. Then the hub hears of it.</summary>
    public void Leave(ISessionTransport transport, SessionClose reason)
    {
        lock (this)
        {
            // None yet: it goes before it had the session, which nobody can resume then.
            if (_end is null && (_transport is null ? !_isDetached : ReferenceEquals(_transport, transport)))
            {
                LingerOrEnd(reason);
            }
        }

        Report();
        if (_parts.Sessions.IsFull)
        {
            _parts.EndOverdue(); // by time they end with the sweep
        }
    }

    /// <summary>Ends the stream and closes its connection; the first reason stands. What is not acked is the hub's again.</summary>
    public void End(SessionClose reason)
    {
        ISessionTransport? transport;
        bool wasDetached;
        lock (this)
        {
            if (_end is not null)
            {
                return;
            }

            transport = _transport;
            wasDetached = _isDetached;
            SetEnd(reason);
        }

        transport?.Close(reason);
        if (wasDetached)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false); // no connection will report it, and the caller may hold its shard
        }
    }

    /// <summary>Nobody came back: ends it if it still has no connection, and tells the hub. Not for senders.</summary>
    public void EndLingering()
    {
        lock (this)
        {
            // A resume may have claimed it since it was found overdue: then it is that one's.
            if (_end is null && _isDetached && _transport is null)
            {
                SetEnd(SessionEnds.NotResumed);
            }
        }

        Report();
    }

    /// <summary>
    /// Gives the session to a new connection, from the old one if that still hangs: confirms up to <paramref name="seq"/>, asks the hub, and
    /// from <see cref="Attach"/> on repeats what is unacked. Returns the seq that the client has; null = not possible (ended, a seq that was
    /// never given, or the hub knows it no more).
    /// </summary>
    public async ValueTask<long?> TryResumeAsync(ISessionTransport transport, ConnectionPeer peer, long seq, SessionState state, ClientIdentity identity, CancellationToken cancellationToken)
    {
        await _reports.TakeTurnAsync(cancellationToken);
        try
        {
            if (!TryClaim(transport, peer, seq))
            {
                return null;
            }

            _reports.TellDetached();
            KnownTopics?.LeaveForbidden(identity);
            Acknowledge(seq);
            var confirmed = PrepareRepeat(state);
            if (await _parts.Events.ResumedAsync(Key, state, _parts.CameAt(transport), cancellationToken))
            {
                _reports.Knows(SessionPresence.Online);
                return confirmed;
            }

            Abandon(SessionClose.Replaced);
            return null;
        }
        catch
        {
            Abandon(SessionClose.HubError);
            throw;
        }
        finally
        {
            _reports.GiveTurn();
            Report();
        }
    }

    private void LingerOrEnd(SessionClose reason)
    {
        if (_transport is not null && SessionEnds.IsOutlived(reason))
        {
            _backlog.Detach();
            if (_parts.Sessions.TryLinger(this, _backlog.Bytes))
            {
                _transport = null;
                _isDetached = true;
                return;
            }
        }

        SetEnd(reason);
    }

    /// <summary>True when a connection carries it that came after this one.</summary>
    public bool HasNewer(ISessionTransport than) => Volatile.Read(ref _transport)?.AcceptedAt > than.AcceptedAt;

    private bool TryClaim(ISessionTransport transport, ConnectionPeer peer, long seq)
    {
        ISessionTransport? older;
        lock (this)
        {
            if (_end is not null || _backlog.IsFuture(seq))
            {
                return false;
            }

            older = _transport;
            _transport = transport;
            _isDetached = true;
            _peer = peer;
            _parts.Sessions.Return(this);
        }

        older?.Close(SessionClose.Replaced);
        return true;
    }

    // Before the hub hears of it: what it sends from inside the call is taken.
    private long PrepareRepeat(SessionState state)
    {
        lock (this)
        {
            _isDetached = false;
            _state = state;
            _backlog.Repeat();
            return _backlog.Confirmed;
        }
    }

    // The connection goes on without the session.
    private void Abandon(SessionClose reason)
    {
        lock (this)
        {
            _transport = null;
            if (_end is null)
            {
                SetEnd(reason);
            }
        }
    }

    private void SetEnd(SessionClose reason)
    {
        _end = reason;
        _isDetached = false;
        _backlog.Clear();
        _parts.Sessions.Remove(this);
    }
}
