namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>
/// Counts, in what a client sends, the frames that are no messages: control frames, and frames of a message that are not its last. Looks at headers only.
/// Not thread-safe.
/// </summary>
internal struct FrameTally
{
    private readonly byte[] _header = new byte[FrameHeader.MaxClientBytes];
    private int _gathered;
    private long _skip;
    private bool _isLost;

    public FrameTally()
    {
    }

    /// <summary>How many of them begin in these bytes, which follow the ones before.</summary>
    public int Count(ReadOnlySpan<byte> bytes)
    {
        var found = 0;
        while (!bytes.IsEmpty && !_isLost)
        {
            var skipped = (int)Math.Min(_skip, bytes.Length);
            _skip -= skipped;
            bytes = bytes[skipped..];
            if (bytes.IsEmpty)
            {
                break;
            }

            _header[_gathered++] = bytes[0];
            bytes = bytes[1..];
            switch (FrameHeader.Read(_header.AsSpan(0, _gathered), out var header))
            {
                case HeaderState.Whole:
                    found += header.IsControl || !header.IsFinal ? 1 : 0;
                    _skip = header.Length;
                    _gathered = 0;
                    break;
                case HeaderState.Broken:
                    _isLost = true; // the framework finds out as well, and closes
                    break;
            }
        }

        return found;
    }
}
