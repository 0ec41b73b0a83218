using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Pnh.Channels.Net.Http;

/// <summary>
/// The decrypted stream of a connection, read along: tells the observer of the peer's SETTINGS_MAX_CONCURRENT_STREAMS, of GOAWAY with its reason (where
/// APNs says why) and of the end. Looks at frame headers (RFC 9113 section 4.1) and at the payload of those two frames only. Writes pass through.
/// </summary>
internal sealed class FrameWatch : Stream
{
    private readonly Stream _inner;
    private readonly FrameScan _scan;
    private readonly IConnectionObserver _observer;
    private readonly TaskCompletionSource _settings = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ITimer _giveUp;
    private bool _isPrefaceOut;
    private int _ended;

    /// <param name="inner">Disposed of with this.</param>
    /// <param name="observer">Learns what the peer says.</param>
    /// <param name="settingsWithin">Without SETTINGS in this time the stream ends.</param>
    /// <param name="time">Clock.</param>
    public FrameWatch(Stream inner, IConnectionObserver observer, TimeSpan settingsWithin, TimeProvider time)
    {
        _inner = inner;
        _observer = observer;
        _scan = new FrameScan(observer);
        _giveUp = time.CreateTimer(static watch => ((FrameWatch)watch!).GiveUp(), this, settingsWithin, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The peer's SETTINGS have come: until then nothing but the preface was sent.</summary>
    public bool HasSettings => _settings.Task.IsCompleted && _scan.HasSettings;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>The handler asks with an empty buffer first, to hold none while it waits: that says nothing yet.</summary>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        buffer.IsEmpty ? _inner.ReadAsync(buffer, cancellationToken) : ReadAlongAsync(buffer, cancellationToken);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadAlongAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        var read = 0;
        try
        {
            read = await _inner.ReadAsync(buffer, cancellationToken);
            _scan.Read(buffer.Span[..read]);
            if (_scan.HasSettings && _settings.TrySetResult())
            {
                await _giveUp.DisposeAsync();
            }

            return read;
        }
        finally
        {
            if (read == 0)
            {
                End();
            }
        }
    }

    /// <summary>The handler's first write is its preface, with SETTINGS and window; requests wait for the peer's. It writes one after another.</summary>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_isPrefaceOut && !_settings.Task.IsCompleted)
        {
            return WriteLaterAsync(buffer, cancellationToken);
        }

        _isPrefaceOut = true;
        return _inner.WriteAsync(buffer, cancellationToken);
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => _inner.FlushAsync(cancellationToken);

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Flush() => _inner.Flush();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _inner.Dispose();
            End();
        }

        base.Dispose(disposing);
    }

    private async ValueTask WriteLaterAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        await _settings.Task.WaitAsync(cancellationToken);
        if (!_scan.HasSettings)
        {
            throw new IOException("The peer sent no SETTINGS.");
        }

        await _inner.WriteAsync(buffer, cancellationToken);
    }

    private void GiveUp()
    {
        if (!_scan.HasSettings)
        {
            _inner.Dispose();
            End();
        }
    }

    private void End()
    {
        _settings.TrySetResult();
        _giveUp.Dispose();
        if (Interlocked.Exchange(ref _ended, 1) == 0)
        {
            _observer.Ended(violation: 0);
        }
    }
}

/// <summary>Cuts what a peer sends into frames and reads SETTINGS and GOAWAY, however the bytes arrive. Not thread-safe.</summary>
internal sealed class FrameScan
{
    private const int HeaderBytes = 9;
    private const byte SettingsFrame = 0x4;
    private const byte GoAwayFrame = 0x7;
    private const byte AckFlag = 0x1;
    private const ushort MaxConcurrentStreams = 0x3;

    /// <summary>Enough for every SETTINGS anybody sends (six of 6 bytes) and for GOAWAY with a sentence; what a frame has beyond is passed over.</summary>
    private const int KeptBytes = 256;

    private readonly byte[] _kept = new byte[HeaderBytes + KeptBytes];
    private readonly IConnectionObserver _observer;
    private int _keptLength;
    private int _payloadLeft;
    private bool _hasSettings;

    public FrameScan(IConnectionObserver observer) => _observer = observer;

    /// <summary>Some SETTINGS were read. May be asked from any thread.</summary>
    public bool HasSettings => Volatile.Read(ref _hasSettings);

    public void Read(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            if (_keptLength < HeaderBytes)
            {
                bytes = bytes[Keep(bytes, HeaderBytes - _keptLength)..];
                if (_keptLength < HeaderBytes)
                {
                    return;
                }

                _payloadLeft = (_kept[0] << 16) | (_kept[1] << 8) | _kept[2];
            }

            var taken = Math.Min(_payloadLeft, bytes.Length);
            if (_kept[3] is SettingsFrame or GoAwayFrame)
            {
                Keep(bytes[..taken], _kept.Length - _keptLength);
            }

            bytes = bytes[taken..];
            _payloadLeft -= taken;
            if (_payloadLeft == 0)
            {
                Complete(_kept[3], _kept.AsSpan(HeaderBytes, _keptLength - HeaderBytes));
                _keptLength = 0;
            }
        }
    }

    private int Keep(ReadOnlySpan<byte> bytes, int most)
    {
        var length = Math.Min(bytes.Length, most);
        bytes[..length].CopyTo(_kept.AsSpan(_keptLength));
        _keptLength += length;
        return length;
    }

    private void Complete(byte type, ReadOnlySpan<byte> payload)
    {
        if (type == SettingsFrame && (_kept[4] & AckFlag) == 0)
        {
            ReadSettings(payload);
        }
        else if (type == GoAwayFrame && payload.Length >= 8)
        {
            _observer.GoingAway(BinaryPrimitives.ReadUInt32BigEndian(payload[4..]), Text(payload[8..]));
        }
    }

    private void ReadSettings(ReadOnlySpan<byte> payload)
    {
        long? limit = _hasSettings ? null : long.MaxValue;
        for (; payload.Length >= 6; payload = payload[6..])
        {
            if (BinaryPrimitives.ReadUInt16BigEndian(payload) == MaxConcurrentStreams)
            {
                limit = BinaryPrimitives.ReadUInt32BigEndian(payload[2..]);
            }
        }

        Volatile.Write(ref _hasSettings, true);
        if (limit is { } streams)
        {
            _observer.StreamLimit(streams);
        }
    }

    private static string? Text(ReadOnlySpan<byte> debug) => debug.IsEmpty ? null : ProviderText.Ascii(debug[..Math.Min(debug.Length, 128)]);
}
