using System.Runtime.InteropServices;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Users;

/// <summary>The milestones of users in one segment as far as it was read, in the order of the log. For one thread at a time.</summary>
/// <param name="segment">Which.</param>
/// <param name="hash">Of users.</param>
internal sealed class UserRecords(Segment segment, EventIdHash hash)
{
    private readonly List<UserRecord> _records = [];

    public Segment Segment => segment;

    public EventIdHash Hash => hash;

    /// <summary>Up to here it was read.</summary>
    public int End { get; private set; } = SegmentHeader.Bytes;

    public int Count => _records.Count;

    /// <summary>Reads what is on stable storage since, at most so many bytes. False = there is more.</summary>
    public bool Read(SegmentScan scan, int bytes)
    {
        var end = segment.End;
        scan.Start(segment.File, segment.Number, End, end);
        while (!scan.IsAtEnd && scan.Offset - End < bytes && (scan.TryRead(out var record) || scan.TryFindNext(out record)))
        {
            Add(record, scan.Offset);
            scan.Skip(record);
        }

        End = Math.Min(scan.Offset, end);
        return scan.IsAtEnd;
    }

    /// <summary>The user's events before the page's place.</summary>
    public void Find(string app, string user, UserPlaces page)
    {
        var key = KeyOf(hash.Of(app, user));
        foreach (ref readonly var record in CollectionsMarshal.AsSpan(_records))
        {
            if (record.Key == key && record.Root < page.Before)
            {
                page.Add(segment.Number, record);
            }
        }
    }

    /// <summary>All of them by user, event and place. They are not in the log's order any more: the last thing that is done with them.</summary>
    public ReadOnlySpan<UserRecord> Sort()
    {
        _records.Sort();
        return CollectionsMarshal.AsSpan(_records);
    }

    /// <summary>False for a frame on a socket, which the event's timeline tells: here it would be a third of all; and for how far a fan-out came.</summary>
    internal static bool Holds(MilestoneKind kind) => kind is not (MilestoneKind.Framed or MilestoneKind.Reached);

    internal static uint KeyOf(ulong hash) => (uint)(hash >> 32);

    private void Add(in Record record, int offset)
    {
        if (record.Kind == RecordKind.Milestone && Holds(Payload.KindOf(record)) && Payload.UserOf(record) is { IsEmpty: false } user)
        {
            Payload.Key(record, out var app, out _);
            _records.Add(new UserRecord(KeyOf(hash.Of(app, user)), offset, record.Root));
        }
    }
}
