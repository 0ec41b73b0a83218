using System.Text;

namespace Pnh.Channels.Net.Http2;

/// <summary>
/// The dynamic table of one direction (RFC 7541 section 2.3.2): a queue of headers, newest first, that evicts the oldest. Holds bytes in one
/// array made once, so that headers come and go without an allocation. Not thread-safe.
/// </summary>
internal sealed class HpackTable
{
    /// <summary>What an entry counts besides its bytes (section 4.1).</summary>
    public const int EntryOverhead = 32;

    // Twice the capacity: what lives fits into one half, so that moving it to the front makes room for any entry.
    private readonly byte[] _bytes;
    private readonly Entry[] _ring;
    private int _oldest;
    private int _end;

    /// <param name="capacity">The largest <see cref="MaxSize"/> there will be.</param>
    public HpackTable(int capacity)
    {
        MaxSize = capacity;
        _bytes = new byte[capacity * 2];
        _ring = new Entry[Math.Max(1, capacity / EntryOverhead)];
    }

    /// <summary>Entries.</summary>
    public int Count { get; private set; }

    /// <summary>Bytes and overhead of all entries.</summary>
    public int Size { get; private set; }

    public int MaxSize { get; private set; }

    /// <summary>Entries ever inserted: the number of the next insertion.</summary>
    public long Insertions { get; private set; }

    /// <summary>Evicts what no longer fits. At most the capacity.</summary>
    public void Resize(int maxSize)
    {
        MaxSize = maxSize;
        Evict(0);
    }

    /// <param name="index">0 = the newest. The bytes are valid until the next insertion.</param>
    public ReadOnlySpan<byte> NameAt(int index)
    {
        ref readonly var entry = ref At(index);
        return _bytes.AsSpan(entry.Offset, entry.NameLength);
    }

    /// <inheritdoc cref="NameAt"/>
    public ReadOnlySpan<byte> ValueAt(int index)
    {
        ref readonly var entry = ref At(index);
        return _bytes.AsSpan(entry.Offset + entry.NameLength, entry.ValueLength);
    }

    /// <summary>Adds the newest entry. One larger than the table empties it (section 4.4). The spans must not lie in the table.</summary>
    public void Insert(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        var length = name.Length + value.Length;
        Evict(length + EntryOverhead);
        if (length + EntryOverhead > MaxSize)
        {
            return;
        }

        if (_end + length > _bytes.Length)
        {
            MoveToFront();
        }

        name.CopyTo(_bytes.AsSpan(_end));
        value.CopyTo(_bytes.AsSpan(_end + name.Length));
        _ring[(_oldest + Count) % _ring.Length] = new Entry(_end, name.Length, value.Length);
        _end += length;
        Count++;
        Insertions++;
        Size += length + EntryOverhead;
    }

    /// <summary>The present index of what the insertion of that number added; -1 = evicted.</summary>
    public int IndexOf(long insertion) => Insertions - insertion <= Count ? (int)(Insertions - insertion - 1) : -1;

    /// <summary>The index of the newest entry with that name and value; -1 = none.</summary>
    public int Find(string name, string value)
    {
        for (var index = 0; index < Count; index++)
        {
            ref readonly var entry = ref At(index);
            if (entry.ValueLength == value.Length && entry.NameLength == name.Length
                && Ascii.Equals(_bytes.AsSpan(entry.Offset, entry.NameLength), name)
                && Ascii.Equals(_bytes.AsSpan(entry.Offset + entry.NameLength, entry.ValueLength), value))
            {
                return index;
            }
        }

        return -1;
    }

    /// <summary>The index of the newest entry with that name; -1 = none.</summary>
    public int Find(string name)
    {
        for (var index = 0; index < Count; index++)
        {
            ref readonly var entry = ref At(index);
            if (entry.NameLength == name.Length && Ascii.Equals(_bytes.AsSpan(entry.Offset, entry.NameLength), name))
            {
                return index;
            }
        }

        return -1;
    }

    private ref Entry At(int index) => ref _ring[(_oldest + Count - 1 - index) % _ring.Length];

    private void Evict(int needed)
    {
        while (Count > 0 && Size + needed > MaxSize)
        {
            ref readonly var entry = ref _ring[_oldest];
            Size -= entry.NameLength + entry.ValueLength + EntryOverhead;
            _oldest = (_oldest + 1) % _ring.Length;
            Count--;
        }
    }

    private void MoveToFront()
    {
        var start = Count == 0 ? _end : _ring[_oldest].Offset;
        _bytes.AsSpan(start, _end - start).CopyTo(_bytes);
        for (var i = 0; i < Count; i++)
        {
            ref var entry = ref _ring[(_oldest + i) % _ring.Length];
            entry = entry with { Offset = entry.Offset - start };
        }

        _end -= start;
    }

    private readonly record struct Entry(int Offset, int NameLength, int ValueLength);
}
