using System.Buffers;
using System.Net.WebSockets;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets;

/// <summary>
/// A connection over the framework's <see cref="WebSocket"/>: one writer at a time, which exists only while there is something to write, and
/// one receive loop. Whoever wakes an idle connection becomes its writer for a few frames: a send into Kestrel's pipe completes at once, and
/// a hop to the pool would cost more than the send.
/// </summary>
internal sealed partial class FrameworkConnection : ISessionTransport, IThreadPoolWorkItem
{
    /// <summary>Frames that a sender writes before the pool takes over, so that nobody is another's writer for long.</summary>
    private const int InlineFrames = 16;

    /// <summary>Control frames that may wait. Only a client that sends and never reads gets there.</summary>
    private const int MaxControls = 64;

    private readonly Lock _gate = new();
    private readonly WebSocket _socket;
    private readonly ServerParts _parts;
    private readonly long _openedAt;

    private volatile Session? _session;
    private Queue<byte[]>? _controls;
    private SessionClose? _closing;
    private TaskCompletionSource? _closeWaiter;
    private bool _finished;
    private int _writing;

    private enum Next
    {
        Nothing,
        Control,
        Frame,
        Close,
    }

    /// <summary>The session that it carries; null before hello, and when the session went on to another connection.</summary>
    public Session? Session => _session is { } session && session.IsCarriedBy(this) ? session : null;

    /// <inheritdoc/>
    public void Carry(Session session, DateTimeOffset until)
    {
        Volatile.Write(ref _untilTicks, until.UtcTicks);
        _session = session;
        if (IsClosing)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false); // the close came before the session and could not end it
        }
    }

    /// <inheritdoc/>
    public void Wake()
    {
        if (Interlocked.Exchange(ref _writing, 1) == 0)
        {
            WriteInline();
        }
    }

    /// <inheritdoc/>
    public void SendControl(byte[] frame)
    {
        bool full;
        lock (_gate)
        {
            if (_closing is not null)
            {
                return;
            }

            _controls ??= new Queue<byte[]>(1);
            full = _controls.Count >= MaxControls;
            if (!full)
            {
                _controls.Enqueue(frame);
            }
        }

        if (full)
        {
            Close(SessionClose.SlowConsumer);
        }
        else
        {
            Wake();
        }
    }

    /// <inheritdoc/>
    public void Close(SessionClose reason)
    {
        lock (_gate)
        {
            if (_closing is not null)
            {
                return;
            }

            _closing = reason;
            _closingSince = _parts.Clock.GetTimestamp();
        }

        // A sender may hold its shard's lock, and the hub must hear of the end.
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>The second half of <see cref="Close"/>, on the pool.</summary>
    void IThreadPoolWorkItem.Execute()
    {
        EndSession();
        Wake();
    }

    // The fast path: not async, so that a send into an idle connection costs no state machine. Caller holds the writer's role.
    private void WriteInline()
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

                NoteWritten(outgoing);
            }

            _ = WriteOnAsync(ValueTask.CompletedTask, default, Interlocked.Exchange(ref rented, null));
        }
        catch (Exception failure)
        {
            Fail(failure);
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
            NoteWritten(outgoing);
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
                NoteWritten(outgoing);
            }

            await SendCloseAsync(); // and stays the writer: nothing follows a close frame
        }
        catch (Exception failure)
        {
            Fail(failure);
        }
        finally
        {
            Return(rented);
        }
    }

    private ValueTask SendAsync(byte[]? control, in Outgoing outgoing, ref byte[]? rented)
    {
        var message = control ?? Compose(outgoing.Frame, outgoing.Seq, ref rented);
        Volatile.Write(ref _writeSince, _parts.Clock.GetTimestamp());
        return _socket.SendAsync(message, WebSocketMessageType.Text, endOfMessage: true, CancellationToken.None);
    }

    // Gives the writer's role back; true when there is something again and nobody else took the role.
    private bool TryKeepRole()
    {
        Volatile.Write(ref _writing, 0);
        return HasWork() && Interlocked.Exchange(ref _writing, 1) == 0;
    }

    private void Fail(Exception failure)
    {
        if (!IsLoss(failure))
        {
            Log.WriterFailed(_parts.Log, failure);
        }

        Abort();
    }

    private static void Return(byte[]? rented)
    {
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }
}
