using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>Close frames (RFC 6455 sections 5.5.1 and 7.4). Pure functions.</summary>
internal static class CloseFrames
{
    /// <summary>Not RFC 6455.</summary>
    public const int ProtocolError = 1002;

    /// <summary>Text that is not UTF-8.</summary>
    public const int NotText = 1007;

    /// <summary>Most bytes of a frame that <see cref="Write"/> writes.</summary>
    public const int MaxBytes = 2 + FrameHeader.MaxControlBytes;

    /// <summary>The client's code, 0 = it gave none; false = <paramref name="code"/> is the one to fail with.</summary>
    public static bool TryRead(ReadOnlySpan<byte> payload, out int code)
    {
        code = 0;
        if (payload.IsEmpty)
        {
            return true;
        }

        var given = payload.Length < 2 ? 0 : BinaryPrimitives.ReadUInt16BigEndian(payload);
        if (!IsValid(given))
        {
            code = ProtocolError;
            return false;
        }

        code = Utf8.IsValid(payload[2..]) ? given : NotText;
        return code == given;
    }

    /// <summary>Writes a whole frame; returns its bytes.</summary>
    public static int Write(Span<byte> destination, int code, string reason)
    {
        var text = Encoding.UTF8.GetBytes(reason, destination[4..]);
        BinaryPrimitives.WriteUInt16BigEndian(destination[2..], (ushort)code);
        return FrameHeader.Write(destination, Opcode.Close, 2 + text) + 2 + text;
    }

    // 1004–1006 and 1015 are never sent; 1012–1014 were registered after the RFC.
    private static bool IsValid(int code) => code is (>= 1000 and <= 1003) or (>= 1007 and <= 1014) or (>= 3000 and <= 4999);
}
