namespace Pnh.Channels.Links.Protocol;

/// <summary>Cuts what arrives of a link into items, wherever the pieces end. Not thread-safe.</summary>
internal sealed class LinkInput
{
    private byte[] _buffer = new byte[LinkQueue.BatchBytes];
    private int _from;
    private int _to;

    /// <summary>Where the next bytes go; never empty. What was taken is not to be used any longer.</summary>
    public Memory<byte> Free
    {
        get
        {
            if (_from > 0)
            {
                _buffer.AsSpan(_from.._to).CopyTo(_buffer);
                (_from, _to) = (0, _to - _from);
            }

            if (_to == _buffer.Length)
            {
                // An item is bounded, and only a whole one is longer than what is read at once.
                Array.Resize(ref _buffer, _buffer.Length * 2);
            }

            return _buffer.AsMemory(_to);
        }
    }

    /// <summary>So many bytes came.</summary>
    public void Advance(int bytes) => _to += bytes;

    /// <summary>The next whole item; false = none yet. Throws <see cref="LinkFormatException"/> for bytes that are no item.</summary>
    public bool TryTake(out LinkItemKind kind, out ReadOnlyMemory<byte> members)
    {
        ReadOnlyMemory<byte> batch = _buffer.AsMemory(_from.._to);
        var isWhole = LinkReader.TryTake(ref batch, out kind, out members);
        _from = _to - batch.Length;
        return isWhole;
    }
}
