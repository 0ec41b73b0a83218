using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>What arrives, what is overdue, and the end.</summary>
internal abstract partial class Connection
{
    /// <summary>Messages read after we began to close, while the client's close frame is awaited.</summary>
    private const int MaxIgnored = 256;

    private readonly CancellationToken _stopping;
    private readonly Conversation _conversation;
    private readonly long _openedAt;
    private MessageBudget _budget;
    private long _untilTicks = long.MaxValue;
    private long _closingSince;
    private long _beatAt; // the last one, or when they were asked for; 0 = they were not
    private volatile byte _beatSeconds;
    private int _ignored;
    private readonly bool _isKnown;
    private bool _sawStopping;

    protected Connection(ServerParts parts, ClientCredential? header, ConnectionPeer peer, CancellationToken stopping)
    {
        Parts = parts;
        _stopping = stopping;
        _conversation = new Conversation(parts, this, header, peer);
        _isKnown = header is not null;
        _openedAt = parts.Clock.GetTimestamp();
        _budget = new MessageBudget(
            parts.Options.MessagesPerSecond, parts.Options.MessageBurst, parts.Clock.TimestampFrequency, _openedAt);
    }

    /// <summary>The server's.</summary>
    protected ServerParts Parts { get; }

    /// <inheritdoc/>
    public long AcceptedAt => _openedAt;

    /// <summary>How long nothing can become overdue but by what <see cref="LookSoon"/> is called for; zero = unknown.</summary>
    protected virtual TimeSpan CalmAt(long now) => TimeSpan.Zero;

    /// <summary>Deals with what is overdue; called by the server's one timer, for each connection whose time has come.</summary>
    public void Sweep(long now, DateTimeOffset utcNow, bool isDraining)
    {
        var options = Parts.Options;
        var writeSince = Volatile.Read(ref _writeSince);
        if (writeSince != 0 && Parts.Clock.GetElapsedTime(writeSince, now) >= options.WriteTimeout)
        {
            Close(SessionClose.SlowConsumer); // no close frame gets through a stuck write
            Abort();
        }
        else if (IsClosing)
        {
            if (Parts.Clock.GetElapsedTime(_closingSince, now) >= options.CloseTimeout)
            {
                Abort();
            }
        }
        else if (!_conversation.HasHello && Parts.Clock.GetElapsedTime(_openedAt, now) >= options.HelloTimeout)
        {
            Close(SessionClose.HelloTimeout);
        }
        else if (utcNow.UtcTicks >= Volatile.Read(ref _untilTicks))
        {
            Close(SessionClose.TokenExpired);
        }
        else if (_stopping.IsCancellationRequested && !isDraining)
        {
            // At the second look: a drain that paces itself starts moments after the host began to stop.
            if (_sawStopping)
            {
                Close(SessionClose.Drain);
            }

            _sawStopping = true;
        }
        else
        {
            KeepAlive(now);
            BeatIfDue(now);
            LookLater(now, utcNow);
        }
    }

    /// <summary>A connection without hello makes room for others; one with a session never does.</summary>
    public GiveUp TryGiveUp(bool alsoKnown)
    {
        if (_conversation.HasHello)
        {
            return GiveUp.Settled;
        }

        if (_isKnown && !alsoKnown)
        {
            return GiveUp.Known;
        }

        ThreadPool.UnsafeQueueUserWorkItem(static connection => connection.Abort(), this, preferLocal: false);
        return GiveUp.Going;
    }

    /// <inheritdoc/>
    public void Beat(int seconds)
    {
        _beatSeconds = (byte)seconds;
        Volatile.Write(ref _beatAt, Parts.Clock.GetTimestamp());
        LookSoon();
    }

    private void BeatIfDue(long now)
    {
        if (UntilBeat(now) <= TimeSpan.Zero)
        {
            Volatile.Write(ref _beatAt, now);
            SendControl(ControlFrames.Beat);
        }
    }

    private TimeSpan UntilBeat(long now) => Volatile.Read(ref _beatAt) is not 0 and var last ? TimeSpan.FromSeconds(_beatSeconds) - Parts.Clock.GetElapsedTime(last, now) : TimeSpan.MaxValue;

    /// <summary>After something began that may become overdue.</summary>
    protected void LookSoon()
    {
        if (Place >= 0)
        {
            Parts.Connections.LookAt(Place, ConnectionTable.Soon);
        }
    }

    private void LookLater(long now, DateTimeOffset utcNow)
    {
        var until = Volatile.Read(ref _untilTicks);
        var calm = Math.Min(Math.Min(CalmAt(now).Ticks, UntilBeat(now).Ticks), until - utcNow.UtcTicks);
        if (calm <= 0 || !_conversation.HasHello)
        {
            return;
        }

        Parts.Connections.LookAt(Place, now + (long)(calm * (Parts.Clock.TimestampFrequency / (double)TimeSpan.TicksPerSecond)));
        Interlocked.MemoryBarrier(); // what began before this is seen below; what begins after it writes its own time
        if (IsClosing || Volatile.Read(ref _writeSince) != 0 || Volatile.Read(ref _untilTicks) != until)
        {
            LookSoon();
        }
    }

    /// <summary>Looks whether the client is still there; the framework does that by itself.</summary>
    protected virtual void KeepAlive(long now)
    {
    }

    /// <summary>
    /// Deals with one message; asynchronous for a hello or a send only, and then nothing else may be handled before it is done. What it throws
    /// is for <see cref="Fail"/>.
    /// </summary>
    protected ValueTask HandleAsync(Received received, ReadOnlySpan<byte> message)
    {
        if (IsClosing)
        {
            _conversation.ReceiveLate(received, message);
            Ignore();
            return ValueTask.CompletedTask;
        }

        if (!TryTake())
        {
            return ValueTask.CompletedTask;
        }

        switch (received)
        {
            case Received.Binary:
                _conversation.Refuse(new FrameProblem("binary-frame", "Only text frames are spoken here."));
                return ValueTask.CompletedTask;
            case Received.TooBig:
                _conversation.Refuse(new FrameProblem("too-big", "The message is larger than the limit."));
                return ValueTask.CompletedTask;
            default:
                return _conversation.ReceiveAsync(message, ref _budget, _stopping);
        }
    }

    /// <summary>
    /// Counts a frame that is no message: ping, pong, a message's frame that is not its last. It costs as much as a message, also before hello. False = it
    /// was too many. By the reader.
    /// </summary>
    public bool CountFrame()
    {
        if (IsClosing)
        {
            Ignore();
            return false;
        }

        return TryTake();
    }

    private bool TryTake()
    {
        if (_budget.TryTake(Parts.Clock.GetTimestamp()))
        {
            return true;
        }

        SendControl(ControlFrames.Error("rate-limited", "Too many messages.", ControlFrames.HelpOfRefusals));
        Close(SessionClose.Overloaded);
        return false;
    }

    private void Ignore()
    {
        if (++_ignored > MaxIgnored)
        {
            Abort();
        }
    }

    /// <summary>The hub failed while it handled a message, or goes.</summary>
    protected void Fail(Exception failure)
    {
        if (failure is OperationCanceledException && _stopping.IsCancellationRequested)
        {
            Close(SessionClose.Drain);
            return;
        }

        Log.HubFailed(Parts.Log, failure);
        Close(SessionClose.HubError);
    }

    /// <summary>The session lingers or ends with the connection; does nothing the second time.</summary>
    protected void EndSession() => _conversation.Opened?.Leave(this, _closing ?? SessionEnds.Lost);

    /// <summary>
    /// What our close frame says: <paramref name="theirs"/> when the client closed or broke RFC 6455 before we decided anything (0 = it gave no code).
    /// </summary>
    protected (int Code, string Reason) CloseOnWire(int theirs)
    {
        var close = _closing!;
        var isTheirs = theirs != 0 && (ReferenceEquals(close, SessionEnds.Goodbye) || ReferenceEquals(close, SessionEnds.Lost));
        var code = isTheirs ? theirs : close.Code;
        Log.Closed(Parts.Log, code, close.Reason);
        return (code, isTheirs ? "" : close.Reason);
    }

    /// <summary>Logs a connection that ended without a close.</summary>
    protected void NoteLost(string why) => Log.Lost(Parts.Log, why);

    /// <summary>Logs a bug in writing.</summary>
    protected void NoteWriterFailed(Exception failure) => Log.WriterFailed(Parts.Log, failure);

    /// <summary>1000 and 1001 are a client's goodbye; with any other code it may come back and resume. 0 = none was given.</summary>
    protected static SessionClose EndOf(int code) => code is 1000 or 1001 ? SessionEnds.Goodbye : SessionEnds.Lost;

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Debug, "Socket closed with {Code} ({Reason}).", EventName = "Closed")]
        public static partial void Closed(ILogger logger, int code, string reason);

        [LoggerMessage(2, LogLevel.Debug, "Socket lost: {Why}", EventName = "Lost")]
        public static partial void Lost(ILogger logger, string why);

        [LoggerMessage(3, LogLevel.Error, "The hub failed while it handled a socket; the client is told to reconnect.", EventName = "HubFailed")]
        public static partial void HubFailed(ILogger logger, Exception exception);

        [LoggerMessage(4, LogLevel.Error, "A socket's writer failed; the connection is dropped.", EventName = "WriterFailed")]
        public static partial void WriterFailed(ILogger logger, Exception exception);
    }
}
