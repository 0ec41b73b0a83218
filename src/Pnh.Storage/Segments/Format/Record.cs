using System.Buffers.Binary;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Format;

/// <summary>What a record says. Numbers are stored: never renumber.</summary>
internal enum RecordKind : byte
{
    /// <summary>An event with its body.</summary>
    Accepted = 1,

    /// <summary>A milestone of an event.</summary>
    Milestone = 2,

    /// <summary>The event needs nothing any more.</summary>
    Finished = 3,

    /// <summary>An address note, in the shape of a milestone without event.</summary>
    Address = 4,

    /// <summary>An open event out of a segment that was removed; its milestones follow, in the same group unless it is <see cref="RecordFlags.Partial"/>.</summary>
    Carried = 5,

    /// <summary>Nothing, in a group of its own: versions before the manifest proved with it that the group before was synced; now it tries whether a disk takes groups again.</summary>
    Seal = 6,

    /// <summary>A damaged stretch that was put aside. Only its header is checked.</summary>
    Void = 7,
}

/// <summary>Stored: never renumber.</summary>
[Flags]
internal enum RecordFlags : byte
{
    None = 0,

    /// <summary>The last of its group: a last group without it was never whole.</summary>
    GroupEnd = 1,

    /// <summary>A milestone that came along with a carried event; the feed had it before.</summary>
    Repeated = 2,

    /// <summary>The publisher chose the event's id.</summary>
    IdGiven = 4,

    /// <summary>
    /// Of a <see cref="RecordKind.Carried"/>: it is copied in parts, and counts for nothing before the last one. Of a milestone: it is in that last one, which as a group
    /// is there whole or not at all.
    /// </summary>
    Partial = 8,

    /// <summary>Here and one above: the event's class, of <see cref="RecordKind.Accepted"/> and <see cref="RecordKind.Carried"/>.</summary>
    Class = 16 + 32,

    /// <summary>
    /// Of a <see cref="RecordKind.Milestone"/>: it is a <see cref="MilestoneKind.Rested"/>, and stands as a <see cref="MilestoneKind.Reached"/>, which versions before it pass over. Of a
    /// <see cref="RecordKind.Carried"/>: nothing of the event was under way when its copy began.
    /// </summary>
    Rested = 64,
}

/// <summary>
/// One record as it stands in a segment, little-endian: checksum 4, length 4 (with header, without padding), kind 1, flags 1, mark 2, offset
/// of its group's first record 4, group number 8, root (the event's <see cref="RecordKind.Accepted"/>) 8, previous of the same event 8, payload, zeros up to a multiple of 8.
/// </summary>
internal readonly ref struct Record
{
    public const int Alignment = 8;
    public const int HeaderBytes = 40;

    /// <summary>No record is larger: an event has 64 kB and few short texts; texts of a milestone are cut at 4,096 characters.</summary>
    public const int MostBytes = 192 * 1024;

    private const ushort Mark = 0x4A50;

    private readonly ReadOnlySpan<byte> _bytes;

    private Record(ReadOnlySpan<byte> bytes) => _bytes = bytes;

    public RecordKind Kind => (RecordKind)_bytes[8];

    public RecordFlags Flags => (RecordFlags)_bytes[9];

    public EventClass Class => (EventClass)((int)(Flags & RecordFlags.Class) / 16);

    public int GroupStart => BinaryPrimitives.ReadInt32LittleEndian(_bytes[12..]);

    public ulong Group => BinaryPrimitives.ReadUInt64LittleEndian(_bytes[16..]);

    public long Root => BinaryPrimitives.ReadInt64LittleEndian(_bytes[24..]);

    public long Previous => BinaryPrimitives.ReadInt64LittleEndian(_bytes[32..]);

    public ReadOnlySpan<byte> Payload => _bytes[HeaderBytes..Length];

    /// <summary>How far the next record is.</summary>
    public int PaddedBytes => Padded(Length);

    private int Length => BinaryPrimitives.ReadInt32LittleEndian(_bytes[4..]);

    public static int Padded(int length) => (length + Alignment - 1) & -Alignment;

    /// <summary>How many bytes have to be there to judge what begins here; 0 = this is no record.</summary>
    public static int BytesToCheck(ReadOnlySpan<byte> header)
    {
        var length = BinaryPrimitives.ReadInt32LittleEndian(header[4..]);
        var kind = (RecordKind)header[8];
        return BinaryPrimitives.ReadUInt16LittleEndian(header[10..]) != Mark || length < HeaderBytes || kind is < RecordKind.Accepted or > RecordKind.Void ? 0
            : kind == RecordKind.Void ? HeaderBytes
            : length <= MostBytes ? Padded(length) : 0;
    }

    /// <summary>False when what begins here is no undamaged record of this place, or not all of it is in <paramref name="bytes"/>.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, long position, out Record record)
    {
        record = default;
        var needed = bytes.Length < HeaderBytes ? 0 : BytesToCheck(bytes);
        if (needed == 0 || needed > bytes.Length
            || Checksum.Of(position, bytes[4..needed]) != BinaryPrimitives.ReadUInt32LittleEndian(bytes))
        {
            return false;
        }

        record = new Record(bytes[..needed]);
        return true;
    }

    /// <summary>A record that this process wrote and did not sync yet: not checked.</summary>
    public static Record Trusted(ReadOnlySpan<byte> bytes) => new(bytes);

    /// <summary>Writes a header without length and checksum.</summary>
    public static void WriteHeader(Span<byte> header, RecordKind kind, RecordFlags flags, int groupStart, ulong group, long root, long previous)
    {
        header[8] = (byte)kind;
        header[9] = (byte)flags;
        BinaryPrimitives.WriteUInt16LittleEndian(header[10..], Mark);
        BinaryPrimitives.WriteInt32LittleEndian(header[12..], groupStart);
        BinaryPrimitives.WriteUInt64LittleEndian(header[16..], group);
        BinaryPrimitives.WriteInt64LittleEndian(header[24..], root);
        BinaryPrimitives.WriteInt64LittleEndian(header[32..], previous);
    }

    public static void WriteLength(Span<byte> header, int length) => BinaryPrimitives.WriteInt32LittleEndian(header[4..], length);

    /// <summary>Sets flags and checksum of the whole record (all of a <see cref="RecordKind.Void"/>'s header) that begins here; its padded length.</summary>
    public static int Close(Span<byte> bytes, long position, RecordFlags more)
    {
        bytes[9] |= (byte)more;
        var needed = BytesToCheck(bytes);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Checksum.Of(position, bytes[4..needed]));
        return needed;
    }
}
