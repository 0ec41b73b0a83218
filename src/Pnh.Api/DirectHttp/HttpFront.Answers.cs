using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.DirectHttp;

/// <summary>Sending answers, and what is due when.</summary>
internal sealed partial class HttpFront
{
    /// <summary>No answer is under way: the loop's thread owns everything.</summary>
    private const int Free = 0;

    /// <summary>An answer is under way.</summary>
    private const int Busy = 1;

    /// <summary>An answer is under way, and bytes of the next request wait with reading paused.</summary>
    private const int Waiting = 2;

    /// <summary>An answer is under way, and it is the last, because the client sends no more.</summary>
    private const int Ending = 3;

    // As Kestrel's own (its default, and what HubHost sets): whole heads in 10 s, 130 s between requests, bodies at 240 B/s after 5 s.
    private const int HeadSeconds = 10;
    private const int IdleSeconds = 130;
    private const int BodyGraceSeconds = 5;
    private const int BodyBytesPerSecond = 240;

    // What a client may take to read an answer of some 200 bytes, or to close after its last one.
    private const int AnswerSeconds = 10;
    private const int LeaveSeconds = 5;

    private byte[]? _unsent;
    private int _state;
    private int _arrived;
    private int _windowFrom;
    private int _since;
    private volatile bool _isLast;
    private volatile Phase _phase;

    private enum Phase
    {
        Idle,
        Head,
        Body,
        Serving,
        Sending,
        Leaving,
    }

    // Half a head, or an answer that is its last, keeps no place either.
    private bool IsIdle => Volatile.Read(ref _state) == Free && _phase is Phase.Idle or Phase.Head or Phase.Leaving;

    // Not after an upgrade; what was posted before may run after it. By the loop's thread.
    private bool IsOurs => ReferenceEquals(_socket!.Client, this);

    private bool IsLastAnswer => _isLast || _fronts.IsStopping;

    /// <inheritdoc/>
    public void HasRoom(LoopSocket socket)
    {
        if (_unsent is { } unsent)
        {
            _unsent = null;
            Answer(socket, unsent);
        }
    }

    /// <inheritdoc/>
    public bool Ended(LoopSocket socket) => Interlocked.CompareExchange(ref _state, Ending, Busy) != Free;

    /// <summary>True when the time of what it is at may be up. Thread-safe; <see cref="LookLater"/> makes sure.</summary>
    public bool IsOverdue(int now) => now - Volatile.Read(ref _since) > _phase switch
    {
        Phase.Head => HeadSeconds,
        Phase.Body => BodyGraceSeconds,
        Phase.Sending => AnswerSeconds,
        Phase.Leaving => LeaveSeconds,
        Phase.Serving => int.MaxValue,
        _ => IdleSeconds,
    };

    /// <summary>Lets the loop look whether time is up or the listener stops. Thread-safe.</summary>
    public void LookLater() => _socket!.Loop.Post(Look);

    /// <summary>Ends it, unless it has become a WebSocket. Thread-safe.</summary>
    public void Abort() => _socket!.Loop.Post(End);

    /// <inheritdoc/>
    public GiveUp TryGiveUp(bool alsoKnown)
    {
        // Null: accepted in this turn, and not opened yet.
        if (_socket is null || !IsIdle)
        {
            return GiveUp.Busy;
        }

        if (_sender.Caller is not null && !alsoKnown)
        {
            return GiveUp.Known;
        }

        _socket.Loop.Post(MakeRoom);
        return GiveUp.Going;
    }

    // By the loop's thread: a client that has sent a request meanwhile stays.
    private void MakeRoom()
    {
        if (IsOurs && IsIdle)
        {
            _socket!.Close();
        }
        else
        {
            _socket!.Stay();
        }
    }

    private void End()
    {
        if (IsOurs)
        {
            _socket!.Abort();
        }
    }

    private void Look()
    {
        if (!IsOurs)
        {
            return;
        }

        if (_phase == Phase.Idle && (_fronts.IsStopping || IsOverdue(_fronts.Now)))
        {
            _socket!.Close();
        }
        else if (IsOverdue(_fronts.Now))
        {
            TimeOut(_socket!);
        }
    }

    private void TimeOut(LoopSocket socket)
    {
        switch (_phase)
        {
            case Phase.Head:
                Leave(socket, HttpAnswer.Of(StatusCodes.Status408RequestTimeout, _fronts.DateLine));
                break;
            case Phase.Body when _arrived - _windowFrom >= BodyBytesPerSecond * (_fronts.Now - _since):
                _windowFrom = _arrived;
                Begin(); // the next window: a mean would let a client that sent fast stall for long
                break;
            case Phase.Body:
                Leave(socket, HttpAnswer.Of(new Problems.Problem(Problems.ProblemCatalogue.RequestTimeout), _fronts.DateLine, isLast: true));
                break;
            case Phase.Sending or Phase.Leaving:
                socket.Abort();
                break;
        }
    }

    // By the owner. What the kernel does not take goes when there is room; until then nothing more is read.
    private void Answer(LoopSocket socket, ReadOnlySpan<byte> answer)
    {
        var sent = socket.Send(answer);
        if (sent == answer.Length)
        {
            Answered(socket);
        }
        else if (sent < 0)
        {
            socket.Abort();
        }
        else
        {
            _unsent = answer[sent..].ToArray();
            Enter(Phase.Sending);
            Interlocked.CompareExchange(ref _state, Busy, Free);
            socket.AwaitRoom();
        }
    }

    private void Answered(LoopSocket socket)
    {
        var isLast = IsLastAnswer;
        Enter(isLast ? Phase.Leaving : Phase.Idle);
        if (isLast)
        {
            socket.EndSending();
        }

        if (Volatile.Read(ref _state) != Free)
        {
            GiveBack(socket);
        }
    }

    /// <summary>The publisher who sent on though it was refused is read again. Thread-safe; follows a hold.</summary>
    public void Release() => GiveBack(_socket!);

    // As if an answer were under way: what arrives stays unread. By the loop's thread; a slow reader of the answer holds itself back.
    private void Hold()
    {
        if (Volatile.Read(ref _state) == Free && _phase == Phase.Idle)
        {
            Volatile.Write(ref _state, Busy);
            if (!_parts.Holds.TryHold(this, ++_refusals))
            {
                Volatile.Write(ref _state, Free);
            }
        }
    }

    // After the exchange the loop's thread may be at the next request.
    private void GiveBack(LoopSocket socket)
    {
        switch (Interlocked.Exchange(ref _state, Free))
        {
            case Waiting:
                socket.ResumeReading();
                break;
            case Ending:
                socket.Close();
                break;
        }
    }

    // RFC 9112 section 9.6: closing at once could reset the connection before the client has read the answer.
    private void Leave(LoopSocket socket, ReadOnlySpan<byte> answer)
    {
        socket.Send(answer);
        socket.EndSending();
        Enter(Phase.Leaving);
    }

    // True while an answer is under way: then nothing more is read until it is sent.
    private bool MustWait(LoopSocket socket)
    {
        if (Volatile.Read(ref _state) == Free || Interlocked.CompareExchange(ref _state, Waiting, Busy) == Free)
        {
            return false;
        }

        socket.PauseReading();
        return true;
    }

    // Idle from now on, not since the table was made: otherwise 130 s after a start each connection would be overdue as it opens.
    private void Begin() => Volatile.Write(ref _since, _fronts.Now);

    private void Enter(Phase phase)
    {
        if (phase != _phase)
        {
            _phase = phase;
            Volatile.Write(ref _since, _fronts.Now);
        }
    }
}
