using System.Collections.Concurrent;

namespace Pnh.Storage.Segments.Format;

/// <summary>Reads a segment's records in order, through one buffer. For one thread.</summary>
internal sealed class SegmentScan
{
    /// <summary>What <see cref="Rent"/> reads at once.</summary>
    public const int RentedBytes = 256 * 1024;

    // As many as were read with at once: new ones for each page made the heap collect all of itself.
    private static readonly ConcurrentBag<SegmentScan> Spare = [];
    private readonly byte[] _buffer;
    private IJournalFile _file = null!;
    private int _segment;
    private int _end;
    private int _start;
    private int _filled;

    /// <param name="bufferBytes">How much is read at once; at least the largest record.</param>
    public SegmentScan(int bufferBytes) => _buffer = new byte[Math.Max(bufferBytes, Record.MostBytes)];

    /// <summary>Where the record is that comes next.</summary>
    public int Offset { get; private set; }

    /// <summary>After <see cref="TryFindNext"/>: where the last byte that is not zero was seen, plus one.</summary>
    public int NonZeroEnd { get; private set; }

    public bool IsAtEnd => Offset >= _end;

    /// <summary>One for a page that a reader asks for, to be given back. Thread-safe.</summary>
    public static SegmentScan Rent() => Spare.TryTake(out var spare) ? spare : new SegmentScan(RentedBytes);

    /// <summary>Nothing that it gave is used any more. Of <see cref="Rent"/> alone. Thread-safe.</summary>
    public void GiveBack()
    {
        // It would keep a removed segment's file.
        _file = null!;
        Spare.Add(this);
    }

    public void Start(IJournalFile file, int segment, int offset, int end)
    {
        (_file, _segment, _end, Offset) = (file, segment, end, offset);
        (_start, _filled, NonZeroEnd) = (0, 0, 0);
    }

    /// <summary>The record at <see cref="Offset"/>, good until the next call; false when there is no undamaged one. Does not move on.</summary>
    public bool TryRead(out Record record)
    {
        record = default;
        var bytes = At(Offset, Record.HeaderBytes);
        if (bytes.Length < Record.HeaderBytes)
        {
            return false;
        }

        var needed = Record.BytesToCheck(bytes);
        return needed > 0 && Record.TryRead(At(Offset, needed), Position.Of(_segment, Offset), out record) && record.PaddedBytes <= _end - Offset;
    }

    public void Skip(in Record record) => Offset += record.PaddedBytes;

    public void SkipTo(int offset) => Offset = offset;

    /// <summary>Moves to the next place after this one where an undamaged record begins; false = there is none, and this is the end.</summary>
    public bool TryFindNext(out Record record)
    {
        MarkNonZero(At(Offset, Record.HeaderBytes));
        for (var offset = Offset + Record.Alignment; offset < _end; offset += Record.Alignment)
        {
            var bytes = At(offset, Record.HeaderBytes);
            Offset = offset;
            MarkNonZero(bytes);
            if (bytes.Length >= Record.HeaderBytes && TryRead(out record))
            {
                return true;
            }
        }

        Offset = _end;
        record = default;
        return false;
    }

    private static ReadOnlySpan<byte> Zeros => [0, 0, 0, 0, 0, 0, 0, 0];

    private void MarkNonZero(ReadOnlySpan<byte> bytes)
    {
        if (!bytes.IsEmpty && !bytes.StartsWith(Zeros))
        {
            NonZeroEnd = Math.Min(Offset + Record.Alignment, _end);
        }
    }

    /// <summary>Up to that many bytes from there; fewer before the end.</summary>
    private ReadOnlySpan<byte> At(int offset, int bytes)
    {
        bytes = Math.Max(0, Math.Min(bytes, _end - offset));
        if (offset < _start || offset + bytes > _start + _filled)
        {
            _start = offset;
            _filled = _file.Read(_buffer.AsSpan(0, Math.Clamp(_end - offset, 0, _buffer.Length)), offset);
        }

        return _buffer.AsSpan(offset - _start, Math.Min(bytes, Math.Max(0, _filled - (offset - _start))));
    }
}
