using System.Buffers;
using System.Runtime.InteropServices;

namespace Pnh.Storage.Segments.Users;

/// <summary>Where a milestone of a user stands in its segment, and of which event it is. 16 bytes, in memory as in a file.</summary>
/// <param name="Key">Half of the user's hash: who reads compares the name.</param>
/// <param name="Offset">Where the milestone stands.</param>
/// <param name="Root">The event's first record.</param>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly record struct UserRecord(uint Key, int Offset, long Root) : IComparable<UserRecord>
{
    public const int Bytes = 16;

    private const int Digits = 4;
    private const int Values = 256;

    /// <summary>
    /// Puts them in order. By user digit by digit: the hash's digits are even, and so this takes a tenth of the time of comparisons; then each user's few.
    /// </summary>
    public static void Sort(Span<UserRecord> records)
    {
        var rented = ArrayPool<UserRecord>.Shared.Rent(records.Length);
        var from = records;
        var to = rented.AsSpan(0, records.Length);
        Span<int> places = stackalloc int[Values + 1];
        for (var digit = 0; digit < Digits; digit++)
        {
            places.Clear();
            foreach (ref readonly var record in from)
            {
                places[(byte)(record.Key >> (8 * digit)) + 1]++;
            }

            for (var i = 1; i < places.Length; i++)
            {
                places[i] += places[i - 1];
            }

            foreach (ref readonly var record in from)
            {
                to[places[(byte)(record.Key >> (8 * digit))]++] = record;
            }

            var sorted = to;
            to = from;
            from = sorted;
        }

        // After four digits they are back in the first span.
        ArrayPool<UserRecord>.Shared.Return(rented);
        for (var start = 0; start < records.Length;)
        {
            var end = start + 1;
            var isInOrder = true;
            for (; end < records.Length && records[end].Key == records[start].Key; end++)
            {
                isInOrder &= records[end - 1].CompareTo(records[end]) <= 0;
            }

            if (!isInOrder)
            {
                records[start..end].Sort();
            }

            start = end;
        }
    }

    /// <summary>By user, then by event, then by place.</summary>
    public int CompareTo(UserRecord other) =>
        Key != other.Key ? Key.CompareTo(other.Key) : Root != other.Root ? Root.CompareTo(other.Root) : Offset.CompareTo(other.Offset);
}
