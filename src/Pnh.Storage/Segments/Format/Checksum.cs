using System.Buffers.Binary;
using System.Numerics;

namespace Pnh.Storage.Segments.Format;

/// <summary>CRC32C over whole 8-byte words, seeded with where they stand, so that right bytes in the wrong place are wrong.</summary>
internal static class Checksum
{
    /// <param name="position">Where the bytes stand.</param>
    /// <param name="bytes">A multiple of 8, less the 4 of the checksum itself in front.</param>
    public static uint Of(long position, ReadOnlySpan<byte> bytes)
    {
        var crc = BitOperations.Crc32C(~0u, (ulong)position);
        crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt32LittleEndian(bytes));
        for (bytes = bytes[4..]; bytes.Length >= 8; bytes = bytes[8..])
        {
            crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        }

        return ~crc;
    }
}
