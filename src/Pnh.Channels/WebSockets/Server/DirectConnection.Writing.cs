using System.Buffers;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// The writing. The thread with the writer's role sends without waiting; when the kernel takes a part only, the rest is kept, the role stays taken,
/// and the loop goes on with both when there is room: never two writers, nothing between the halves of a frame.
/// </summary>
internal sealed partial class DirectConnection
{
    // Not null while the role is the loop's and a frame is half written.
    private KeptBytes? _kept;

    /// <inheritdoc/>
    public void Prefetch() => Core.Threads.Prefetch.Object(_socket, lines: 2);

    /// <inheritdoc/>
    public override bool TryWrite(in Outgoing next)
    {
        if (!TryTakeRoleForFrame())
        {
            return false;
        }

        if (TrySend(next))
        {
            GiveRoleForFrame();
        }

        return true;
    }

    /// <inheritdoc/>
    public void HasRoom(LoopSocket socket)
    {
        if (_kept is { } kept)
        {
            var sent = _socket.Send(kept.Rest);
            if (sent < 0)
            {
                Lose();
                return;
            }

            if (!kept.TryUse(sent))
            {
                _socket.AwaitRoom();
                return;
            }

            _kept = null;
            NoteWritten(kept.Outgoing);
            if (kept.IsClose)
            {
                NoteCloseSent();
                return;
            }
        }

        NoteFree();
        Write();
    }

    /// <inheritdoc/>
    public override void Abort()
    {
        Finish();
        _socket.Abort();
    }

    /// <inheritdoc/>
    protected override void Write()
    {
        for (var written = 0; written < InlineFrames; written++)
        {
            if (Interlocked.Exchange(ref _pong, null) is { } pong)
            {
                if (!TrySend(pong, default, default))
                {
                    return;
                }

                continue;
            }

            switch (TakeNext(out var control, out var outgoing))
            {
                case Next.Control when !TrySendControl(control!):
                case Next.Frame when !TrySend(outgoing):
                case Next.Nothing when !TryKeepRole():
                    return;
                case Next.Close:
                    SendClose();
                    return;
            }
        }

        NoteWriting();
        _socket.AwaitRoom(); // the loop goes on, with the role
    }

    // False = the role is not the caller's any more: the loop has it, or the connection is lost.
    private bool TrySend(in Outgoing outgoing)
    {
        if (outgoing.Frame.Wire is { } wire)
        {
            return TrySend(wire, default, outgoing);
        }

        Span<byte> head = stackalloc byte[Protocol.Frame.MaxHeadBytes];
        return TrySend(outgoing.Frame.ComposeHead(outgoing.Seq, head), outgoing.Frame.Tail.Span, outgoing);
    }

    private bool TrySendControl(byte[] control)
    {
        Span<byte> header = stackalloc byte[FrameHeader.MaxServerBytes];
        return TrySend(header[..FrameHeader.Write(header, Opcode.Text, control.Length)], control, default);
    }

    private bool TrySend(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, in Outgoing outgoing, bool isClose = false)
    {
        var sent = second.IsEmpty ? _socket.Send(first) : _socket.Send(first, second);
        if (sent == first.Length + second.Length)
        {
            NoteWritten(outgoing);
            return true;
        }

        if (sent < 0)
        {
            Lose();
            return false;
        }

        _kept = new KeptBytes(first, second, sent, outgoing, isClose);
        NoteWriting();
        _socket.AwaitRoom();
        return false;
    }

    // The role stays taken: nothing is written any more.
    private void Lose()
    {
        Finish();
        _socket.Abort();
    }

    /// <summary>What the kernel did not take of a frame.</summary>
    private sealed class KeptBytes
    {
        private readonly byte[] _bytes;
        private readonly int _length;
        private int _sent;

        public KeptBytes(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, int sent, in Outgoing outgoing, bool isClose)
        {
            Outgoing = outgoing;
            IsClose = isClose;
            _length = first.Length + second.Length;
            _sent = sent;
            _bytes = ArrayPool<byte>.Shared.Rent(_length);
            first.CopyTo(_bytes);
            second.CopyTo(_bytes.AsSpan(first.Length));
        }

        public Outgoing Outgoing { get; }

        public bool IsClose { get; }

        public ReadOnlySpan<byte> Rest => _bytes.AsSpan(_sent, _length - _sent);

        /// <summary>True when that was the last of it; then nothing of it may be used any more.</summary>
        public bool TryUse(int sent)
        {
            _sent += sent;
            if (_sent < _length)
            {
                return false;
            }

            ArrayPool<byte>.Shared.Return(_bytes);
            return true;
        }
    }
}
