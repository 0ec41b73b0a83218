using System.Buffers;
using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// A connection over the framework's <see cref="WebSocket"/>: a send into Kestrel's pipe completes at once while there is room; one receive
/// loop. It stays as the other <c>Sockets:Transport</c>, and to judge the direct one by.
/// </summary>
internal sealed partial class FrameworkConnection : Connection
{
    private readonly Lock _gate = new();
    private readonly WebSocket _socket;
    private TaskCompletionSource? _closeWaiter;

    public FrameworkConnection(
        WebSocket socket, ServerParts parts, ClientCredential? header, ConnectionPeer peer, CancellationToken stopping)
        : base(parts, header, peer, stopping) => _socket = socket;

    /// <summary>Never: a send here may have to wait, which a session's lock must not see.</summary>
    public override bool TryWrite(in Outgoing next) => false;

    /// <inheritdoc/>
    public override void Abort()
    {
        Finish();
        _socket.Abort();
    }

    /// <inheritdoc/>
    protected override void Finish()
    {
        base.Finish();
        TaskCompletionSource? waiter;
        lock (_gate)
        {
            waiter = _closeWaiter;
        }

        waiter?.TrySetResult();
    }

    // The fast path: not async, so that a send into an idle connection costs no state machine.
    protected override void Write()
    {
        byte[]? rented = null;
        try
        {
            for (var written = 0; written < InlineFrames; written++)
            {
                var next = TakeNext(out var control, out var outgoing);
                if (next == Next.Nothing)
                {
                    if (!TryKeepRole())
                    {
                        return;
                    }

                    continue;
                }

                if (next == Next.Close)
                {
                    break;
                }

                var sending = SendAsync(control, outgoing, ref rented);
                if (!sending.IsCompletedSuccessfully)
                {
                    _ = WriteOnAsync(sending, outgoing, Interlocked.Exchange(ref rented, null)); // never throws
                    return;
                }

                NoteSent(outgoing);
            }

            _ = WriteOnAsync(ValueTask.CompletedTask, default, Interlocked.Exchange(ref rented, null));
        }
        catch (Exception failure)
        {
            Lose(failure);
        }
        finally
        {
            Return(rented);
        }
    }

    // The slow path: the client reads slowly, there is more than a sender should write for others, or the close frame.
    private async Task WriteOnAsync(ValueTask sending, Outgoing outgoing, byte[]? rented)
    {
        try
        {
            if (sending.IsCompleted)
            {
                await Task.Yield();
            }

            await sending;
            NoteSent(outgoing);
            Next next;
            while ((next = TakeNext(out var control, out outgoing)) != Next.Close)
            {
                if (next == Next.Nothing)
                {
                    if (!TryKeepRole())
                    {
                        return;
                    }

                    continue;
                }

                await SendAsync(control, outgoing, ref rented);
                NoteSent(outgoing);
            }

            await SendCloseAsync(); // and stays the writer: nothing follows a close frame
        }
        catch (Exception failure)
        {
            Lose(failure);
        }
        finally
        {
            Return(rented);
        }
    }

    private ValueTask SendAsync(byte[]? control, in Outgoing outgoing, ref byte[]? rented)
    {
        var message = control ?? Compose(outgoing.Frame, outgoing.Seq, ref rented);
        NoteWriting();
        return _socket.SendAsync(message, WebSocketMessageType.Text, endOfMessage: true, CancellationToken.None);
    }

    // A transient frame is the shared array itself; the others get their seq in a buffer of this writer.
    private static ReadOnlyMemory<byte> Compose(Frame frame, long seq, ref byte[]? rented)
    {
        if (!frame.HasSeq)
        {
            return frame.Tail;
        }

        if (rented is null || rented.Length < frame.MaxBytes)
        {
            Return(rented);
            rented = ArrayPool<byte>.Shared.Rent(frame.MaxBytes);
        }

        return rented.AsMemory(0, frame.Compose(seq, rented));
    }

    private void NoteSent(in Outgoing outgoing)
    {
        NoteFree();
        NoteWritten(outgoing);
    }

    private static void Return(byte[]? rented)
    {
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }
}
