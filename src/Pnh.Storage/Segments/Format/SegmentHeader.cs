using System.Buffers.Binary;

namespace Pnh.Storage.Segments.Format;

/// <summary>
/// The first 64 bytes of a segment: name 8, checksum 4, number 4, file size 8, end of the segment before 8, its number 8, made at 8 (UTC ticks), last group before 8, folder id 4, zeros.
/// It is synced before the first record, so a segment before the last ends where its successor says.
/// </summary>
/// <param name="Number">Of this segment, as in its file's name.</param>
/// <param name="FileBytes">How long the file was made; a shorter one was cut.</param>
/// <param name="Before">Number of the segment before; 0 = none.</param>
/// <param name="BeforeEnd">Where that one ends.</param>
/// <param name="MadeAt">UTC ticks.</param>
/// <param name="LastGroup">The last group number given before.</param>
/// <param name="Folder">The folder's id, as in its <see cref="Manifest"/>, which there must be then; 0 = made by a version without manifests.</param>
internal readonly record struct SegmentHeader(int Number, long FileBytes, int Before, int BeforeEnd, long MadeAt, ulong LastGroup, int Folder)
{
    public const int Bytes = 64;

    // "PNHJRNL1"
    private const ulong Mark = 0x314C4E524A484E50;

    public static bool TryRead(ReadOnlySpan<byte> from, int number, out SegmentHeader header)
    {
        header = default;
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt64LittleEndian(from) != Mark
            || BinaryPrimitives.ReadUInt32LittleEndian(from[8..]) != Checksum.Of(Position.Of(number, 0), from[12..Bytes]))
        {
            return false;
        }

        header = new SegmentHeader(
            BinaryPrimitives.ReadInt32LittleEndian(from[12..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[16..]),
            (int)BinaryPrimitives.ReadInt64LittleEndian(from[32..]),
            (int)BinaryPrimitives.ReadInt64LittleEndian(from[24..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[40..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[48..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[56..]));
        return header.Number == number;
    }

    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(to, Mark);
        BinaryPrimitives.WriteInt32LittleEndian(to[12..], Number);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], FileBytes);
        BinaryPrimitives.WriteInt64LittleEndian(to[24..], BeforeEnd);
        BinaryPrimitives.WriteInt64LittleEndian(to[32..], Before);
        BinaryPrimitives.WriteInt64LittleEndian(to[40..], MadeAt);
        BinaryPrimitives.WriteUInt64LittleEndian(to[48..], LastGroup);
        BinaryPrimitives.WriteInt32LittleEndian(to[56..], Folder);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], Checksum.Of(Position.Of(Number, 0), to[12..]));
    }
}
