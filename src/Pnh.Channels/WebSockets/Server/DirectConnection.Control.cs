using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>Ping, pong and close.</summary>
internal sealed partial class DirectConnection
{
    // A program that hangs while its machine goes on acknowledging is found out after one interval more than these.
    private const int MostSpared = 3;

    private static readonly TimeSpan LongestCalm = TimeSpan.FromMinutes(1);
    private static readonly byte[] Ping = FrameHeader.Enclose(Opcode.Ping, default);

    private byte[]? _pong;
    private long _heardAt;
    private long _pingedAt;
    private int _spared;
    private volatile bool _hasHeard;
    private int _closeCode;
    private int _said;

    /// <summary>What has been said of the close.</summary>
    [Flags]
    private enum Said
    {
        ByUs = 1,
        ByThem = 2,
    }

    protected override bool HasOwnWork => Volatile.Read(ref _pong) is not null;

    /// <summary>Until the ping, but at most a quarter of the time between two: so much later it comes when something arrived meanwhile.</summary>
    protected override TimeSpan CalmAt(long now)
    {
        var interval = Parts.Options.KeepAliveInterval;
        if (_pingedAt != 0 || interval <= TimeSpan.Zero)
        {
            return _pingedAt != 0 ? TimeSpan.Zero : LongestCalm;
        }

        var left = interval - Parts.Clock.GetElapsedTime(_heardAt, now);
        return new TimeSpan(Math.Min(left.Ticks, Math.Min(interval.Ticks / 4, LongestCalm.Ticks)));
    }

    /// <summary>
    /// A quiet connection is asked once in <see cref="WebSocketServerOptions.KeepAliveInterval"/>. What arrives only leaves a mark, which the sweep
    /// finds: a clock reading for each ack would cost more than the sweep.
    /// </summary>
    protected override void KeepAlive(long now)
    {
        if (_hasHeard)
        {
            _hasHeard = false;
            _heardAt = now;
            _pingedAt = 0;
            _spared = 0;
        }
        else if (_pingedAt != 0)
        {
            if (Parts.Clock.GetElapsedTime(_pingedAt, now) >= Parts.Options.KeepAliveTimeout)
            {
                Close(SessionClose.KeepAliveTimeout);
            }
        }
        else if (Parts.Options.KeepAliveInterval > TimeSpan.Zero
            && Parts.Clock.GetElapsedTime(_heardAt, now) >= Parts.Options.KeepAliveInterval && !TrySpare(now) && TryTakeRole())
        {
            // Else something is being written, and a stuck write is found as such.
            _pingedAt = now;
            if (TrySend(Ping, default, default) && TryKeepRole())
            {
                Write();
            }
        }
    }

    // A client of transient events says nothing, but its machine has just acknowledged some: the connection lives, and is used. With an event
    // every 1.5 s to each of 18,000 clients that is 2 to 3 % less work for the hub.
    private bool TrySpare(long now)
    {
        if (_spared == MostSpared || !(_socket.LastAck < Parts.Options.KeepAliveInterval / 4))
        {
            _spared = 0;
            return false;
        }

        _spared++;
        _heardAt = now;
        return true;
    }

    // Kept for the end of the turn when there are too many, or when somebody else writes: the newest stands for all.
    private void Answer(ReadOnlySpan<byte> payload, bool atOnce)
    {
        if (IsClosing)
        {
            return;
        }

        Volatile.Write(ref _pong, FrameHeader.Enclose(Opcode.Pong, payload));
        if (atOnce)
        {
            Wake();
        }
    }

    private void WritePong()
    {
        if (HasOwnWork)
        {
            Wake();
        }
    }

    private void ReceiveClose(ReadOnlySpan<byte> payload)
    {
        if (!CloseFrames.TryRead(payload, out var code))
        {
            FailFraming(code);
            return;
        }

        _isDeaf = true;
        CloseWith(code, EndOf(code));
        NoteSaid(Said.ByThem);
    }

    // The framing is lost, so is the connection; the session may come back.
    private void FailFraming(int code)
    {
        _isDeaf = true;
        CloseWith(code, SessionEnds.Lost);
        NoteSaid(Said.ByThem); // nothing that they say will be understood
    }

    // 0 = the reason's own code.
    private void CloseWith(int code, SessionClose reason)
    {
        Volatile.Write(ref _closeCode, code);
        if (TryBeginClose(reason))
        {
            Execute();
        }
    }

    private void SendClose()
    {
        var (code, reason) = CloseOnWire(Volatile.Read(ref _closeCode));
        Span<byte> frame = stackalloc byte[CloseFrames.MaxBytes];
        if (TrySend(frame[..CloseFrames.Write(frame, code, reason)], default, default, isClose: true))
        {
            NoteCloseSent();
        }
    }

    // The role stays taken.
    private void NoteCloseSent()
    {
        Finish();
        NoteFree();
        NoteSaid(Said.ByUs);
    }

    private void NoteSaid(Said said)
    {
        if ((Interlocked.Or(ref _said, (int)said) | (int)said) == (int)(Said.ByUs | Said.ByThem))
        {
            // They read everything before it is gone, and close; else the sweep does.
            _socket.EndSending();
        }
    }
}
