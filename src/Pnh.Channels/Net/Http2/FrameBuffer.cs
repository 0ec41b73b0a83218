using System.Buffers.Binary;

namespace Pnh.Channels.Net.Http2;

/// <summary>Bytes on their way out: grows to the largest batch and keeps that size. Not thread-safe.</summary>
internal sealed class FrameBuffer
{
    private byte[] _bytes;

    public FrameBuffer(int capacity) => _bytes = new byte[capacity];

    /// <summary>Bytes written.</summary>
    public int Length { get; private set; }

    public ReadOnlyMemory<byte> Memory => _bytes.AsMemory(0, Length);

    public Span<byte> Written => _bytes.AsSpan(0, Length);

    /// <summary>At least <paramref name="least"/> bytes to write to; <see cref="Advance"/> says how many were.</summary>
    public Span<byte> Free(int least)
    {
        if (_bytes.Length - Length < least)
        {
            Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, Length + least));
        }

        return _bytes.AsSpan(Length);
    }

    public void Advance(int count) => Length += count;

    public void Append(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Free(bytes.Length));
        Length += bytes.Length;
    }

    public void Append(byte value)
    {
        Free(1)[0] = value;
        Length++;
    }

    /// <summary>Forgets what was written after the first <paramref name="length"/> bytes.</summary>
    public void Truncate(int length) => Length = length;

    public void AppendFrame(FrameType type, FrameFlags flags, int stream, ReadOnlySpan<byte> payload)
    {
        new Http2FrameHeader(payload.Length, type, flags, stream).Write(Free(Http2FrameHeader.Size));
        Length += Http2FrameHeader.Size;
        Append(payload);
    }

    /// <summary>A frame whose payload is one number of four bytes: RST_STREAM, WINDOW_UPDATE.</summary>
    public void AppendFrame(FrameType type, int stream, uint value)
    {
        Span<byte> payload = stackalloc byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(payload, value);
        AppendFrame(type, FrameFlags.None, stream, payload);
    }

    /// <summary>GOAWAY of a client that takes no streams of the server's: last stream 0.</summary>
    public void AppendGoAway(Http2ErrorCode code)
    {
        Span<byte> payload = stackalloc byte[8];
        payload.Clear();
        BinaryPrimitives.WriteUInt32BigEndian(payload[4..], (uint)code);
        AppendFrame(FrameType.GoAway, FrameFlags.None, 0, payload);
    }
}
