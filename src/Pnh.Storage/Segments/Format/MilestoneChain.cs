namespace Pnh.Storage.Segments.Format;

/// <summary>Walks an event's milestones by their links, newest first. For one thread.</summary>
/// <param name="reader">Reads each; what is current is good until the next step.</param>
/// <param name="root">The event's first record.</param>
/// <param name="head">Where to begin.</param>
/// <param name="after">Where to end: the root, or a milestone that is known.</param>
internal ref struct MilestoneChain(RecordReader reader, long root, long head, long after)
{
    private long _next = head;

    public Record Current { get; private set; }

    /// <summary>Where <see cref="Current"/> stands.</summary>
    public long Position { get; private set; }

    /// <summary>A stretch or a segment that was put aside took a link with it, or all of it is gone: what came so far is not all.</summary>
    public bool IsBroken { get; private set; }

    public bool MoveNext()
    {
        if (_next <= after)
        {
            return false;
        }

        if (!TryRead(reader, root, _next, out var record))
        {
            IsBroken = true;
            return false;
        }

        Current = record;
        Position = _next;
        _next = record.Previous;
        return true;
    }

    /// <summary>One of the event's milestones, wherever in the chain; false = it does not stand there.</summary>
    public static bool TryRead(RecordReader reader, long root, long position, out Record record) =>
        reader.TryRead(position, out record) == ReadResult.Found && record.Root == root && record.Kind == RecordKind.Milestone;
}
