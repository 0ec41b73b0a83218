namespace Pnh.Channels.Net.Http2;

/// <summary>Numbers in the low bits of a byte, and more bytes when they do not fit (RFC 7541 section 5.1).</summary>
internal static class HpackInteger
{
    /// <summary>Bytes that <see cref="Write"/> needs at most.</summary>
    public const int MaxBytes = 6;

    /// <summary>The number in the low <paramref name="prefix"/> bits (1 to 8) of the first byte, <paramref name="pattern"/> before them. Returns the bytes written.</summary>
    public static int Write(Span<byte> target, int value, int prefix, byte pattern)
    {
        var most = (1 << prefix) - 1;
        if (value < most)
        {
            target[0] = (byte)(pattern | value);
            return 1;
        }

        target[0] = (byte)(pattern | most);
        var written = 1;
        for (value -= most; value >= 128; value >>= 7)
        {
            target[written++] = (byte)(value | 128);
        }

        target[written++] = (byte)value;
        return written;
    }

    /// <summary>False when the bytes end too early or the number is above 2^28: nothing here is as large.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, ref int at, int prefix, out int value)
    {
        value = 0;
        if (at >= source.Length)
        {
            return false;
        }

        var most = (1 << prefix) - 1;
        value = source[at++] & most;
        if (value < most)
        {
            return true;
        }

        for (var shift = 0; shift <= 21 && at < source.Length; shift += 7)
        {
            var next = source[at++];
            value += (next & 127) << shift;
            if (next < 128)
            {
                return true;
            }
        }

        return false;
    }
}
