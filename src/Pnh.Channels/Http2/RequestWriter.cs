namespace Pnh.Channels.Http2;

/// <summary>Turns requests into frames. Not thread-safe.</summary>
internal sealed class RequestWriter
{
    private readonly HpackEncoder _encoder = new();
    private readonly FrameBuffer _target;
    private readonly string _authority;
    private readonly int _scheme;

    public RequestWriter(FrameBuffer target, Http2Options options)
    {
        _target = target;
        _authority = options.Authority;
        _scheme = options.Scheme == "https" ? HpackStaticTable.SchemeHttps : HpackStaticTable.SchemeHttp;
    }

    /// <summary>The peer's SETTINGS_MAX_FRAME_SIZE.</summary>
    public int MaxFrame { get; set; } = FrameHeader.DefaultMaxLength;

    /// <summary>The peer's SETTINGS_HEADER_TABLE_SIZE.</summary>
    public uint TableLimit
    {
        set => _encoder.Limit(value);
    }

    /// <summary>HEADERS, followed by CONTINUATION when the block is longer than a frame may be.</summary>
    public void WriteHeaders(in Http2Request request, int stream, int bodyLength)
    {
        var start = _target.Length;
        _target.Free(FrameHeader.Size);
        _target.Advance(FrameHeader.Size);
        WriteBlock(request, bodyLength);
        var length = _target.Length - start - FrameHeader.Size;
        var flags = bodyLength == 0 ? FrameFlags.EndStreamOrAck : FrameFlags.None;
        if (length <= MaxFrame)
        {
            new FrameHeader(length, FrameType.Headers, flags | FrameFlags.EndHeaders, stream).Write(_target.Written[start..]);
            return;
        }

        // Rare enough to pay with a copy: no provider's headers come near 16 kB.
        var block = _target.Written[(start + FrameHeader.Size)..].ToArray().AsSpan();
        _target.Truncate(start);
        _target.AppendFrame(FrameType.Headers, flags, stream, block[..MaxFrame]);
        for (block = block[MaxFrame..]; block.Length > MaxFrame; block = block[MaxFrame..])
        {
            _target.AppendFrame(FrameType.Continuation, FrameFlags.None, stream, block[..MaxFrame]);
        }

        _target.AppendFrame(FrameType.Continuation, FrameFlags.EndHeaders, stream, block);
    }

    /// <summary>DATA; the last frame ends the stream when the body ends with it.</summary>
    public void WriteBody(in Http2Request request, int stream, int offset, int count, int bodyLength)
    {
        while (count > 0)
        {
            var length = Math.Min(count, MaxFrame);
            var flags = offset + length == bodyLength ? FrameFlags.EndStreamOrAck : FrameFlags.None;
            var free = _target.Free(FrameHeader.Size + length);
            new FrameHeader(length, FrameType.Data, flags, stream).Write(free);
            request.Body.CopyTo(free.Slice(FrameHeader.Size, length), offset);
            _target.Advance(FrameHeader.Size + length);
            offset += length;
            count -= length;
        }
    }

    /// <summary>Bytes as SETTINGS_MAX_HEADER_LIST_SIZE counts them.</summary>
    public long ListBytes(in Http2Request request)
    {
        // The four pseudo headers and content-length: 7 + 6 + 5 + 5 + 10 of names that sum up with "POST", the scheme and ten digits to 71.
        long bytes = 71 + (5 * HpackTable.EntryOverhead) + _authority.Length + request.Path.Length + request.PathEnd.Length;
        foreach (ref readonly var header in request.Headers.Span)
        {
            bytes += header.Name.Length + header.Value.Length + HpackTable.EntryOverhead;
        }

        return bytes;
    }

    private void WriteBlock(in Http2Request request, int bodyLength)
    {
        _encoder.Begin(_target);
        HpackEncoder.Static(_target, HpackStaticTable.MethodPost);
        HpackEncoder.Static(_target, _scheme);
        _encoder.Header(_target, ":authority", _authority, HeaderIndexing.Indexed);
        HpackEncoder.Literal(_target, HpackStaticTable.Path, request.Path, request.PathEnd);
        foreach (ref readonly var header in request.Headers.Span)
        {
            _encoder.Header(_target, header.Name, header.Value, header.Indexing);
        }

        HpackEncoder.Literal(_target, HpackStaticTable.ContentLength, bodyLength);
    }
}
