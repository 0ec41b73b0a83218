using System.Buffers.Binary;

namespace Pnh.Channels.Net.Http2;

/// <summary>Signs of life: SETTINGS at the beginning, a PING when the peer was silent for long, the end when it does not answer (RFC 9113 section 6.7).</summary>
internal sealed partial class Http2Connection
{
    private ITimer _keepAlive = null!;
    private long _pingNumber;
    private long? _pingSent;
    private long _startedAt;

    /// <summary>Timestamp (of the time provider) of the last bytes from the peer, or of the start.</summary>
    public long LastReceived => Volatile.Read(ref _lastReceived);

    private void StartKeepAlive()
    {
        _startedAt = _time.GetTimestamp();

        // Set only when the field is: the first call may come at once.
        _keepAlive = _time.CreateTimer(static state => ((Http2Connection)state!).KeepAlive(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _keepAlive.Change(_options.SettingsWithin < _options.PingAfter ? _options.SettingsWithin : _options.PingAfter, Timeout.InfiniteTimeSpan);
    }

    private void KeepAlive()
    {
        var now = _time.GetTimestamp();
        var silent = _time.GetElapsedTime(Volatile.Read(ref _lastReceived), now);
        var next = silent < _options.PingAfter ? _options.PingAfter - silent : _options.PingAfter;
        var ping = false;
        lock (_sync)
        {
            if (_ended)
            {
                return;
            }

            if (!_settled)
            {
                next = _options.SettingsWithin - _time.GetElapsedTime(_startedAt, now);
            }
            else if (_pingSent is { } sent)
            {
                next = _options.PingTimeout - _time.GetElapsedTime(sent, now);
            }
            else if (silent >= _options.PingAfter && (_options.PingsWhenIdle || _streams.UnderWay > 0))
            {
                ping = true;
                _pingSent = now;
                next = _options.PingTimeout;
                Span<byte> payload = stackalloc byte[8];
                BinaryPrimitives.WriteInt64BigEndian(payload, ++_pingNumber);
                _control.AppendFrame(FrameType.Ping, FrameFlags.None, 0, payload);
            }
        }

        if (next <= TimeSpan.Zero)
        {
            End(Http2ErrorCode.NoError, _settled ? "ping-timeout" : NoSettings);
            return;
        }

        _keepAlive.Change(next, Timeout.InfiniteTimeSpan);
        if (ping)
        {
            _wake.Set(inline: false);
        }
    }
}
