using System.Buffers;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// Bytes that arrived and wait for those that belong to them. Rents only while there are some, so a connection between messages holds nothing.
/// A struct inside the connection. Not thread-safe: the loop's own.
/// </summary>
internal struct LeftOver
{
    private byte[]? _bytes;
    private int _start;

    /// <summary>How many.</summary>
    public int Length { get; private set; }

    /// <summary>They.</summary>
    public readonly ReadOnlySpan<byte> Span => _bytes.AsSpan(_start, Length);

    /// <summary>Room behind them for at least <paramref name="size"/> more; <see cref="Received"/> says what came.</summary>
    public Span<byte> Room(int size)
    {
        if (_bytes is null || _bytes.Length - _start - Length < size)
        {
            Grow(size);
        }

        return _bytes.AsSpan(_start + Length);
    }

    /// <summary>So many came into the room.</summary>
    public void Received(int count) => Length += count;

    /// <summary>Keeps these; there are none yet.</summary>
    public void Keep(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Room(bytes.Length));
        Length = bytes.Length;
    }

    /// <summary>So many were used up.</summary>
    public void Use(int count)
    {
        _start += count;
        Length -= count;
        if (Length == 0)
        {
            Clear();
        }
    }

    /// <summary>Forgets them. Cleared, because a token may have been in it.</summary>
    public void Clear()
    {
        if (_bytes is { } bytes)
        {
            ArrayPool<byte>.Shared.Return(bytes, clearArray: true);
            _bytes = null;
        }

        _start = 0;
        Length = 0;
    }

    private void Grow(int size)
    {
        var grown = ArrayPool<byte>.Shared.Rent(Math.Max(Length + size, Length * 2));
        Span.CopyTo(grown);
        var length = Length;
        Clear();
        _bytes = grown;
        Length = length;
    }
}
