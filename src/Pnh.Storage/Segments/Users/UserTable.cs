using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Users;

/// <summary>
/// The milestones of users in a segment that is not written any more, in a file beside the log, sorted by user: checksum 4, version 4, segment 4, its end 4, key of the
/// hash 16, when the segment was made 8, then the records, all little-endian. It says nothing that the segment does not: one that is missing or damaged is made again. Checked whole when it is
/// opened; immutable, any thread.
/// </summary>
internal sealed class UserTable
{
    private const int HeaderBytes = 40;
    private const uint Version = 3;

    // One read of 4 kB then has what is looked for, and 25 kB of memory stand for a segment of 100,000 deliveries.
    private const int Stride = 256;

    private readonly IJournalFolder _folder;
    private readonly EventIdHash _hash;
    private readonly UserRecord[] _samples;
    private readonly int _segment;
    private readonly int _count;

    private UserTable(IJournalFolder folder, int segment, ReadOnlySpan<byte> file)
    {
        (_folder, _segment) = (folder, segment);
        _hash = new EventIdHash(BinaryPrimitives.ReadUInt64LittleEndian(file[16..]), BinaryPrimitives.ReadUInt64LittleEndian(file[24..]));
        var records = MemoryMarshal.Cast<byte, UserRecord>(file[HeaderBytes..]);
        _count = records.Length;
        _samples = new UserRecord[(_count + Stride - 1) / Stride];
        for (var i = 0; i < _samples.Length; i++)
        {
            _samples[i] = records[i * Stride];
        }
    }

    public static string FileName(int segment) => SegmentSet.FileName(segment) + ".users";

    /// <summary>The segment in a table's file name; 0 = not one.</summary>
    public static int SegmentOf(string name) => name.EndsWith(".users", StringComparison.Ordinal) ? SegmentSet.NumberOf(name[..^6]) : 0;

    /// <summary>Writes the table of a segment that is not written any more. Faults are <see cref="IOException"/>.</summary>
    /// <param name="folder">Where to.</param>
    /// <param name="before">What the segment had when the process began with it; null = nothing.</param>
    /// <param name="records">What came then.</param>
    public static UserTable Write(IJournalFolder folder, UserRecords? before, UserRecords records)
    {
        var (first, count) = (before?.Count ?? 0, records.Count);
        var bytes = HeaderBytes + ((first + count) * UserRecord.Bytes);
        var rented = ArrayPool<byte>.Shared.Rent(bytes);
        try
        {
            var file = rented.AsSpan(0, bytes);
            Fill(file, before, records, first);

            // Not synced, which would hold up the journal's: a table that a crash cut fails its checksum, and is made again.
            using var written = folder.Create(FileName(records.Segment.Number), bytes);
            written.Write(file, 0);
            return new UserTable(folder, records.Segment.Number, file);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    private static void Fill(Span<byte> file, UserRecords? before, UserRecords records, int first)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(file[4..], Version);
        BinaryPrimitives.WriteInt32LittleEndian(file[8..], records.Segment.Number);
        BinaryPrimitives.WriteInt32LittleEndian(file[12..], records.Segment.End);
        records.Hash.WriteKey(file[16..]);
        BinaryPrimitives.WriteInt64LittleEndian(file[32..], records.Segment.Header.MadeAt);
        var all = MemoryMarshal.Cast<byte, UserRecord>(file[HeaderBytes..]);
        before?.CopyTo(all[..first]);
        records.CopyTo(all[first..]);
        UserRecord.Sort(all);
        BinaryPrimitives.WriteUInt32LittleEndian(file, Checksum.Of(0, file[4..]));
    }

    /// <summary>Null when there is none, or it is damaged, of another version or of another segment.</summary>
    public static UserTable? TryOpen(IJournalFolder folder, Segment segment)
    {
        try
        {
            using var opened = folder.Open(FileName(segment.Number));

            // A record of a table is shorter than that of the log which it stands for: a longer file is none of the hub's.
            var file = new byte[opened.Length <= segment.End ? opened.Length : 0];
            return file.Length >= HeaderBytes && (file.Length - HeaderBytes) % UserRecord.Bytes == 0 && opened.Read(file, 0) == file.Length
                && BinaryPrimitives.ReadUInt32LittleEndian(file) == Checksum.Of(0, file.AsSpan(4))
                && BinaryPrimitives.ReadUInt32LittleEndian(file.AsSpan(4)) == Version
                && BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(8)) == segment.Number
                && BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(12)) == segment.End
                && BinaryPrimitives.ReadInt64LittleEndian(file.AsSpan(32)) == segment.Header.MadeAt
                ? new UserTable(folder, segment.Number, file) : null;
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>The user's newest events before the page's place, as many as the page takes. Faults are <see cref="IOException"/>.</summary>
    public void Find(string app, string user, UserPlaces page)
    {
        var first = new UserRecord(UserRecords.KeyOf(_hash.Of(app, user)), 0, 0);
        var behind = first with { Root = page.Before };
        using var file = _folder.Open(FileName(_segment));
        Span<UserRecord> window = stackalloc UserRecord[Stride];
        var (roots, last) = (0, 0L);

        // Backwards from the window with the last record before the place.
        for (var at = _samples.AsSpan().BinarySearch(behind) is var found && found < 0 ? ~found - 1 : found; at >= 0; at--)
        {
            var records = Read(file, at, window);
            for (var i = records.Length - 1; i >= 0; i--)
            {
                if (records[i].CompareTo(behind) >= 0)
                {
                    continue;
                }

                if (records[i].CompareTo(first) < 0)
                {
                    return;
                }

                if (records[i].Root != last && ++roots > page.Limit)
                {
                    page.LeftOut();
                    return;
                }

                last = records[i].Root;
                page.Add(_segment, records[i]);
            }
        }
    }

    private ReadOnlySpan<UserRecord> Read(IJournalFile file, int at, Span<UserRecord> into)
    {
        into = into[..Math.Min(Stride, _count - (at * Stride))];
        var bytes = MemoryMarshal.AsBytes(into);
        return file.Read(bytes, HeaderBytes + ((long)at * Stride * UserRecord.Bytes)) == bytes.Length
            ? into
            : throw new IOException($"{FileName(_segment)} was cut short");
    }
}
