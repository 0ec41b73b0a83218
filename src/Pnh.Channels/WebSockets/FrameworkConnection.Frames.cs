using System.Buffers;
using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.WebSockets;

/// <summary>What the writer of a connection writes next: control frames, then the session's frames, then the close.</summary>
internal sealed partial class FrameworkConnection
{
    private Next TakeNext(out byte[]? control, out Outgoing outgoing)
    {
        control = null;
        outgoing = default;
        lock (_gate)
        {
            if (_finished)
            {
                return Next.Nothing;
            }

            if (_controls is { Count: > 0 })
            {
                control = _controls.Dequeue();
                return Next.Control;
            }

            if (_closing is not null)
            {
                return Next.Close;
            }
        }

        return _session is { } session && session.TryTake(this, _parts.Clock.GetUtcNow(), out outgoing) ? Next.Frame : Next.Nothing;
    }

    private bool HasWork()
    {
        lock (_gate)
        {
            if (_finished || _closing is not null || _controls is { Count: > 0 })
            {
                return !_finished;
            }
        }

        return _session is { HasWaiting: true };
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

    private void NoteWritten(in Outgoing outgoing)
    {
        Volatile.Write(ref _writeSince, 0);
        if (outgoing is { IsRepeat: false, Frame: { IsReplay: false, Event: { AcceptedTimestamp: not 0 } accepted } } && _parts.Written is { } written)
        {
            written(accepted.Class, _parts.Clock.GetElapsedTime(accepted.AcceptedTimestamp));
        }
    }

    private async Task SendCloseAsync()
    {
        var reason = _closing!;
        await _socket.CloseOutputAsync((WebSocketCloseStatus)reason.Code, reason.Reason, CancellationToken.None);
        Log.Closed(_parts.Log, reason.Code, reason.Reason);
        Finish();
    }
}
