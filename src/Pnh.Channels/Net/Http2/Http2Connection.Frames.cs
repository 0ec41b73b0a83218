using System.Buffers.Binary;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>The frames besides headers: bodies, windows, settings, pings, ends.</summary>
internal sealed partial class Http2Connection
{
    /// <summary>Replies to PING and SETTINGS that wait to be written: a peer that asks for more and reads none is no peer.</summary>
    private const int MaxControlBytes = 64 * 1024;

    private const int MaxDebugBytes = 128;

    /// <summary>A peer warns first and names the last stream later (RFC 9113 section 6.8); it has no reason for many.</summary>
    private const int MaxGoAways = 8;

    private int _goAways;

    private int _unacknowledged;

    private Http2ErrorCode OnData(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (!IsOurs(header.Stream) || !TryStrip(header, ref payload))
        {
            return Http2ErrorCode.ProtocolError;
        }

        lock (_sync)
        {
            // Padding counts, and so do frames of streams that have ended (RFC 9113 section 6.9).
            _unacknowledged += header.Length;
            if (_unacknowledged > ConnectionWindow)
            {
                return Http2ErrorCode.FlowControlError;
            }

            if (_unacknowledged >= ConnectionWindow / 2)
            {
                _control.AppendFrame(FrameType.WindowUpdate, 0, (uint)_unacknowledged);
                _unacknowledged = 0;
            }

            if (!TryFind(header.Stream, out var exchange))
            {
                return Http2ErrorCode.ProtocolError;
            }

            if (exchange is not null)
            {
                Take(exchange, header, payload);
            }
        }

        return Http2ErrorCode.NoError;
    }

    /// <summary>Under the lock.</summary>
    private void Take(Http2Exchange exchange, Http2FrameHeader header, ReadOnlySpan<byte> data)
    {
        if (exchange.Status == 0)
        {
            Finish(exchange, SendFault.Ambiguous, "malformed-answer", Http2ErrorCode.ProtocolError);
            return;
        }

        exchange.Received += header.Length;
        var room = ProviderAnswer.MaxBodyBytes - exchange.AnswerLength;
        exchange.Append(data[..Math.Min(data.Length, room)]);
        var endsStream = header.Has(FrameFlags.EndStreamOrAck);
        if (data.Length > room || (!endsStream && exchange.Received > StreamWindow / 2))
        {
            // The stream's window is never renewed, so this is also where a body that is mostly padding ends.
            Finish(exchange, SendFault.None, null, endsStream ? Http2ErrorCode.NoError : Http2ErrorCode.Cancel);
        }
        else if (endsStream)
        {
            Answer(exchange);
        }
    }

    private Http2ErrorCode OnWindowUpdate(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (payload.Length != 4)
        {
            return Http2ErrorCode.FrameSizeError;
        }

        var increment = BinaryPrimitives.ReadInt32BigEndian(payload) & int.MaxValue;
        lock (_sync)
        {
            if (header.Stream == 0)
            {
                return increment == 0 ? Http2ErrorCode.ProtocolError
                    : _streams.TryWiden(increment) ? Http2ErrorCode.NoError : Http2ErrorCode.FlowControlError;
            }

            if (!IsOurs(header.Stream) || !TryFind(header.Stream, out var exchange))
            {
                return Http2ErrorCode.ProtocolError;
            }

            if (exchange is null)
            {
                return Http2ErrorCode.NoError;
            }

            var window = (long)exchange.SendWindow + increment;
            if (increment == 0 || window > int.MaxValue)
            {
                var code = increment == 0 ? Http2ErrorCode.ProtocolError : Http2ErrorCode.FlowControlError;
                Finish(exchange, SendFault.Ambiguous, "malformed-answer", code);
                return Http2ErrorCode.NoError;
            }

            exchange.SendWindow = (int)window;
            return Http2ErrorCode.NoError;
        }
    }

    private Http2ErrorCode OnReset(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (payload.Length != 4)
        {
            return Http2ErrorCode.FrameSizeError;
        }

        var code = (Http2ErrorCode)BinaryPrimitives.ReadUInt32BigEndian(payload);
        lock (_sync)
        {
            if (!IsOurs(header.Stream) || !TryFind(header.Stream, out var exchange))
            {
                return Http2ErrorCode.ProtocolError;
            }

            if (exchange is not null)
            {
                var refused = code == Http2ErrorCode.RefusedStream;
                Finish(exchange, refused ? SendFault.Refused : SendFault.Ambiguous, refused ? "stream-refused" : ProviderAnswer.ConnectionLost);
            }
        }

        return Http2ErrorCode.NoError;
    }

    private Http2ErrorCode OnPing(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (header.Stream != 0)
        {
            return Http2ErrorCode.ProtocolError;
        }

        if (payload.Length != 8)
        {
            return Http2ErrorCode.FrameSizeError;
        }

        lock (_sync)
        {
            if (!header.Has(FrameFlags.EndStreamOrAck))
            {
                _control.AppendFrame(FrameType.Ping, FrameFlags.EndStreamOrAck, 0, payload);
                return _control.Length > MaxControlBytes ? Http2ErrorCode.EnhanceYourCalm : Http2ErrorCode.NoError;
            }

            if (BinaryPrimitives.ReadInt64BigEndian(payload) == _pingNumber)
            {
                _pingSent = null;
            }
        }

        return Http2ErrorCode.NoError;
    }

    private Http2ErrorCode OnGoAway(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (header.Stream != 0)
        {
            return Http2ErrorCode.ProtocolError;
        }

        if (payload.Length < 8)
        {
            return Http2ErrorCode.FrameSizeError;
        }

        if (++_goAways > MaxGoAways)
        {
            return Http2ErrorCode.EnhanceYourCalm;
        }

        var lastStream = BinaryPrimitives.ReadInt32BigEndian(payload) & int.MaxValue;
        lock (_sync)
        {
            StopAccepting();
            EndUnderWay(lastStream, SendFault.AboveLastStream, "going-away");
        }

        _observer.GoingAway(BinaryPrimitives.ReadUInt32BigEndian(payload[4..]), DebugText(payload[8..]));
        return Http2ErrorCode.NoError;
    }

    /// <summary>APNs puts JSON with <c>reason</c> there.</summary>
    private static string? DebugText(ReadOnlySpan<byte> debug) =>
        debug.IsEmpty ? null : ProviderText.Ascii(debug[..Math.Min(debug.Length, MaxDebugBytes)]);
}
