using System.Buffers.Binary;

namespace Pnh.Channels.Net.Http2;

/// <summary>The peer's SETTINGS, which may change at any time (RFC 9113 section 6.5).</summary>
internal sealed partial class Http2Connection
{
    private const int SettingBytes = 6;

    /// <summary>How many streams the peer allows; the reader's. Without a word about them it sets no limit.</summary>
    private uint _peerStreams = uint.MaxValue;

    private Http2ErrorCode OnSettings(Http2FrameHeader header, ReadOnlySpan<byte> payload)
    {
        var isAck = header.Has(FrameFlags.EndStreamOrAck);
        if (header.Stream != 0 || (isAck && !_settled))
        {
            return Http2ErrorCode.ProtocolError;
        }

        if (payload.Length % SettingBytes != 0 || (isAck && !payload.IsEmpty))
        {
            return Http2ErrorCode.FrameSizeError;
        }

        return isAck ? Http2ErrorCode.NoError : Apply(payload);
    }

    private Http2ErrorCode Apply(ReadOnlySpan<byte> settings)
    {
        var before = _peerStreams;
        lock (_sync)
        {
            for (; !settings.IsEmpty; settings = settings[SettingBytes..])
            {
                var id = (SettingId)BinaryPrimitives.ReadUInt16BigEndian(settings);
                var error = Apply(id, BinaryPrimitives.ReadUInt32BigEndian(settings[2..]));
                if (error != Http2ErrorCode.NoError)
                {
                    return error;
                }
            }

            _control.AppendFrame(FrameType.Settings, FrameFlags.EndStreamOrAck, 0, []);
            if (_control.Length > MaxControlBytes)
            {
                return Http2ErrorCode.EnhanceYourCalm;
            }

            if (_settled)
            {
                _streams.Limit = _peerStreams;
            }
        }

        if (!_settled || before != _peerStreams)
        {
            _observer.StreamLimit(_peerStreams == uint.MaxValue ? long.MaxValue : _peerStreams);
            Settle();
        }

        return Http2ErrorCode.NoError;
    }

    /// <summary>Requests may go. Not before the observer knows it: it is asked whether one can have gone.</summary>
    private void Settle()
    {
        lock (_sync)
        {
            _settled = true;
            _streams.Limit = _peerStreams;
        }
    }

    private Http2ErrorCode Apply(SettingId id, uint value)
    {
        switch (id)
        {
            case SettingId.HeaderTableSize:
                LowerTable(value);
                return Http2ErrorCode.NoError;
            case SettingId.EnablePush when value != 0:
                return Http2ErrorCode.ProtocolError;
            case SettingId.MaxConcurrentStreams:
                _peerStreams = value;
                return Http2ErrorCode.NoError;
            case SettingId.InitialWindowSize:
                return value <= int.MaxValue && _streams.TryChangeInitialWindow((int)value)
                    ? Http2ErrorCode.NoError : Http2ErrorCode.FlowControlError;
            case SettingId.MaxFrameSize when value is < Http2FrameHeader.DefaultMaxLength or > Http2FrameHeader.LargestMaxLength:
                return Http2ErrorCode.ProtocolError;
            case SettingId.MaxFrameSize:
                _peerMaxFrame = (int)value;
                return Http2ErrorCode.NoError;
            case SettingId.MaxHeaderListSize:
                _peerMaxHeaderList = value;
                return Http2ErrorCode.NoError;
            default:
                return Http2ErrorCode.NoError;
        }
    }

    /// <summary>The writer may take it over later than the next change: the least of them must have reached it too (RFC 7541 section 4.2).</summary>
    private void LowerTable(uint value)
    {
        _peerTableLeast = Math.Min(_peerTableLeast, value);
        _peerTableBytes = value;
    }
}
