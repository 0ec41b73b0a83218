using System.Buffers;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>
/// A message of which a part is there. Text grows with what arrives, not with what a header announces: ten thousand clients that announce
/// 16 kB and send one byte must not cost more than what they sent. Not thread-safe.
/// </summary>
internal sealed class PartialMessage : IDisposable
{
    private const int FirstBytes = 1024;

    private readonly Opcode _opcode;
    private byte[]? _buffer;
    private long _length;
    private long _remaining;
    private long _skipped;
    private uint _mask;
    private Utf8Check _check;
    private bool _isFinal;
    private bool _isTooBig;

    public PartialMessage(Opcode opcode) => _opcode = opcode;

    /// <summary>True while bytes of a frame are missing.</summary>
    public bool IsInFrame => _remaining > 0;

    /// <summary>True when its last frame is there.</summary>
    public bool IsWhole => _isFinal && _remaining == 0;

    /// <summary>What is there of a text message.</summary>
    public ReadOnlySpan<byte> Text => _buffer.AsSpan(0, (int)_length);

    /// <summary>A frame of it begins. True when the message has become too big with that: it is thrown away from now on.</summary>
    public bool Begin(in FrameHeader header, int maxBytes)
    {
        _isFinal = header.IsFinal;
        _remaining = header.Length;
        _mask = header.Mask;
        if (_isTooBig || header.Length <= maxBytes - _length)
        {
            return false;
        }

        Dispose();
        return _isTooBig = true;
    }

    /// <summary>Takes what belongs to the frame; returns how many bytes.</summary>
    public int Take(ReadOnlySpan<byte> bytes, int maxBytes, out Received found)
    {
        var taken = (int)Math.Min(_remaining, _isTooBig ? Math.Min(bytes.Length, maxBytes - _skipped) : bytes.Length);
        _remaining -= taken;
        if (_isTooBig)
        {
            _skipped += taken;
            found = _skipped < maxBytes ? Received.Nothing : Received.TooBig;
            _skipped = found == Received.TooBig ? 0 : _skipped;
        }
        else if (_opcode == Opcode.Binary)
        {
            _length += taken;
            found = IsWhole ? Received.Binary : Received.Nothing;
        }
        else
        {
            var isText = TryAppend(bytes[..taken]) && (!IsWhole || _check.IsWhole);
            found = !isText ? Received.NotText : IsWhole ? Received.Text : Received.Nothing;
        }

        return taken;
    }

    /// <summary>Returns the buffer. Cleared: it may have held a client token.</summary>
    public void Dispose()
    {
        if (_buffer is { } buffer)
        {
            ArrayPool<byte>.Shared.Return(buffer, clearArray: true);
            _buffer = null;
        }
    }

    private bool TryAppend(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty)
        {
            return true;
        }

        MakeRoom(bytes.Length);
        var room = _buffer.AsSpan((int)_length, bytes.Length);
        _mask = Masking.Unmask(bytes, room, _mask);
        _length += bytes.Length;
        return _check.TryAdd(room);
    }

    private void MakeRoom(int more)
    {
        var needed = (int)_length + more;
        if (_buffer is not null && needed <= _buffer.Length)
        {
            return;
        }

        var grown = ArrayPool<byte>.Shared.Rent(Math.Max(Math.Max(needed, FirstBytes), (_buffer?.Length ?? 0) * 2));
        _buffer.AsSpan(0, (int)_length).CopyTo(grown);
        Dispose();
        _buffer = grown;
    }
}
