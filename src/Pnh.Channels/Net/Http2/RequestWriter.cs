using System.Buffers;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>Turns requests into frames. Not thread-safe.</summary>
internal sealed class RequestWriter
{
    private readonly HpackEncoder _encoder = new();
    private readonly FrameBuffer _target;
    private readonly string _authority;
    private readonly int _scheme;

    public RequestWriter(FrameBuffer target, Uri origin)
    {
        _target = target;
        _authority = origin.Authority;
        _scheme = origin.Scheme == Uri.UriSchemeHttps ? HpackStaticTable.SchemeHttps : HpackStaticTable.SchemeHttp;
    }

    /// <summary>The peer's SETTINGS_MAX_FRAME_SIZE.</summary>
    public int MaxFrame { get; set; } = Http2FrameHeader.DefaultMaxLength;

    /// <summary>The peer's SETTINGS_HEADER_TABLE_SIZE.</summary>
    public uint TableLimit
    {
        set => _encoder.Limit(value);
    }

    /// <summary>HEADERS, followed by CONTINUATION when the block is longer than a frame may be.</summary>
    public void WriteHeaders(in ProviderRequest request, int stream, int bodyLength)
    {
        var start = _target.Length;
        _target.Free(Http2FrameHeader.Size);
        _target.Advance(Http2FrameHeader.Size);
        WriteBlock(request, bodyLength);
        var length = _target.Length - start - Http2FrameHeader.Size;
        var flags = bodyLength == 0 ? FrameFlags.EndStreamOrAck : FrameFlags.None;
        if (length <= MaxFrame)
        {
            new Http2FrameHeader(length, FrameType.Headers, flags | FrameFlags.EndHeaders, stream).Write(_target.Written[start..]);
            return;
        }

        // Rare enough to pay with a copy: no provider's headers come near 16 kB.
        var block = _target.Written[(start + Http2FrameHeader.Size)..].ToArray().AsSpan();
        _target.Truncate(start);
        _target.AppendFrame(FrameType.Headers, flags, stream, block[..MaxFrame]);
        for (block = block[MaxFrame..]; block.Length > MaxFrame; block = block[MaxFrame..])
        {
            _target.AppendFrame(FrameType.Continuation, FrameFlags.None, stream, block[..MaxFrame]);
        }

        _target.AppendFrame(FrameType.Continuation, FrameFlags.EndHeaders, stream, block);
    }

    /// <summary>DATA; the last frame ends the stream when the body ends with it.</summary>
    public void WriteBody(in ProviderRequest request, int stream, int offset, int count, int bodyLength)
    {
        if (count == bodyLength && count <= MaxFrame)
        {
            if (count > 0)
            {
                var free = WriteDataHeader(stream, count, ends: true);
                request.CopyBody(free);
                _target.Advance(count);
            }

            return;
        }

        // In parts, because of a window or a frame's limit: no push is as large, and a new connection's window holds a hundred of them.
        var whole = ArrayPool<byte>.Shared.Rent(bodyLength);
        request.CopyBody(whole);
        for (var end = offset + count; offset < end;)
        {
            var length = Math.Min(end - offset, MaxFrame);
            whole.AsSpan(offset, length).CopyTo(WriteDataHeader(stream, length, offset + length == bodyLength));
            _target.Advance(length);
            offset += length;
        }

        ArrayPool<byte>.Shared.Return(whole);
    }

    /// <summary>Bytes as SETTINGS_MAX_HEADER_LIST_SIZE counts them.</summary>
    public long ListBytes(in ProviderRequest request)
    {
        // The four pseudo headers and content-length: 7 + 6 + 5 + 5 + 10 of names that sum up with "POST", the scheme and ten digits to 71.
        long bytes = 71 + (5 * HpackTable.EntryOverhead) + _authority.Length + request.PathPrefix.Length + request.PathEnd.Length;
        foreach (ref readonly var header in request.Headers.AsSpan())
        {
            bytes += header.Name.Text.Length + header.Value.Length + HpackTable.EntryOverhead;
        }

        return bytes;
    }

    private void WriteBlock(in ProviderRequest request, int bodyLength)
    {
        _encoder.Begin(_target);
        HpackEncoder.Static(_target, HpackStaticTable.MethodPost);
        HpackEncoder.Static(_target, _scheme);
        _encoder.Authority(_target, request.Authority ?? _authority);
        HpackEncoder.Literal(_target, HpackStaticTable.Path, request.PathPrefix, request.PathEnd);
        foreach (ref readonly var header in request.Headers.AsSpan())
        {
            _encoder.Header(_target, header.Name, header.Value);
        }

        HpackEncoder.Literal(_target, HpackStaticTable.ContentLength, bodyLength);
    }

    /// <summary>Returns where the payload goes.</summary>
    private Span<byte> WriteDataHeader(int stream, int length, bool ends)
    {
        var flags = ends ? FrameFlags.EndStreamOrAck : FrameFlags.None;
        new Http2FrameHeader(length, FrameType.Data, flags, stream).Write(_target.Free(Http2FrameHeader.Size + length));
        _target.Advance(Http2FrameHeader.Size);
        return _target.Free(length);
    }
}
