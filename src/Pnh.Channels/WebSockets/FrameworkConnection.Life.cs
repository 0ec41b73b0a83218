using System.Net.WebSockets;
using Microsoft.Extensions.Logging;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets;

/// <summary>The receive loop, what is overdue, and the end.</summary>
internal sealed partial class FrameworkConnection
{
    /// <summary>Messages read after we began to close, while the client's close frame is awaited.</summary>
    private const int MaxIgnored = 256;

    private readonly CancellationToken _stopping;
    private readonly Conversation _conversation;
    private MessageBudget _budget;
    private long _untilTicks = long.MaxValue;
    private bool _sawStopping;
    private long _closingSince;
    private long _writeSince;

    public FrameworkConnection(
        WebSocket socket, ServerParts parts, ClientIdentity? identity, ConnectionPeer peer, CancellationToken stopping)
    {
        _socket = socket;
        _parts = parts;
        _stopping = stopping;
        _conversation = new Conversation(parts, this, identity, peer);
        _openedAt = parts.Clock.GetTimestamp();
        _budget = new MessageBudget(
            parts.Options.MessagesPerSecond, parts.Options.MessageBurst, parts.Clock.TimestampFrequency, _openedAt);
    }

    /// <summary>Runs until the connection is closed or lost; never throws.</summary>
    public async Task RunAsync()
    {
        using var reader = new MessageReader(_socket, _parts.Options.MaxMessageBytes);
        try
        {
            await ReceiveAsync(reader);
            Close(EndOf(_socket.CloseStatus));
            await CloseSentAsync();
        }
        catch (Exception lost) when (IsLoss(lost))
        {
            Log.Lost(_parts.Log, lost.Message);
        }
        finally
        {
            Finish();
            Close(Session.Lost);
            EndSession();
            if (_socket.State is not (WebSocketState.Closed or WebSocketState.CloseSent))
            {
                Abort(); // else our last frame, a close of the framework's own among them, is left to arrive
            }
        }
    }

    /// <summary>Deals with what is overdue; called by the server's one timer for every connection.</summary>
    public void Sweep(long now, DateTimeOffset utcNow, bool isDraining)
    {
        var options = _parts.Options;
        var writeSince = Volatile.Read(ref _writeSince);
        if (writeSince != 0 && _parts.Clock.GetElapsedTime(writeSince, now) >= options.WriteTimeout)
        {
            Close(SessionClose.SlowConsumer); // no close frame gets through a stuck write
            Abort();
        }
        else if (IsClosing)
        {
            if (_parts.Clock.GetElapsedTime(_closingSince, now) >= options.CloseTimeout)
            {
                Abort();
            }
        }
        else if (!_conversation.HasHello && _parts.Clock.GetElapsedTime(_openedAt, now) >= options.HelloTimeout)
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
    }

    /// <summary>Drops the TCP connection; what waits for it goes on.</summary>
    public void Abort()
    {
        Finish();
        _socket.Abort();
    }

    private bool IsClosing
    {
        get
        {
            lock (_gate)
            {
                return _closing is not null;
            }
        }
    }

    private static bool IsLoss(Exception exception) =>
        exception is WebSocketException or IOException or OperationCanceledException or ObjectDisposedException;

    private async Task ReceiveAsync(MessageReader reader)
    {
        var ignored = 0;
        while (await reader.ReadAsync() is var received && received != Received.Closed)
        {
            if (IsClosing && ++ignored > MaxIgnored)
            {
                Abort();
                return;
            }

            try
            {
                await HandleAsync(received, reader.Message);
            }
            catch (Exception failure) when (!IsLoss(failure))
            {
                Log.HubFailed(_parts.Log, failure);
                Close(SessionClose.HubError);
            }
        }
    }

    private ValueTask HandleAsync(Received received, ReadOnlyMemory<byte> message)
    {
        if (IsClosing)
        {
            _conversation.ReceiveLate(received, message.Span);
            return ValueTask.CompletedTask;
        }

        if (!_budget.TryTake(_parts.Clock.GetTimestamp()))
        {
            SendControl(ControlFrames.Error("rate-limited", "Too many messages."));
            Close(SessionClose.Overloaded);
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

    private void EndSession()
    {
        SessionClose reason;
        lock (_gate)
        {
            reason = _closing ?? Session.Lost;
        }

        _conversation.Opened?.Leave(this, reason);
    }

    // 1000 and 1001 are a client's goodbye; with any other code it may come back and resume.
    private static SessionClose EndOf(WebSocketCloseStatus? status) =>
        status is WebSocketCloseStatus.NormalClosure or WebSocketCloseStatus.EndpointUnavailable ? Session.Goodbye : Session.Lost;

    private Task CloseSentAsync()
    {
        lock (_gate)
        {
            if (_finished)
            {
                return Task.CompletedTask;
            }

            _closeWaiter = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _closeWaiter.Task;
        }
    }

    private void Finish()
    {
        TaskCompletionSource? waiter;
        lock (_gate)
        {
            _finished = true;
            waiter = _closeWaiter;
        }

        waiter?.TrySetResult();
    }

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
