using System.Buffers.Binary;
using System.Text;

namespace Pnh.Channels.Http2;

/// <summary>The frames besides headers: bodies, windows, settings, pings, ends.</summary>
internal sealed partial class Http2Connection
{
    /// <summary>Replies to PING and SETTINGS that wait to be written: a peer that asks for more and reads none is no peer.</summary>
    private const int MaxControlBytes = 64 * 1024;

    private const int MaxDebugBytes = 1024;

    private TaskCompletionSource<bool>? _ping;
    private ulong _pingNumber;
    private int _streamLimit;
    private int _unacknowledged;

    /// <summary>
    /// Asks the peer for a sign of life. False when none came within the limit, or the connection ended; a second caller shares the ping under
    /// way. What to do then is the caller's: usually to dispose the connection.
    /// </summary>
    public async Task<bool> PingAsync(TimeSpan limit, CancellationToken cancellationToken)
    {
        TaskCompletionSource<bool> ping;
        lock (_sync)
        {
            if (_ended)
            {
                return false;
            }

            if (_ping is null)
            {
                _ping = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
                Span<byte> payload = stackalloc byte[8];
                BinaryPrimitives.WriteUInt64BigEndian(payload, ++_pingNumber);
                _control.AppendFrame(FrameType.Ping, FrameFlags.None, 0, payload);
            }

            ping = _ping;
        }

        _wake.Set(inline: false);
        try
        {
            return await ping.Task.WaitAsync(limit, _time, cancellationToken);
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    private Http2ErrorCode OnData(FrameHeader header, ReadOnlySpan<byte> payload)
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
    private void Take(Http2Exchange exchange, FrameHeader header, ReadOnlySpan<byte> data)
    {
        if (exchange.Status == 0)
        {
            Finish(exchange, Http2Outcome.Malformed, reset: Http2ErrorCode.ProtocolError);
            return;
        }

        exchange.Received += header.Length;
        var room = _options.MaxBodyBytes - exchange.Content.BodyLength;
        exchange.Content.Append(data[..Math.Min(data.Length, room)]);
        var endsStream = header.Has(FrameFlags.EndStreamOrAck);
        if (data.Length > room || (!endsStream && exchange.Received >= _options.MaxBodyBytes))
        {
            // The stream's window is never renewed, so this is also where a body that is mostly padding ends.
            exchange.IsCut = true;
            Finish(exchange, Http2Outcome.Answered, reset: endsStream ? Http2ErrorCode.NoError : Http2ErrorCode.Cancel);
        }
        else if (endsStream)
        {
            Answer(exchange);
        }
    }

    private Http2ErrorCode OnWindowUpdate(FrameHeader header, ReadOnlySpan<byte> payload)
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
                Finish(exchange, Http2Outcome.Malformed, reset: code);
                return Http2ErrorCode.NoError;
            }

            exchange.SendWindow = (int)window;
            return Http2ErrorCode.NoError;
        }
    }

    private Http2ErrorCode OnReset(FrameHeader header, ReadOnlySpan<byte> payload)
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
                Finish(exchange, code == Http2ErrorCode.RefusedStream ? Http2Outcome.Refused : Http2Outcome.Reset, code);
            }
        }

        return Http2ErrorCode.NoError;
    }

    private Http2ErrorCode OnPing(FrameHeader header, ReadOnlySpan<byte> payload)
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

            if (_ping is not null && BinaryPrimitives.ReadUInt64BigEndian(payload) == _pingNumber)
            {
                _ping.TrySetResult(true);
                _ping = null;
            }
        }

        return Http2ErrorCode.NoError;
    }

    private Http2ErrorCode OnGoAway(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (header.Stream != 0)
        {
            return Http2ErrorCode.ProtocolError;
        }

        if (payload.Length < 8)
        {
            return Http2ErrorCode.FrameSizeError;
        }

        var debug = payload[8..];
        var goAway = new Http2GoAway(
            BinaryPrimitives.ReadInt32BigEndian(payload) & int.MaxValue,
            (Http2ErrorCode)BinaryPrimitives.ReadUInt32BigEndian(payload[4..]),
            Encoding.UTF8.GetString(debug[..Math.Min(debug.Length, MaxDebugBytes)]));
        lock (_sync)
        {
            _goAway = goAway;
            StopAccepting();
            EndUnderWay(goAway.LastStream, Http2Outcome.Refused);
        }

        _watcher?.Draining(this);
        return Http2ErrorCode.NoError;
    }
}
