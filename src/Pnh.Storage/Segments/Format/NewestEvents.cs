namespace Pnh.Storage.Segments.Format;

/// <summary>
/// Finds an app's newest events in the log. Records name those before them of the same event alone, so the log is read in stretches from its end on, each forwards. Costs what
/// is read, whatever the log has besides. For one thread.
/// </summary>
/// <param name="segments">The log.</param>
/// <param name="scan">Reads it; of <see cref="SegmentScan.Rent"/>.</param>
/// <param name="app">Whose.</param>
/// <param name="limit">1 or more: at most so many.</param>
internal sealed class NewestEvents(SegmentSet segments, SegmentScan scan, string app, int limit)
{
    // Some 500 events; twice as much each time that it had too few of this app.
    private const int FirstStretch = SegmentScan.RentedBytes;
    private const int LargestStretch = 4 * 1024 * 1024;

    // Of an app that sends next to nothing beside others a call ends all the same, after some 20 ms, and says where to go on.
    private const int MostBytes = 16 * 1024 * 1024;

    private readonly List<long> _stretch = [];

    /// <summary>Where their first records stand, newest first. What was carried on is not among them: it is older than what stands around it.</summary>
    public List<long> Roots { get; } = [];

    /// <summary>Where to go on with older ones; null = there are none.</summary>
    public long? Next { get; private set; }

    /// <summary>Looks for those before a place. Faults are <see cref="IOException"/>.</summary>
    public void Find(long before)
    {
        Next = null;
        var (left, stretch) = (MostBytes, FirstStretch);
        var all = segments.All;
        try
        {
            for (var i = all.Length - 1; i >= 0; i--)
            {
                var end = EndBefore(all[i], before);
                while (end > SegmentHeader.Bytes)
                {
                    if (Roots.Count == limit || left <= 0)
                    {
                        Next = Roots.Count == limit ? Roots[^1] : Position.Of(all[i].Number, end);
                        return;
                    }

                    var start = Math.Max(SegmentHeader.Bytes, (end - stretch) & -Record.Alignment);
                    if (!TryRead(all[i], start, end))
                    {
                        Next = Roots[^1];
                        return;
                    }

                    (left, end, stretch) = (left - (end - start), start, Math.Min(2 * stretch, LargestStretch));
                }
            }
        }
        catch (ObjectDisposedException)
        {
            // The segment was removed meanwhile, and all before it.
        }
    }

    /// <summary>Where what stands before the place ends in the segment; 0 = all of it stands behind.</summary>
    private static int EndBefore(Segment segment, long before) => segment.Number.CompareTo(Position.Segment(before)) switch
    {
        < 0 => segment.End,
        0 => Math.Min(segment.End, Position.Offset(before)),
        _ => 0,
    };

    /// <summary>Takes the events that begin between the two; one that begins before and ends in between is of the stretch before. False = they are more than the limit.</summary>
    private bool TryRead(Segment segment, int start, int end)
    {
        _stretch.Clear();
        scan.Start(segment.File, segment.Number, start, segment.End);
        while (scan.Offset < end && (scan.TryRead(out var record) || scan.TryFindNext(out record)) && scan.Offset < end)
        {
            if (record.Kind == RecordKind.Accepted && Payload.IsOf(record, app))
            {
                _stretch.Add(Position.Of(segment.Number, scan.Offset));
            }

            scan.Skip(record);
        }

        var taken = 0;
        for (var i = _stretch.Count - 1; i >= 0 && Roots.Count < limit; i--)
        {
            Roots.Add(_stretch[i]);
            taken++;
        }

        return taken == _stretch.Count;
    }
}
