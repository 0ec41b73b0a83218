using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>What the hub says to a session: frames, questions, its end.</summary>
internal sealed partial class Session
{
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
            return new SessionContent(_state, TopicNames, _backlog.Held(_reporting));
        }
    }

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<string>?> SurrenderAsync(string session, long seq)
    {
        if (!IsThis(session))
        {
            return null;
        }

        await _reports.TakeTurnAsync(CancellationToken.None);
        try
        {
            return Acknowledge(seq) is null ? null : GiveAway();
        }
        finally
        {
            _reports.GiveTurn();
            Report();
        }
    }

    // In a turn: who would report its end finds that the hub needs none.
    private IReadOnlyList<string>? GiveAway()
    {
        ISessionTransport? transport;
        IReadOnlyList<string> topics;
        lock (this)
        {
            if (_end is not null)
            {
                return null;
            }

            transport = _transport;
            topics = TopicNames;
            _reports.Knows(SessionPresence.Gone);
            SetEnd(SessionClose.Replaced);
        }

        transport?.Close(SessionClose.Replaced);
        return topics;
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
