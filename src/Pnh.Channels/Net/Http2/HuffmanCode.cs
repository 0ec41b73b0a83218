namespace Pnh.Channels.Net.Http2;

/// <summary>
/// The fixed Huffman code of RFC 7541 appendix B. It is canonical: codes of one length count up in the order of their symbols, and a longer
/// code goes on where the shorter ones end, so the lengths alone give the whole table.
/// </summary>
internal static class HuffmanCode
{
    private const int EndOfString = 256;
    private const int LongestCode = 30;

    /// <summary>Codes up to here are found in one step; all letters and digits have at most 8.</summary>
    private const int QuickBits = 10;

    private static readonly uint[] Codes = new uint[EndOfString + 1];

    /// <summary>By the next ten bits: symbol and length in bits (low byte); 0 = a longer code.</summary>
    private static readonly ushort[] Quick = new ushort[1 << QuickBits];

    /// <summary>Symbols in the order of their codes.</summary>
    private static readonly ushort[] Ordered = new ushort[EndOfString + 1];

    /// <summary>Per length: the first code, and where it stands in <see cref="Ordered"/>.</summary>
    private static readonly uint[] FirstCode = new uint[LongestCode + 2];
    private static readonly int[] FirstPlace = new int[LongestCode + 2];

    static HuffmanCode()
    {
        uint code = 0;
        var place = 0;
        for (var length = 1; length <= LongestCode; length++)
        {
            code <<= 1;
            FirstCode[length] = code;
            FirstPlace[length] = place;
            for (var symbol = 0; symbol <= EndOfString; symbol++)
            {
                if (Lengths[symbol] == length)
                {
                    Ordered[place++] = (ushort)symbol;
                    Codes[symbol] = code++;
                    FillQuick(symbol, length);
                }
            }
        }

        FirstPlace[LongestCode + 1] = place;
    }

    private static ReadOnlySpan<byte> Lengths =>
    [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ];

    /// <summary>Bytes that <see cref="Encode"/> writes for these ASCII characters.</summary>
    public static int EncodedLength(ReadOnlySpan<char> text)
    {
        long bits = 0;
        foreach (var character in text)
        {
            bits += Lengths[(byte)character];
        }

        return (int)((bits + 7) / 8);
    }

    /// <summary>Writes ASCII characters, the last byte filled up with ones. Returns the bytes written.</summary>
    public static int Encode(ReadOnlySpan<char> text, Span<byte> target)
    {
        ulong pending = 0;
        var bits = 0;
        var written = 0;
        foreach (var character in text)
        {
            var length = Lengths[(byte)character];
            pending = (pending << length) | Codes[(byte)character];
            bits += length;
            while (bits >= 8)
            {
                bits -= 8;
                target[written++] = (byte)(pending >> bits);
            }
        }

        if (bits > 0)
        {
            target[written++] = (byte)((pending << (8 - bits)) | (uint)(0xff >> bits));
        }

        return written;
    }

    /// <summary>
    /// Bytes written to <paramref name="target"/>; -1 for what no encoder may send (the end symbol, padding of eight bits and more or not all
    /// ones, section 5.2); -2 when the target is too small.
    /// </summary>
    public static int Decode(ReadOnlySpan<byte> source, Span<byte> target)
    {
        ulong pending = 0;
        var bits = 0;
        var read = 0;
        var written = 0;
        while (true)
        {
            while (bits <= 56 && read < source.Length)
            {
                pending = (pending << 8) | source[read++];
                bits += 8;
            }

            // The next 32 bits, left-aligned, filled up with ones behind the end.
            var window = bits >= 32 ? (uint)(pending >> (bits - 32)) : (uint)((pending << (32 - bits)) | ((1UL << (32 - bits)) - 1));
            var (symbol, length) = Next(window);
            if (length > bits)
            {
                return bits < 8 && window == uint.MaxValue ? written : -1;
            }

            if (symbol == EndOfString)
            {
                return -1;
            }

            if (written == target.Length)
            {
                return -2;
            }

            target[written++] = (byte)symbol;
            bits -= length;
            pending &= (1UL << bits) - 1;
            if (bits == 0 && read == source.Length)
            {
                return written;
            }
        }
    }

    private static (int Symbol, int Length) Next(uint window)
    {
        var quick = Quick[window >> (32 - QuickBits)];
        if (quick != 0)
        {
            return (quick >> 8, quick & 0xff);
        }

        for (var length = QuickBits + 1; ; length++)
        {
            // The code is complete, so at 30 bits at the latest every window is one.
            var place = FirstPlace[length] + (int)((window >> (32 - length)) - FirstCode[length]);
            if (place < FirstPlace[length + 1])
            {
                return (Ordered[place], length);
            }
        }
    }

    private static void FillQuick(int symbol, int length)
    {
        if (length <= QuickBits)
        {
            var from = (int)(Codes[symbol] << (QuickBits - length));
            Quick.AsSpan(from, 1 << (QuickBits - length)).Fill((ushort)((symbol << 8) | length));
        }
    }
}
