using System.Buffers.Binary;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>Opcodes of RFC 6455 section 5.2.</summary>
internal enum Opcode : byte
{
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// <summary>What a reading of a header found.</summary>
internal enum HeaderState
{
    /// <summary>The bytes end within it.</summary>
    Unfinished,

    /// <summary>It is whole.</summary>
    Whole,

    /// <summary>Not RFC 6455: close with 1002.</summary>
    Broken,
}

/// <summary>The header of a WebSocket frame (RFC 6455 section 5.2). Pure functions.</summary>
/// <param name="IsFinal">The message ends with this frame.</param>
/// <param name="Opcode">What it is.</param>
/// <param name="Bytes">Of the header itself.</param>
/// <param name="Length">Of the payload, in bytes.</param>
/// <param name="Mask">The client's masking key, its first byte in the lowest bits.</param>
internal readonly record struct FrameHeader(bool IsFinal, Opcode Opcode, int Bytes, long Length, uint Mask)
{
    /// <summary>Most bytes of a header that we write.</summary>
    public const int MaxServerBytes = 10;

    /// <summary>Most bytes of a header that a client writes.</summary>
    public const int MaxClientBytes = 14;

    /// <summary>Bytes that a control frame's payload may have.</summary>
    public const int MaxControlBytes = 125;

    private const byte Final = 0x80;
    private const byte Reserved = 0x70;
    private const byte Masked = 0x80;
    private const int Short = 126;
    private const int Long = 127;

    /// <summary>True for close, ping and pong.</summary>
    public bool IsControl => Opcode >= Opcode.Close;

    /// <summary>Reads a client's header; wrong ones are found with the first byte that makes them so.</summary>
    public static HeaderState Read(ReadOnlySpan<byte> bytes, out FrameHeader header)
    {
        header = default;
        if (bytes.IsEmpty)
        {
            return HeaderState.Unfinished;
        }

        var opcode = (Opcode)(bytes[0] & 0x0F);
        var isFinal = (bytes[0] & Final) != 0;
        var isControl = opcode >= Opcode.Close;
        if ((bytes[0] & Reserved) != 0 || opcode is > Opcode.Binary and < Opcode.Close or > Opcode.Pong || (isControl && !isFinal))
        {
            return HeaderState.Broken;
        }

        if (bytes.Length < 2)
        {
            return HeaderState.Unfinished;
        }

        var shortLength = bytes[1] & 0x7F;
        if ((bytes[1] & Masked) == 0 || (isControl && shortLength > MaxControlBytes))
        {
            return HeaderState.Broken;
        }

        var lengthBytes = shortLength switch { Short => 2, Long => 8, _ => 0 };
        var whole = 2 + lengthBytes + 4;
        if (bytes.Length < whole)
        {
            return HeaderState.Unfinished;
        }

        var length = lengthBytes switch
        {
            2 => BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]),
            8 => BinaryPrimitives.ReadInt64BigEndian(bytes[2..]),
            _ => shortLength,
        };

        // The shortest form only, and no sign (section 5.2): two forms of one length are a way past filters.
        if ((lengthBytes == 2 && length < Short) || (lengthBytes == 8 && length <= ushort.MaxValue))
        {
            return HeaderState.Broken;
        }

        var mask = BinaryPrimitives.ReadUInt32LittleEndian(bytes[(whole - 4)..]);
        header = new FrameHeader(isFinal, opcode, whole, length, mask);
        return HeaderState.Whole;
    }

    /// <summary>Bytes of the header that <see cref="Write"/> writes.</summary>
    public static int ServerBytes(int length) => length < Short ? 2 : length <= ushort.MaxValue ? 4 : MaxServerBytes;

    /// <summary>Writes a server's header of a whole message; returns its bytes.</summary>
    public static int Write(Span<byte> destination, Opcode opcode, int length)
    {
        destination[0] = (byte)(Final | (byte)opcode);
        switch (ServerBytes(length))
        {
            case 2:
                destination[1] = (byte)length;
                return 2;
            case 4:
                destination[1] = Short;
                BinaryPrimitives.WriteUInt16BigEndian(destination[2..], (ushort)length);
                return 4;
            default:
                destination[1] = Long;
                BinaryPrimitives.WriteInt64BigEndian(destination[2..], length);
                return MaxServerBytes;
        }
    }

    /// <summary>A whole frame of a server, in an array of its own.</summary>
    public static byte[] Enclose(Opcode opcode, ReadOnlySpan<byte> payload)
    {
        var header = ServerBytes(payload.Length);
        var frame = GC.AllocateUninitializedArray<byte>(header + payload.Length);
        Write(frame, opcode, payload.Length);
        payload.CopyTo(frame.AsSpan(header));
        return frame;
    }
}
