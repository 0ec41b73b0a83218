namespace Pnh.Channels.Net.Http2;

/// <summary>What became of a header block.</summary>
internal enum HpackResult
{
    Decoded,

    /// <summary>More than the limit, which SETTINGS_MAX_HEADER_LIST_SIZE announced. The table is in step all the same: the stream fails, the connection lives.</summary>
    ListTooLarge,

    /// <summary>COMPRESSION_ERROR: the tables are out of step, the connection is lost.</summary>
    Broken,
}

/// <summary>Takes headers one by one. The spans are valid during the call.</summary>
internal interface IHeaderSink
{
    void Header(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value);
}

/// <summary>RFC 7541, the receiving side. Any bytes are safe to give; memory is bounded by the two limits. Not thread-safe.</summary>
internal sealed class HpackDecoder
{
    private readonly HpackTable _table;
    private readonly int _tableLimit;
    private readonly int _listLimit;

    // Huffman strings are decoded into it: a name into the first half, a value into the second.
    private readonly byte[] _scratch;

    /// <param name="tableLimit">Our SETTINGS_HEADER_TABLE_SIZE.</param>
    /// <param name="listLimit">Bytes of all names and values and 32 for each header (RFC 9113 section 6.5.2).</param>
    public HpackDecoder(int tableLimit, int listLimit)
    {
        _tableLimit = tableLimit;
        _listLimit = listLimit;
        _table = new HpackTable(tableLimit);
        _scratch = new byte[listLimit * 2];
    }

    /// <summary>Entries and bytes of the dynamic table.</summary>
    public HpackTable Table => _table;

    /// <summary>Decodes one complete block and gives each header to the sink.</summary>
    public HpackResult Decode(ReadOnlySpan<byte> block, IHeaderSink sink)
    {
        var at = 0;
        var listed = 0;
        var began = false;
        while (at < block.Length)
        {
            var first = block[at];
            if ((first & 0xe0) == 0x20)
            {
                // Size updates stand before the first header (RFC 7541 section 4.2).
                if (began || !HpackInteger.TryRead(block, ref at, 5, out var size) || size > _tableLimit)
                {
                    return HpackResult.Broken;
                }

                _table.Resize(size);
                continue;
            }

            began = true;
            if (!TryReadHeader(block, ref at, out var name, out var value))
            {
                return HpackResult.Broken;
            }

            listed += name.Length + value.Length + HpackTable.EntryOverhead;
            if (listed <= _listLimit)
            {
                sink.Header(name, value);
            }

            if ((first & 0xc0) == 0x40)
            {
                Insert(name, value);
            }
        }

        return listed > _listLimit ? HpackResult.ListTooLarge : HpackResult.Decoded;
    }

    private bool TryReadHeader(ReadOnlySpan<byte> block, ref int at, out ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
    {
        name = value = default;
        var first = block[at];
        if ((first & 0x80) != 0)
        {
            return HpackInteger.TryRead(block, ref at, 7, out var indexed) && TryLookUp(indexed, out name, out value);
        }

        if (!HpackInteger.TryRead(block, ref at, (first & 0x40) != 0 ? 6 : 4, out var index))
        {
            return false;
        }

        var half = _scratch.AsSpan(0, _listLimit);
        return (index == 0 ? TryReadString(block, ref at, half, out name) : TryLookUp(index, out name, out _))
            && TryReadString(block, ref at, _scratch.AsSpan(_listLimit), out value);
    }

    private bool TryLookUp(int index, out ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
    {
        if (index is >= 1 and <= HpackStaticTable.Count)
        {
            name = HpackStaticTable.NameAt(index);
            value = HpackStaticTable.ValueAt(index);
            return true;
        }

        var dynamic = index - HpackStaticTable.Count - 1;
        var found = dynamic >= 0 && dynamic < _table.Count;
        name = found ? _table.NameAt(dynamic) : default;
        value = found ? _table.ValueAt(dynamic) : default;
        return found;
    }

    /// <summary>A string longer than the whole list may be is not worth the memory: as good as broken.</summary>
    private static bool TryReadString(ReadOnlySpan<byte> block, ref int at, Span<byte> scratch, out ReadOnlySpan<byte> text)
    {
        text = default;
        if (at >= block.Length)
        {
            return false;
        }

        var huffman = (block[at] & 0x80) != 0;
        if (!HpackInteger.TryRead(block, ref at, 7, out var length) || length > block.Length - at)
        {
            return false;
        }

        var raw = block.Slice(at, length);
        at += length;
        if (!huffman)
        {
            text = raw;
            return true;
        }

        var decoded = raw.IsEmpty ? 0 : HuffmanCode.Decode(raw, scratch);
        text = scratch[..Math.Max(decoded, 0)];
        return decoded >= 0;
    }

    /// <summary>A name that came out of the table is copied first: making room may move or overwrite it.</summary>
    private void Insert(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        if (name.Length <= _listLimit)
        {
            var copy = _scratch.AsSpan(0, name.Length);
            name.CopyTo(copy);
            name = copy;
        }

        _table.Insert(name, value);
    }
}
