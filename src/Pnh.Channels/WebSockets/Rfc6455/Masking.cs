using System.Numerics;
using System.Runtime.InteropServices;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>Takes the mask off a client's payload (RFC 6455 section 5.3), a vector at a time. Pure functions.</summary>
internal static class Masking
{
    /// <summary>
    /// Writes the unmasked bytes to <paramref name="destination"/>, which is at least as long, and returns the mask for those that follow in
    /// the same frame.
    /// </summary>
    public static uint Unmask(ReadOnlySpan<byte> source, Span<byte> destination, uint mask)
    {
        var done = 0;
        if (source.Length >= Vector<byte>.Count)
        {
            var key = Vector.AsVectorByte(new Vector<uint>(mask));
            for (; done <= source.Length - Vector<byte>.Count; done += Vector<byte>.Count)
            {
                (new Vector<byte>(source[done..]) ^ key).CopyTo(destination[done..]);
            }
        }

        for (; done <= source.Length - sizeof(uint); done += sizeof(uint))
        {
            var word = MemoryMarshal.Read<uint>(source[done..]) ^ mask;
            MemoryMarshal.Write(destination[done..], in word);
        }

        for (var shift = 0; done < source.Length; done++, shift += 8)
        {
            destination[done] = (byte)(source[done] ^ (mask >> shift));
        }

        return BitOperations.RotateRight(mask, (source.Length & 3) * 8);
    }
}
