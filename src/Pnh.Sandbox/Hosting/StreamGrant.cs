using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Text;

namespace Pnh.Sandbox.Hosting;

/// <summary>
/// The way out of one HTTP/2 connection, with frames of our own slipped in between Kestrel's: SETTINGS that grant fewer or more
/// streams (Kestrel's limit is one number for the whole server), and GOAWAY with debug data (Kestrel sends none).
/// Kestrel writes under one lock and flushes only after whole frames, so before and after a flush is a frame boundary.
/// </summary>
internal sealed class StreamGrant : PipeWriter
{
    private const byte SettingsFrame = 4;
    private const byte GoAwayFrame = 7;
    private const int HeaderBytes = 9;
    private const ushort MaxConcurrentStreams = 3;

    private readonly PipeWriter _inner;
    private byte[]? _pending;
    private bool _between;

    public StreamGrant(PipeWriter inner, int streams)
    {
        _inner = inner;
        _pending = Settings(streams);
    }

    public override bool CanGetUnflushedBytes => _inner.CanGetUnflushedBytes;

    public override long UnflushedBytes => _inner.UnflushedBytes;

    /// <summary>Grants another number of streams, together with Kestrel's next frames. RFC 9113 section 6.5.2.</summary>
    public void Grant(int streams) => Append(Settings(streams));

    /// <summary>Announces the end of the connection with debug data, as APNs does with its JSON <c>reason</c>. RFC 9113 section 6.8.</summary>
    public void GoAway(int errorCode, string debugData)
    {
        byte[] text = Encoding.UTF8.GetBytes(debugData);
        byte[] frame = new byte[HeaderBytes + 8 + text.Length];
        WriteHeader(frame, GoAwayFrame, 8 + text.Length);

        // The highest id there is: what is under way will still be answered.
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(HeaderBytes), int.MaxValue);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(HeaderBytes + 4), errorCode);
        text.CopyTo(frame, HeaderBytes + 8);
        Append(frame);
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
    {
        // What is pending at the first flush must follow Kestrel's own SETTINGS, or that would overrule it.
        SlipIn();
        _between = true;
        return _inner.FlushAsync(cancellationToken);
    }

    public override void Advance(int bytes) => _inner.Advance(bytes);

    public override Memory<byte> GetMemory(int sizeHint = 0)
    {
        BeforeNextFrame();
        return _inner.GetMemory(sizeHint);
    }

    public override Span<byte> GetSpan(int sizeHint = 0)
    {
        BeforeNextFrame();
        return _inner.GetSpan(sizeHint);
    }

    public override void CancelPendingFlush() => _inner.CancelPendingFlush();

    public override void Complete(Exception? exception = null) => _inner.Complete(exception);

    public override ValueTask CompleteAsync(Exception? exception = null) => _inner.CompleteAsync(exception);

    // Ours goes first: a client looks at the first GOAWAY, and Kestrel's has no debug data.
    private void BeforeNextFrame()
    {
        if (_between)
        {
            _between = false;
            SlipIn();
        }
    }

    private void SlipIn()
    {
        if (Interlocked.Exchange(ref _pending, null) is { } frames)
        {
            frames.CopyTo(_inner.GetSpan(frames.Length));
            _inner.Advance(frames.Length);
        }
    }

    private static byte[] Settings(int streams)
    {
        byte[] frame = new byte[HeaderBytes + 6];
        WriteHeader(frame, SettingsFrame, 6);
        BinaryPrimitives.WriteUInt16BigEndian(frame.AsSpan(HeaderBytes), MaxConcurrentStreams);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(HeaderBytes + 2), streams);
        return frame;
    }

    // Length in 24 bits, type, no flags, stream 0.
    private static void WriteHeader(Span<byte> frame, byte type, int length)
    {
        frame[0] = (byte)(length >> 16);
        frame[1] = (byte)(length >> 8);
        frame[2] = (byte)length;
        frame[3] = type;
    }

    private void Append(byte[] frame)
    {
        byte[]? before;
        do
        {
            before = Volatile.Read(ref _pending);
        }
        while (Interlocked.CompareExchange(ref _pending, before is null ? frame : [.. before, .. frame], before) != before);
    }
}
