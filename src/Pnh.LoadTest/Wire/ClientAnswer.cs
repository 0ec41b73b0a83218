using System.Buffers.Text;

namespace Pnh.LoadTest.Wire;

/// <summary>An HTTP/1.1 answer (RFC 9112), as far as a publisher reads it.</summary>
internal static class ClientAnswer
{
    /// <summary>Takes an answer off the beginning; false = it is not whole.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out int status, out ReadOnlySpan<byte> body, out int length)
    {
        status = 0;
        body = default;
        length = 0;
        var end = bytes.IndexOf("\r\n\r\n"u8);
        if (end < 0)
        {
            return false;
        }

        _ = Utf8Parser.TryParse(bytes[9..], out status, out _);
        var head = bytes[..(end + 2)];
        var rest = bytes[(end + 4)..];
        int size;
        if (Value(head, "chunked"u8, "Chunked"u8) >= 0)
        {
            var last = rest.IndexOf("0\r\n\r\n"u8);
            if (last < 0 || (last > 0 && rest[last - 1] != '\n'))
            {
                return false;
            }

            size = last + 5;
        }
        else
        {
            var at = Value(head, "Content-Length: "u8, "content-length: "u8);
            size = 0;
            if (at >= 0)
            {
                _ = Utf8Parser.TryParse(head[(at + 16)..], out size, out _);
            }

            if (rest.Length < size)
            {
                return false;
            }
        }

        body = rest[..size];
        length = end + 4 + size;
        return true;
    }

    private static int Value(ReadOnlySpan<byte> head, ReadOnlySpan<byte> spelled, ReadOnlySpan<byte> orSo)
    {
        var at = head.IndexOf(spelled);
        return at >= 0 ? at : head.IndexOf(orSo);
    }
}
