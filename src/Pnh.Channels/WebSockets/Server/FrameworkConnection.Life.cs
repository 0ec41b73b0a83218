using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>The receive loop and the end.</summary>
internal sealed partial class FrameworkConnection
{
    /// <summary>Runs until the connection is closed or lost; never throws.</summary>
    public async Task RunAsync()
    {
        using var reader = new MessageReader(_socket, Parts.Options.MaxMessageBytes);
        try
        {
            await ReceiveAsync(reader);
            Close(EndOf((int?)_socket.CloseStatus ?? 0));
            await CloseSentAsync();
        }
        catch (Exception lost) when (IsLoss(lost))
        {
            NoteLost(lost.Message);
        }
        finally
        {
            Finish();
            Close(SessionEnds.Lost);
            EndSession();
            if (_socket.State is not (WebSocketState.Closed or WebSocketState.CloseSent))
            {
                Abort(); // else our last frame, a close of the framework's own among them, is left to arrive
            }
        }
    }

    private static bool IsLoss(Exception exception) =>
        exception is WebSocketException or IOException or OperationCanceledException or ObjectDisposedException;

    private async Task ReceiveAsync(MessageReader reader)
    {
        while (await reader.ReadAsync() is var received && received != Received.Closed)
        {
            try
            {
                await HandleAsync(received, reader.Message.Span);
            }
            catch (Exception failure)
            {
                Fail(failure);
            }
        }
    }

    private async Task SendCloseAsync()
    {
        var theirs = _socket.CloseStatus is { } status and not WebSocketCloseStatus.Empty ? (int)status : 0;
        var (code, reason) = CloseOnWire(theirs);
        await _socket.CloseOutputAsync((WebSocketCloseStatus)code, reason, CancellationToken.None);
        Finish();
    }

    private Task CloseSentAsync()
    {
        lock (_gate)
        {
            if (IsFinished)
            {
                return Task.CompletedTask;
            }

            _closeWaiter = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _closeWaiter.Task;
        }
    }

    private void Lose(Exception failure)
    {
        if (!IsLoss(failure))
        {
            NoteWriterFailed(failure);
        }

        Abort();
    }
}
