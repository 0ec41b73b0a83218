using System.Text;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Storage.Segments.Format;

/// <summary>
/// Finds where an event's milestones stand, a bounded number of reads at a time, and again what was added since. 8 bytes each. For one thread.
/// </summary>
/// <param name="segments">Where to read.</param>
/// <param name="reader">Reads there.</param>
/// <param name="most">More than so many are not found.</param>
internal sealed class MilestonePlaces(SegmentSet segments, RecordReader reader, int most)
{
    // At once, some 1 ms each.
    private const int WalkReads = 1_024;
    private const int SearchBytes = 256 * 1024;

    // A long list is not kept for the next event.
    private const int KeepPlaces = 8 * 1024;

    // Oldest first; what a walk adds at the end is newest first until it is through.
    private readonly List<long> _places = [];
    private int _ordered;

    // All up to here are in the list. A walk goes down to it from the target, and is at the next.
    private long _known;
    private long _target;
    private long _next;
    private long _walkedBytes;

    // How far the search is that replaces a broken walk; 0 = none.
    private long _searched;
    private SegmentScan? _scan;

    /// <summary>Users of the event who were erased.</summary>
    public HashSet<string> Erased { get; } = new(StringComparer.Ordinal);

    /// <summary>The event's first record; 0 = of none.</summary>
    public long Root { get; private set; }

    public int Count => _places.Count;

    /// <summary>Of all of them, as they stand in the log.</summary>
    public long Bytes { get; private set; }

    /// <summary>There are more than are found.</summary>
    public bool IsTooLong { get; private set; }

    public long this[int place] => _places[place];

    /// <summary>Of another event, or (0) of none.</summary>
    public void Start(long root)
    {
        _places.Clear();
        _places.Capacity = Math.Min(_places.Capacity, KeepPlaces);
        Erased.Clear();
        (Root, _known, _target, _searched) = (root, root, 0, 0);
        (_ordered, Bytes, IsTooLong) = (0, 0, false);
    }

    /// <summary>True when all up to the head are found; else to be called again. Throws <see cref="StoreUnavailableException"/> when one cannot be read.</summary>
    public bool TryFind(long head)
    {
        for (var reads = 0; _known != head;)
        {
            if (_target == 0)
            {
                (_target, _next, _walkedBytes) = (head, head, 0);
            }

            if (!(_searched == 0 ? TryWalk(ref reads) : TrySearch()))
            {
                return false;
            }

            (_known, _target, _searched, _ordered) = (_target, 0, 0, _places.Count);
            Bytes += _walkedBytes;
        }

        return true;
    }

    /// <summary>Those of users who were erased are in the list no more. Before the first is copied.</summary>
    public void DropErased()
    {
        var bytes = 0L;
        _places.RemoveAll(place =>
        {
            var isThere = reader.TryRead(place, out var record) == ReadResult.Found;
            var isErased = isThere && record.Kind == RecordKind.Milestone && Erased.Contains(Encoding.UTF8.GetString(Payload.UserOf(record)));
            bytes += isErased || !isThere ? 0 : record.PaddedBytes;
            return isErased;
        });
        (_ordered, Bytes) = (_places.Count, bytes);
    }

    private bool TryWalk(ref int reads)
    {
        var chain = new MilestoneChain(reader, Root, _next, after: _known);
        for (; reads < WalkReads; reads++)
        {
            if (!chain.MoveNext())
            {
                if (!chain.IsBroken)
                {
                    _places.Reverse(_ordered, _places.Count - _ordered);
                    return true;
                }

                // A link was put aside: every record is looked at, whatever it names.
                _places.RemoveRange(_ordered, _places.Count - _ordered);
                (_searched, _walkedBytes) = (_known, 0);
                return false;
            }

            if (!TryAdd(chain.Position, chain.Current))
            {
                return false;
            }

            _next = chain.Current.Previous;
        }

        return false;
    }

    /// <summary>From what is known to the target; a segment that is missing was put aside.</summary>
    private bool TrySearch()
    {
        if (segments.Find(Position.Segment(_searched)) is { } segment)
        {
            _scan ??= new SegmentScan(SearchBytes);
            _scan.Start(segment.File, segment.Number, Position.Offset(_searched), segment.End);
            for (var end = _scan.Offset + SearchBytes; !_scan.IsAtEnd && _searched <= _target; _searched = Position.Of(segment.Number, _scan.Offset))
            {
                if (_scan.Offset >= end)
                {
                    return false;
                }

                if (!_scan.TryRead(out var record))
                {
                    throw segments.Unreadable(_searched);
                }

                if (_searched > _known && record.Root == Root && record.Kind == RecordKind.Milestone && !TryAdd(_searched, record))
                {
                    return false;
                }

                _scan.Skip(record);
            }
        }

        if (_searched <= _target)
        {
            _searched = Position.Of(Position.Segment(_searched) + 1, SegmentHeader.Bytes);
        }

        return _searched > _target;
    }

    private bool TryAdd(long place, in Record record)
    {
        IsTooLong = _places.Count == most;
        if (!IsTooLong)
        {
            _places.Add(place);
            _walkedBytes += record.PaddedBytes;
            if (Payload.KindOf(record) == MilestoneKind.Withdrawn && Payload.Milestone(record) is { IsErasure: true, User: { } user })
            {
                Erased.Add(user);
            }
        }

        return !IsTooLong;
    }
}
