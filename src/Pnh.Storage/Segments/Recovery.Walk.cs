using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>One segment after the other, record by record.</summary>
internal sealed partial class Recovery
{
    private void WalkOrPutAside(int at)
    {
        // Without a readable header after it, where a segment ends has to be found out. Of a cut file the end may be behind what is left.
        var segment = _segments.All[at];
        var known = at + 1 < _segments.Count && _segments.All[at + 1].Header is var next && next.Before == segment.Number ? next.BeforeEnd : 0;
        var synced = known > 0 ? known : _ends.SyncedEnd(segment.Number);
        var end = known > 0 ? known : Math.Max((int)segment.File.Length, synced);
        if (_ends.IsForeign(segment))
        {
            (segment.End, _groupStart, _isWhole) = (end, 0, true);
            PutAside(segment, SegmentHeader.Bytes, end, "is of another data folder");
        }
        else
        {
            Walk(segment, end, synced);
        }
    }

    /// <param name="segment">Which.</param>
    /// <param name="end">Nothing of it stands behind.</param>
    /// <param name="syncedEnd">All before this was on stable storage.</param>
    private void Walk(Segment segment, int end, int syncedEnd)
    {
        _scan.Start(segment.File, segment.Number, SegmentHeader.Bytes, end);
        segment.End = end;
        _syncedEnd = syncedEnd;
        _index.Keep();
        (_groupStart, _isWhole) = (0, true);
        while (!_scan.IsAtEnd)
        {
            if (_scan.TryRead(out var record) && IsInOrder(record))
            {
                Take(segment, record);
                _scan.Skip(record);
            }
            else if (!TrySkipDamage(segment))
            {
                return;
            }
        }

        if (syncedEnd < end)
        {
            Cut(segment, end);
        }
    }

    /// <summary>False for what a failed attempt left behind: its number was passed.</summary>
    private bool IsInOrder(in Record record) =>
        record.Kind == RecordKind.Void || record.Group > _group || (record.Group == _group && record.GroupStart == _groupStart);

    private void Take(Segment segment, in Record record)
    {
        if (record.Kind == RecordKind.Void)
        {
            return;
        }

        if (record.Group != _group)
        {
            // A group after it: the one before was synced, whole or not.
            _index.Keep();
            (_group, _groupStart, _isWhole) = (record.Group, record.GroupStart, false);
        }

        Apply(segment, record, Position.Of(segment.Number, _scan.Offset));
        if ((record.Flags & RecordFlags.GroupEnd) != 0)
        {
            _index.Keep();
            _isWhole = true;
        }
    }

    private void Apply(Segment segment, in Record record, long position)
    {
        if (record.Kind is RecordKind.Address or RecordKind.Seal)
        {
            segment.Saw(record.Kind == RecordKind.Address ? Payload.TimeOf(record) : 0);
            return;
        }

        Payload.Key(record, out var app, out var id);
        var hash = _index.Hash.Of(app, id);
        switch (record.Kind)
        {
            case RecordKind.Accepted:
                segment.Saw(Payload.Times(record).AcceptedAt);
                Accept(new IndexEntry(hash, position, position), app, id);
                break;
            case RecordKind.Carried when (record.Flags & RecordFlags.Partial) != 0:
                // In parts: the event stands where it was until the last of them.
                break;
            case RecordKind.Carried:
                Accept(Carried(hash, position, position, record), app, id);
                break;
            case RecordKind.Milestone:
                segment.Saw(Payload.TimeOf(record));
                if ((record.Flags & RecordFlags.Partial) != 0 && !_index.TryFind(hash, record.Root, out _) && TryReadCopy(record.Root, out var root))
                {
                    Accept(Carried(hash, record.Root, position, root), app, id);
                }

                Link(hash, record, position);
                break;
            case RecordKind.Finished when _index.TryFind(hash, record.Root, out var entry):
                _index.Replace(entry, entry.Finished());
                break;
        }
    }

    /// <summary>False when the first record of a copy was put aside: without it the rest is of no event.</summary>
    private bool TryReadCopy(long root, out Record record) => _reader.TryRead(root, out record) == ReadResult.Found && record.Kind == RecordKind.Carried;

    // Milestones of a copy in parts may have come before it counts: something may rest.
    private static IndexEntry Carried(ulong hash, long root, long head, in Record first)
    {
        var carried = new IndexEntry(hash, root, head, isFinished: false, isCarried: true).WithMail();
        return (first.Flags & RecordFlags.Rested) != 0 ? carried.Rested() : carried;
    }

    /// <summary>The later record of an event stands: it was carried, or its id was free again.</summary>
    private void Accept(in IndexEntry entry, ReadOnlySpan<byte> app, ReadOnlySpan<byte> id)
    {
        for (var nth = 0; _index.TryFind(entry.Hash, nth, out var old); nth++)
        {
            if (_reader.TryRead(old.Root, out var record) != ReadResult.Found)
            {
                continue;
            }

            Payload.Key(record, out var oldApp, out var oldId);
            if (oldApp.SequenceEqual(app) && oldId.SequenceEqual(id))
            {
                _index.Replace(old, entry);
                return;
            }
        }

        _index.Add(entry);
    }

    private void Link(ulong hash, in Record record, long position)
    {
        if (Payload.KindOf(record) == MilestoneKind.Withdrawn)
        {
            // Also of a copy that is not whole yet. Forgotten with the record's segment.
            _index.Withdraw(record.Root, Payload.Milestone(record));
        }

        // Else its event is gone, and the record is still the feed's; or it is of such a copy.
        var isKnown = _index.TryFind(hash, record.Root, out var entry);
        var linked = isKnown ? entry.WithHead(position) : new IndexEntry(hash, record.Root, position);
        if (linked.HasMail || Payload.KindOf(record) == MilestoneKind.Rested)
        {
            linked = _index.Noted(linked, Payload.Milestone(record));
        }

        if (isKnown)
        {
            _index.Replace(entry, linked);
        }
    }

    /// <summary>False = the log ends here.</summary>
    private bool TrySkipDamage(Segment segment)
    {
        var from = _scan.Offset;
        var resume = 0;
        var wasSynced = from < _syncedEnd;
        while (_scan.TryFindNext(out var record))
        {
            _greatest = Math.Max(_greatest, record.Kind == RecordKind.Void ? 0 : record.Group);
            if (IsInOrder(record))
            {
                resume = resume == 0 ? _scan.Offset : resume;

                // Of a group that began later: it was written after what is damaged here was synced.
                wasSynced |= record.Kind == RecordKind.Void || record.GroupStart > from;
                if (wasSynced)
                {
                    break;
                }
            }
        }

        if (!wasSynced)
        {
            Cut(segment, from);
            return false;
        }

        _scan.SkipTo(resume == 0 ? _syncedEnd : resume);
        PutAside(segment, from, _scan.Offset, "is damaged");
        return true;
    }

    /// <summary>
    /// The last group, unless its end was seen or it began before what is known to be synced, and everything after it was never confirmed: wiped, so that nothing of it
    /// is ever read again.
    /// </summary>
    private void Cut(Segment segment, int seen)
    {
        var at = seen;
        if (!_isWhole && _groupStart >= _syncedEnd)
        {
            _index.Rollback();
            at = _groupStart;
        }

        _index.Keep();
        _isWhole = true;
        segment.End = at;
        var end = Math.Max(seen, _scan.NonZeroEnd);
        if (end <= at)
        {
            return;
        }

        var zeros = new byte[64 * 1024];
        for (var offset = at; offset < end; offset += zeros.Length)
        {
            segment.File.Write(zeros.AsSpan(0, Math.Min(zeros.Length, end - offset)), offset);
        }

        segment.File.Sync();
    }

    /// <summary>
    /// Nobody knows that the last group was synced: who was killed before it left it to the kernel's memory, and after a failed sync the kernel may hold for written what
    /// is not. What is served from now on counts as confirmed, so it is written once more.
    /// </summary>
    private void Confirm()
    {
        if (_segments.Count == 0 || _groupStart == 0 || _segments.Last.End <= _groupStart)
        {
            return;
        }

        var last = _segments.Last;
        var bytes = new byte[last.End - _groupStart];
        _ = last.File.Read(bytes, _groupStart);
        last.File.Write(bytes, _groupStart);
        last.File.Sync();
    }

    private void PutAside(Segment segment, int from, int to, string why)
    {
        Damaged(SegmentSet.FileName(segment.Number), from, why);
        var bytes = new byte[to - from];
        _ = segment.File.Read(bytes, from);
        _folder.Quarantine(System.IO.Path.GetFileNameWithoutExtension(SegmentSet.FileName(segment.Number)) + $"-{from}.bin", bytes);
        if (bytes.Length < Record.HeaderBytes)
        {
            return;
        }

        // In its place stands one record that says so: the next start finds nothing to put aside.
        Span<byte> header = stackalloc byte[Record.HeaderBytes];
        header.Clear();
        Record.WriteHeader(header, RecordKind.Void, RecordFlags.None, from, 0, 0, 0);
        Record.WriteLength(header, bytes.Length);
        _ = Record.Close(header, Position.Of(segment.Number, from), RecordFlags.None);
        segment.File.Write(header, from);
        segment.File.Sync();
    }

    /// <summary>A header that was damaged, or that speaks of a segment that is missing, is written anew, now that the end of the segment before is known.</summary>
    private void Mend(int at)
    {
        var segment = _segments.All[at];
        var before = at > 0 ? _segments.All[at - 1] : null;
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        var read = segment.File.Read(bytes, 0);
        var isReadable = SegmentHeader.TryRead(bytes[..read], segment.Number, out _);
        if (isReadable && segment.File.Length >= segment.Header.FileBytes && (before is null || before.Number == segment.Header.Before) && !_ends.IsForeign(segment))
        {
            return;
        }

        if (!isReadable)
        {
            _folder.Quarantine(System.IO.Path.GetFileNameWithoutExtension(SegmentSet.FileName(segment.Number)) + "-0.bin", bytes);
        }

        segment.Header = new SegmentHeader(
            segment.Number, segment.File.Length, before?.Number ?? 0, before?.End ?? 0, segment.Header.MadeAt, _greatest, _ends.Folder);
        segment.Header.Write(bytes);
        segment.File.Write(bytes, 0);
        segment.File.Sync();
    }
}
