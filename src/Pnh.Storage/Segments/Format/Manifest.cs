using System.Buffers.Binary;

namespace Pnh.Storage.Segments.Format;

/// <summary>
/// What a start must find of the log: all segments from the first to the last, and the last up to an end. As 64 bytes, little-endian: name 8, checksum 4, flags 4,
/// number of the write 8, group 8, folder id 4, first 4, last 4, end 4, zeros.
/// </summary>
/// <param name="Folder">The folder's id, which its registry has too; never 0.</param>
/// <param name="First">Number of the oldest segment.</param>
/// <param name="Last">Number of the one that is written; 0 = none was made yet.</param>
/// <param name="End">Up to here its records were on stable storage. More may stand behind it.</param>
/// <param name="Group">A group number that is not smaller than any up to there.</param>
/// <param name="IsPaired">The registry has the folder's id.</param>
internal readonly record struct Manifest(int Folder, int First, int Last, int End, ulong Group, bool IsPaired)
{
    public const int Bytes = 64;

    // "PNHMANI1"
    private const ulong Mark = 0x31494E414D484E50;

    public static bool TryRead(ReadOnlySpan<byte> from, int offset, out ulong write, out Manifest manifest)
    {
        (write, manifest) = (0, default);
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt64LittleEndian(from) != Mark
            || BinaryPrimitives.ReadUInt32LittleEndian(from[8..]) != Checksum.Of(offset, from[12..Bytes]))
        {
            return false;
        }

        write = BinaryPrimitives.ReadUInt64LittleEndian(from[16..]);
        manifest = new Manifest(
            BinaryPrimitives.ReadInt32LittleEndian(from[32..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[36..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[40..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[44..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[12..]) == 1);
        return true;
    }

    public void Write(Span<byte> to, int offset, ulong write)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(to, Mark);
        BinaryPrimitives.WriteInt32LittleEndian(to[12..], IsPaired ? 1 : 0);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], write);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], Group);
        BinaryPrimitives.WriteInt32LittleEndian(to[32..], Folder);
        BinaryPrimitives.WriteInt32LittleEndian(to[36..], First);
        BinaryPrimitives.WriteInt32LittleEndian(to[40..], Last);
        BinaryPrimitives.WriteInt32LittleEndian(to[44..], End);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], Checksum.Of(offset, to[12..]));
    }
}
