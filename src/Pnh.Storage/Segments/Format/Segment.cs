namespace Pnh.Storage.Segments.Format;

/// <summary>One file of the log. The writer changes it; readers see <see cref="End"/> grow, and read no further.</summary>
internal sealed class Segment
{
    private int _end;

    /// <param name="header">As in the file.</param>
    /// <param name="file">Open until the segment is removed.</param>
    /// <param name="end">Where its records on stable storage end.</param>
    public Segment(in SegmentHeader header, IJournalFile file, int end)
    {
        Header = header;
        File = file;
        _end = end;
        Newest = header.MadeAt;
    }

    public SegmentHeader Header { get; set; }

    public IJournalFile File { get; }

    public int Number => Header.Number;

    public int End
    {
        get => Volatile.Read(ref _end);
        set => Volatile.Write(ref _end, value);
    }

    /// <summary>Up to here the file's blocks were written since it was opened, be it with zeros.</summary>
    public int Filled { get; set; }

    public int Room => (int)Header.FileBytes - End;

    /// <summary>
    /// UTC ticks of its youngest record, at least of its making: the retention counts from here. A carried event does not count from its
    /// acceptance, so that it is rewritten once per retention, not all the time.
    /// </summary>
    public long Newest { get; private set; }

    public void Saw(long ticks) => Newest = Math.Max(Newest, ticks);
}
