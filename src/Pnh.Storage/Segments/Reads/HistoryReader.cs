using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Reads;

/// <summary>Puts an event together from its records. Reads stable storage only; any thread, each call on its own.</summary>
internal sealed class HistoryReader
{
    private readonly SegmentSet _segments;

    public HistoryReader(SegmentSet segments) => _segments = segments;

    /// <summary>The event that stands there; null = its segment was removed meanwhile. Throws StoreUnavailableException when it is damaged.</summary>
    public StoredEvent? Event(long root)
    {
        using var reader = new RecordReader(_segments);
        return reader.TryRead(root, out var record) switch
        {
            ReadResult.Found => Payload.Event(record),
            ReadResult.Gone => null,
            _ => throw _segments.Unreadable(root),
        };
    }

    /// <summary>The same with its milestones up to <paramref name="head"/>, oldest first.</summary>
    public EventHistory? Read(long root, long head) =>
        Event(root) is { } stored && Milestones(root, head) is { } milestones ? new EventHistory(stored, milestones) : null;

    /// <summary>
    /// The event with this key on stable storage; null = none, or past the retention. False = the index is ahead of the disk: what it knows of this
    /// event is being written right now, its acceptance or a move, and only who asks behind the writer gets an answer.
    /// </summary>
    /// <param name="index">Where to look.</param>
    /// <param name="app">Whose.</param>
    /// <param name="id">Which.</param>
    /// <param name="retention">How long ids are recognised.</param>
    /// <param name="now">UTC ticks.</param>
    /// <param name="found">The event.</param>
    public bool TryFind(EventIndex index, string app, string id, TimeSpan retention, long now, out StoredEvent? found)
    {
        found = null;
        using var reader = new RecordReader(_segments);
        var hash = index.Hash.Of(app, id);
        for (var nth = 0; index.TryFind(hash, nth, out var entry); nth++)
        {
            // Asked before it is read: what becomes synced in between would look damaged.
            var isSynced = IsSynced(entry.Root);
            var result = reader.TryRead(entry.Root, out var record);
            if (!isSynced || result == ReadResult.Gone)
            {
                return false;
            }

            if (result == ReadResult.Damaged)
            {
                throw _segments.Unreadable(entry.Root);
            }

            if (Payload.IsEvent(record, app, id, out _))
            {
                var (acceptedAt, expiresAt) = Payload.Times(record);
                found = IndexEntry.IsOver(acceptedAt, expiresAt, entry.IsFinished, retention, now) ? null : Payload.Event(record);
                return true;
            }
        }

        return true;
    }

    private bool IsSynced(long position) =>
        _segments.Find(Position.Segment(position)) is { } segment && Position.Offset(position) < segment.End;

    /// <summary>Null = removed meanwhile.</summary>
    public List<Milestone>? Milestones(long root, long head)
    {
        using var reader = new RecordReader(_segments);
        var found = new List<Milestone>();
        var chain = new MilestoneChain(reader, root, head, after: root);
        while (chain.MoveNext())
        {
            found.Add(Payload.Milestone(chain.Current));
        }

        if (chain.IsBroken)
        {
            return Search(root, head);
        }

        found.Reverse();
        return found;
    }

    /// <summary>The slow way: all records between the two, whatever they name. Null = removed meanwhile. Throws where one is damaged and was not put aside.</summary>
    private List<Milestone>? Search(long root, long head)
    {
        var found = new List<Milestone>();
        var scan = new SegmentScan(Record.MostBytes);
        try
        {
            foreach (var segment in _segments.All)
            {
                if (segment.Number >= Position.Segment(root) && segment.Number <= Position.Segment(head))
                {
                    Search(scan, segment, root, head, found);
                }
            }
        }
        catch (ObjectDisposedException)
        {
            return null;
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }

        return _segments.Find(Position.Segment(root)) is null ? null : found;
    }

    private void Search(SegmentScan scan, Segment segment, long root, long head, List<Milestone> found)
    {
        var from = segment.Number == Position.Segment(root) ? Position.Offset(root) : SegmentHeader.Bytes;
        scan.Start(segment.File, segment.Number, from, segment.End);
        for (long at; !scan.IsAtEnd && (at = Position.Of(segment.Number, scan.Offset)) <= head;)
        {
            if (!scan.TryRead(out var record))
            {
                throw _segments.Unreadable(at);
            }

            if (record.Root == root && record.Kind == RecordKind.Milestone)
            {
                found.Add(Payload.Milestone(record));
            }

            scan.Skip(record);
        }
    }
}
