using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Reads;

/// <summary>Reads outcomes and address notes straight from the log, in its order. Thread-safe.</summary>
internal sealed class FeedReader
{
    // A page ends there also when it is not full: an app with few entries must not hold a thread for the whole log. Some 5 ms.
    private const int PageBytes = 8 * 1024 * 1024;

    private readonly SegmentSet _segments;

    public FeedReader(SegmentSet segments) => _segments = segments;

    /// <summary>As <see cref="IEventJournal.ReadFeedAsync"/>, at once.</summary>
    public FeedPage Read(string app, string? after, int limit)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var given = after is null ? 0 : Position.Parse(after);
        var scan = SegmentScan.Rent();
        try
        {
            while (true)
            {
                var oldest = _segments.Oldest;
                try
                {
                    return Read(scan, app, given, limit);
                }
                catch (ObjectDisposedException) when (_segments.Oldest != oldest)
                {
                    // Its oldest segment was removed meanwhile: once more, from what is oldest now.
                }
            }
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }
        finally
        {
            scan.GiveBack();
        }
    }

    private FeedPage Read(SegmentScan scan, string app, long given, int limit)
    {
        var all = _segments.All;
        var (at, offset, isGap) = Start(all, given);
        var entries = new List<FeedEntry>();
        for (var left = PageBytes; ;)
        {
            var segment = all[at];
            scan.Start(segment.File, segment.Number, offset, segment.End);
            while (!scan.IsAtEnd && entries.Count < limit && left > 0 && (scan.TryRead(out var record) || scan.TryFindNext(out record)))
            {
                left -= record.PaddedBytes;
                scan.Skip(record);
                Add(entries, app, record, Position.Of(segment.Number, scan.Offset));
            }

            offset = scan.Offset;
            var isLast = at == all.Length - 1 || all[at + 1].End == SegmentHeader.Bytes;
            if (!scan.IsAtEnd || isLast || entries.Count == limit)
            {
                return new FeedPage(entries, Position.ToText(Position.Of(segment.Number, offset)), isGap, scan.IsAtEnd && isLast);
            }

            (at, offset) = (at + 1, SegmentHeader.Bytes);
        }
    }

    private static (int At, int Offset, bool IsGap) Start(ReadOnlySpan<Segment> all, long given)
    {
        if (given == 0)
        {
            return (0, SegmentHeader.Bytes, false);
        }

        var (number, offset) = (Position.Segment(given), Position.Offset(given));
        for (var at = 0; at < all.Length; at++)
        {
            if (all[at].Number == number)
            {
                return offset <= all[at].End ? (at, offset, false) : throw new FormatException("Not a cursor of this journal.");
            }

            if (all[at].Number > number)
            {
                // Right at the end of a removed segment nothing is missed.
                var header = all[at].Header;
                return (at, SegmentHeader.Bytes, !(header.Before == number && header.BeforeEnd == offset));
            }
        }

        throw new FormatException("Not a cursor of this journal.");
    }

    private static void Add(List<FeedEntry> entries, string app, in Record record, long next)
    {
        var isOutcome = record.Kind == RecordKind.Milestone && (record.Flags & RecordFlags.Repeated) == 0
            && MilestoneViews.IsOutcome(Payload.KindOf(record), hasUser: Payload.KindOf(record) == MilestoneKind.Dispatched && !Payload.UserOf(record).IsEmpty);
        if ((isOutcome || record.Kind == RecordKind.Address) && Payload.IsOf(record, app))
        {
            var shape = Payload.Milestone(record);
            entries.Add(isOutcome
                ? new FeedEntry(Position.ToText(next), shape, null)
                : new FeedEntry(Position.ToText(next), null, Payload.ToAddress(shape)));
        }
    }
}
