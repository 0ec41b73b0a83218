using System.Buffers.Binary;

namespace Pnh.LoadTest.Wire;

/// <summary>WebSocket frames (RFC 6455, section 5) as a client needs them.</summary>
internal static class Frames
{
    public const int More = 0;
    public const int Text = 1;
    public const int Close = 8;
    public const int Ping = 9;
    public const int Pong = 10;

    /// <summary>Bytes of the longest head of a client's frame.</summary>
    public const int MostHead = 8;

    /// <summary>One whole client frame. The mask is zero, which the standard allows and which leaves the payload as it is.</summary>
    public static int Write(Span<byte> target, int opcode, ReadOnlySpan<byte> payload)
    {
        target[0] = (byte)(0x80 | opcode);
        var head = payload.Length < 126 ? 2 : 4;
        target[1] = (byte)(0x80 | (payload.Length < 126 ? payload.Length : 126));
        if (head == 4)
        {
            BinaryPrimitives.WriteUInt16BigEndian(target[2..], checked((ushort)payload.Length));
        }

        target.Slice(head, 4).Clear();
        payload.CopyTo(target[(head + 4)..]);
        return head + 4 + payload.Length;
    }

    /// <summary>One client text frame.</summary>
    public static byte[] OfText(ReadOnlySpan<byte> payload)
    {
        var frame = new byte[MostHead + payload.Length];
        return frame[..Write(frame, Text, payload)];
    }

    /// <summary>Whether the message ends with the frame that begins here.</summary>
    public static bool IsLast(byte first) => (first & 0x80) != 0;

    /// <summary>Takes a server's frame off the beginning; false = it is not whole.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out int opcode, out ReadOnlySpan<byte> payload, out int length)
    {
        opcode = 0;
        payload = default;
        length = 0;
        if (bytes.Length < 2)
        {
            return false;
        }

        var (size, head) = ((long)(bytes[1] & 0x7F), 2);
        if (size >= 126)
        {
            head = size == 126 ? 4 : 10;
            if (bytes.Length < head)
            {
                return false;
            }

            size = head == 4 ? BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]) : BinaryPrimitives.ReadInt64BigEndian(bytes[2..]);
        }

        if (bytes.Length - head < size)
        {
            return false;
        }

        opcode = bytes[0] & 0x0F;
        payload = bytes.Slice(head, (int)size);
        length = head + (int)size;
        return true;
    }
}
