using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>What taking an event back found.</summary>
internal enum TakenBack
{
    /// <summary>It only waited: the client never had it, and there is nothing more to do.</summary>
    Unseen,

    /// <summary>The client has it, or may have it: it needs a withdraw frame.</summary>
    Seen,

    /// <summary>A withdraw frame waits already, or was written and will be repeated if need be.</summary>
    Already,
}

/// <summary>What a session does with its frames when the connection changes, or when an event is taken back.</summary>
internal partial struct SessionBacklog
{
    /// <summary>The connection is lost: what only the present moment wants does not wait for the next one.</summary>
    public void Detach()
    {
        _calls.RemoveAll(0, static (frame, _) => frame.IsMomentary);
        _others.RemoveAll(0, static (frame, _) => frame.IsMomentary);
    }

    /// <summary>On the next connection everything unacked is written again.</summary>
    public void Repeat()
    {
        Detach();
        _repeats = _unacked.Count;
        Trim();
    }

    /// <summary>
    /// Takes the event out of what waits and of what would be repeated; a seq that it had stays given. While detached nobody knows how much
    /// of what was written has arrived.
    /// </summary>
    public TakenBack Withdraw(string eventId, bool isDetached)
    {
        if ((Holds(_calls, eventId, isWithdrawal: true) ?? Holds(_unacked, eventId, isWithdrawal: true)) is not null)
        {
            return TakenBack.Already;
        }

        var isUnseen = false;
        if ((Holds(_calls, eventId, isWithdrawal: false) ?? Holds(_others, eventId, isWithdrawal: false)) is { } waited)
        {
            _calls.RemoveAll(eventId, IsOf);
            _others.RemoveAll(eventId, IsOf);
            isUnseen = !waited.IsReplay; // a replayed one may have been shown by an earlier session, or by a push
        }

        for (var place = isDetached ? 0 : _unacked.Count - _repeats; place < _unacked.Count; place++)
        {
            if (IsOf(_unacked[place], eventId))
            {
                isUnseen = !isDetached && !_unacked[place].IsReplay;
                _unacked.Replace(place, Frame.Void);
            }
        }

        Trim();
        return isUnseen ? TakenBack.Unseen : TakenBack.Seen;
    }

    // Written and not arrived: the same seq again, so that acks stay cumulative. An expired one leaves a gap that no ack reports.
    private bool Repeat(DateTimeOffset now, out Outgoing next)
    {
        while (_repeats > 0)
        {
            var place = _unacked.Count - _repeats;
            var frame = _unacked[place];
            next = new Outgoing(frame, _seq - _repeats + 1, IsRepeat: true);
            _repeats--;
            if (!frame.IsVoid && !frame.IsExpiredForRepeat(now))
            {
                OweAck();
                return true;
            }

            _unacked.Replace(place, Frame.Void);
            Trim();
        }

        next = default;
        return false;
    }

    // Oldest of all and void: nobody would ever ack it if nothing followed, and it would keep its room.
    private void Trim()
    {
        while (_unacked.Count > 0 && _unacked[0].IsVoid)
        {
            _unacked.Dequeue();
        }

        _repeats = Math.Min(_repeats, _unacked.Count);
    }

    private static Frame? Holds(in FrameQueue queue, string eventId, bool isWithdrawal)
    {
        for (var place = 0; place < queue.Count; place++)
        {
            var frame = queue[place];
            if (frame.IsWithdrawal == isWithdrawal && string.Equals(frame.EventId, eventId, StringComparison.Ordinal))
            {
                return frame;
            }
        }

        return null;
    }

    private static bool IsOf(Frame frame, string eventId) =>
        frame.Event is not null && string.Equals(frame.EventId, eventId, StringComparison.Ordinal);
}
