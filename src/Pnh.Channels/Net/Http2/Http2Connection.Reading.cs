using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>The reader: one loop over one buffer. Everything here runs on it alone; what it shares it touches under the lock.</summary>
internal sealed partial class Http2Connection
{
    /// <summary>Our SETTINGS_HEADER_TABLE_SIZE.</summary>
    private const int DecoderTableBytes = 4096;

    /// <summary>Pieces of one header block: its bytes are bounded anyway, empty CONTINUATIONs would not be.</summary>
    private const int MaxContinuations = 16;

    /// <summary>
    /// Header blocks that answer nothing (1xx, and what comes late for a stream that has ended) between two answers: some for each stream that may be open.
    /// </summary>
    private const int MaxIdleBlocks = 1000;

    /// <summary>Reads that are there at once after which callers are told all the same.</summary>
    private const int MaxUnflushedReads = 64;

    // One largest frame and what comes behind it, so that one read brings many small ones.
    private readonly byte[] _in = new byte[2 * (Http2FrameHeader.DefaultMaxLength + Http2FrameHeader.Size)];
    private readonly HpackDecoder _decoder;
    private readonly AnswerHead _head = new();
    private readonly FrameBuffer _block = new(1024);
    private long _lastReceived;
    private int _blockStream;
    private int _continuations;
    private int _idleBlocks;
    private bool _blockEndsStream;
    private bool _settled;
    private bool _toldExhaustion;

    private async Task ReadAsync()
    {
        var filled = 0;
        var unflushed = 0;
        while (true)
        {
            var reading = _stream.ReadAsync(_in.AsMemory(filled));

            // A TLS record comes alone, and a server may put each answer into its own: what has arrived already is read before any caller goes on,
            // so that the requests that follow the answers share a write.
            if (!reading.IsCompleted || ++unflushed == MaxUnflushedReads)
            {
                unflushed = 0;
                FlushInline();
            }

            var read = await reading;
            if (read == 0)
            {
                End(Http2ErrorCode.NoError, "closed-by-peer");
                return;
            }

            Volatile.Write(ref _lastReceived, _time.GetTimestamp());
            filled += read;
            var taken = 0;
            var error = ReadFrames(_in.AsSpan(0, filled), ref taken);
            if (error != Http2ErrorCode.NoError)
            {
                End(error, "protocol-error");
                return;
            }

            if (Volatile.Read(ref _ended))
            {
                return;
            }

            TellExhaustion();
            _in.AsSpan(taken, filled - taken).CopyTo(_in);
            filled -= taken;
        }
    }

    private void TellExhaustion()
    {
        if (_streams.IsExhausted && !_toldExhaustion)
        {
            _toldExhaustion = true;
            _observer.GoingAway(0, null);
        }
    }

    private Http2ErrorCode ReadFrames(ReadOnlySpan<byte> bytes, ref int taken)
    {
        var error = Http2ErrorCode.NoError;
        while (error == Http2ErrorCode.NoError && bytes.Length - taken >= Http2FrameHeader.Size)
        {
            var header = Http2FrameHeader.Read(bytes[taken..]);
            if (header.Length > Http2FrameHeader.DefaultMaxLength)
            {
                return Http2ErrorCode.FrameSizeError;
            }

            if (bytes.Length - taken - Http2FrameHeader.Size < header.Length)
            {
                break;
            }

            error = Read(header, bytes.Slice(taken + Http2FrameHeader.Size, header.Length));
            taken += Http2FrameHeader.Size + header.Length;
        }

        return error;
    }

    /// <summary>One frame. NoError = go on; else the connection ends with that code.</summary>
    private Http2ErrorCode Read(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        // The peer's preface is a SETTINGS frame (section 3.4); inside a header block nothing else may come (section 6.10).
        if ((!_settled && header.Type != FrameType.Settings) || (_blockStream != 0 && header.Type != FrameType.Continuation))
        {
            return Http2ErrorCode.ProtocolError;
        }

        return header.Type switch
        {
            FrameType.Headers => OnHeaders(header, payload),
            FrameType.Data => OnData(header, payload),
            FrameType.Continuation => OnContinuation(header, payload),
            FrameType.WindowUpdate => OnWindowUpdate(header, payload),
            FrameType.ResetStream => OnReset(header, payload),
            FrameType.Settings => OnSettings(header, payload),
            FrameType.Ping => OnPing(header, payload),
            FrameType.GoAway => OnGoAway(header, payload),

            // Push was switched off.
            FrameType.PushPromise => Http2ErrorCode.ProtocolError,
            _ => Http2ErrorCode.NoError,
        };
    }

    private Http2ErrorCode OnHeaders(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (!IsOurs(header.Stream) || !TryStrip(header, ref payload))
        {
            return Http2ErrorCode.ProtocolError;
        }

        var endsStream = header.Has(FrameFlags.EndStreamOrAck);
        if (header.Has(FrameFlags.EndHeaders))
        {
            return OnBlock(header.Stream, endsStream, payload);
        }

        _blockStream = header.Stream;
        _blockEndsStream = endsStream;
        _continuations = 0;
        _block.Truncate(0);
        _block.Append(payload);
        return Http2ErrorCode.NoError;
    }

    private Http2ErrorCode OnContinuation(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (_blockStream == 0 || header.Stream != _blockStream)
        {
            return Http2ErrorCode.ProtocolError;
        }

        // A compressed block that is longer than the list may be cannot be a good one, and an endless one must not fill the memory.
        if (++_continuations > MaxContinuations || _block.Length + payload.Length > _limits.MaxHeaderListBytes)
        {
            return Http2ErrorCode.EnhanceYourCalm;
        }

        _block.Append(payload);
        if (!header.Has(FrameFlags.EndHeaders))
        {
            return Http2ErrorCode.NoError;
        }

        _blockStream = 0;
        return OnBlock(header.Stream, _blockEndsStream, _block.Written);
    }

    private Http2ErrorCode OnBlock(int stream, bool endsStream, ReadOnlySpan<byte> block)
    {
        _head.Clear();
        var result = _decoder.Decode(block, _head);
        if (result == HpackResult.Broken)
        {
            return Http2ErrorCode.CompressionError;
        }

        lock (_sync)
        {
            if (!TryFind(stream, out var exchange))
            {
                return Http2ErrorCode.ProtocolError;
            }

            if (exchange is null || !Take(exchange, endsStream, result))
            {
                return ++_idleBlocks > MaxIdleBlocks ? Http2ErrorCode.EnhanceYourCalm : Http2ErrorCode.NoError;
            }
        }

        _idleBlocks = 0;
        return Http2ErrorCode.NoError;
    }

    /// <summary>Under the lock: an interim answer (false: nothing is known yet), the answer's headers, or trailers.</summary>
    private bool Take(Http2Exchange exchange, bool endsStream, HpackResult result)
    {
        var trailers = exchange.Status != 0;
        var malformed = _head.IsMalformed || result == HpackResult.ListTooLarge || trailers == (_head.Status != 0)
            || (!endsStream && trailers) || (_head.IsInterim && (endsStream || _head.Status == 101));
        if (malformed)
        {
            Finish(exchange, SendFault.Ambiguous, "malformed-answer", Http2ErrorCode.ProtocolError);
            return true;
        }

        if (_head.IsInterim)
        {
            return false;
        }

        if (!trailers)
        {
            exchange.Status = _head.Status;
            exchange.Headers = _head.Take(exchange.Request.Wanted);
        }

        if (endsStream)
        {
            Answer(exchange);
        }

        return true;
    }

    /// <summary>Under the lock. When the peer did not wait for the whole body, the rest is not sent (section 8.1).</summary>
    private void Answer(Http2Exchange exchange) => Finish(
        exchange, SendFault.None, null, exchange.BodySent < exchange.BodyLength ? Http2ErrorCode.Cancel : Http2ErrorCode.NoError);

    /// <summary>Under the lock: false for a stream that we never opened; null for one that has ended, whose last frames may still be on the way.</summary>
    private bool TryFind(int stream, out Http2Exchange? exchange)
    {
        exchange = _streams.Find(stream);
        if (exchange is null)
        {
            return !_streams.IsIdle(stream);
        }

        if (!exchange.IsSent)
        {
            return false;
        }

        exchange = exchange.IsEndPending ? null : exchange;
        return true;
    }

    private static bool IsOurs(int stream) => (stream & 1) == 1;

    /// <summary>Takes away padding and priority; false when there is not as much as the flags say.</summary>
    private static bool TryStrip(Http2FrameHeader header, ref ReadOnlySpan<byte> payload)
    {
        var padding = 0;
        var before = 0;
        if (header.Has(FrameFlags.Padded))
        {
            if (payload.IsEmpty)
            {
                return false;
            }

            padding = payload[0];
            before = 1;
        }

        if (header.Type == FrameType.Headers && header.Has(FrameFlags.Priority))
        {
            before += 5;
        }

        if (before + padding > payload.Length)
        {
            return false;
        }

        payload = payload[before..^padding];
        return true;
    }
}
