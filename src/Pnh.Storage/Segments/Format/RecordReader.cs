using System.Buffers;
using Pnh.Core.Stores;

namespace Pnh.Storage.Segments.Format;

/// <summary>What a read by position found.</summary>
internal enum ReadResult
{
    Found,

    /// <summary>Its segment was removed: the event is past the retention, or was carried on.</summary>
    Gone,

    /// <summary>No undamaged record is there.</summary>
    Damaged,
}

/// <summary>Reads single records by position, into a rented buffer that is used again. Dispose it. For one thread at a time.</summary>
internal sealed class RecordReader : IDisposable
{
    // Most records; an event with a large body takes a second read.
    private const int FirstBytes = 1_024;

    private readonly SegmentSet _segments;
    private byte[] _buffer = ArrayPool<byte>.Shared.Rent(FirstBytes);

    public RecordReader(SegmentSet segments) => _segments = segments;

    /// <summary>As <see cref="SegmentSet.Unreadable"/>.</summary>
    public StoreUnavailableException Unreadable(long position) => _segments.Unreadable(position);

    /// <summary>The record on stable storage there, good until the next call.</summary>
    public ReadResult TryRead(long position, out Record record)
    {
        record = default;
        if (_segments.Find(Position.Segment(position)) is not { } segment)
        {
            return ReadResult.Gone;
        }

        var offset = Position.Offset(position);
        var most = segment.End - offset;
        try
        {
            var bytes = Read(segment.File, offset, Math.Min(FirstBytes, most));
            var needed = bytes.Length < Record.HeaderBytes ? 0 : Record.BytesToCheck(bytes);
            if (needed > bytes.Length && needed <= most)
            {
                bytes = Read(segment.File, offset, needed);
            }

            return Record.TryRead(bytes, position, out record) ? ReadResult.Found : ReadResult.Damaged;
        }
        catch (ObjectDisposedException)
        {
            return ReadResult.Gone;
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }
    }

    public void Dispose()
    {
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
    }

    private ReadOnlySpan<byte> Read(IJournalFile file, int offset, int bytes)
    {
        if (bytes <= 0)
        {
            return default;
        }

        if (_buffer.Length < bytes)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = ArrayPool<byte>.Shared.Rent(bytes);
        }

        return _buffer.AsSpan(0, file.Read(_buffer.AsSpan(0, bytes), offset));
    }
}
