using System.Text.Unicode;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>
/// Finds messages and control frames in what a client sends, piece by piece. Holds nothing between messages. What breaks RFC 6455 is found with
/// the byte that does so, and ends the reading: nothing that follows can be told apart. Not thread-safe.
/// </summary>
internal struct FrameReader
{
    private readonly int _maxBytes;
    private PartialMessage? _partial;

    public FrameReader(int maxMessageBytes)
    {
        _maxBytes = maxMessageBytes;
        _partial = null;
    }

    /// <summary>
    /// Reads the next thing. Returns how many bytes it took: what it left belongs to the next call, and comes first in it. 0 with
    /// <see cref="Received.Nothing"/> = the rest of a header or of a control frame is missing.
    /// </summary>
    /// <param name="bytes">What arrived.</param>
    /// <param name="scratch">Room for small payloads, at least <see cref="FrameHeader.MaxControlBytes"/>.</param>
    /// <param name="found">What it is.</param>
    /// <param name="content">Its payload without the mask, if it has one that counts; valid until <see cref="Release"/>, which must follow.</param>
    public int Read(ReadOnlySpan<byte> bytes, Span<byte> scratch, out Received found, out ReadOnlySpan<byte> content)
    {
        content = default;
        if (_partial is { IsInFrame: true } partial)
        {
            return Continue(partial, bytes, out found, out content);
        }

        switch (FrameHeader.Read(bytes, out var header))
        {
            case HeaderState.Unfinished:
                found = Received.Nothing;
                return 0;
            case HeaderState.Whole when header.IsControl:
                return ReadControl(header, bytes, scratch, out found, out content);
            case HeaderState.Whole when (header.Opcode == Opcode.Continuation) == (_partial is not null):
                return ReadData(header, bytes, scratch, out found, out content);
            default:
                found = Received.Broken;
                return 0;
        }
    }

    /// <summary>The content was used.</summary>
    public void Release()
    {
        if (_partial is { IsWhole: true })
        {
            Clear();
        }
    }

    /// <summary>Gives back what it holds.</summary>
    public void Clear()
    {
        _partial?.Dispose();
        _partial = null;
    }

    private static int ReadControl(
        scoped in FrameHeader header, ReadOnlySpan<byte> bytes, Span<byte> scratch, out Received found, out ReadOnlySpan<byte> content)
    {
        content = default;
        found = Received.Nothing;
        var whole = header.Bytes + (int)header.Length;
        if (bytes.Length < whole)
        {
            return 0;
        }

        Masking.Unmask(bytes[header.Bytes..whole], scratch, header.Mask);
        content = scratch[..(int)header.Length];
        found = header.Opcode switch { Opcode.Close => Received.Closed, Opcode.Ping => Received.Ping, _ => Received.Pong };
        return whole;
    }

    private int ReadData(
        scoped in FrameHeader header, ReadOnlySpan<byte> bytes, Span<byte> scratch, out Received found, out ReadOnlySpan<byte> content)
    {
        // The common case: a small message in one frame that is there.
        if (header is { IsFinal: true, Opcode: Opcode.Text } && header.Length <= Math.Min(scratch.Length, _maxBytes)
            && bytes.Length - header.Bytes >= header.Length)
        {
            var length = (int)header.Length;
            Masking.Unmask(bytes.Slice(header.Bytes, length), scratch, header.Mask);
            found = Utf8.IsValid(scratch[..length]) ? Received.Text : Received.NotText;
            content = found == Received.Text ? scratch[..length] : default;
            return header.Bytes + length;
        }

        content = default;
        var partial = _partial ??= new PartialMessage(header.Opcode);
        if (partial.Begin(header, _maxBytes))
        {
            found = Received.TooBig;
            return header.Bytes;
        }

        var taken = Continue(partial, bytes[header.Bytes..], out found, out content);
        found = found == Received.Nothing && !header.IsFinal ? Received.Piece : found;
        return header.Bytes + taken;
    }

    private readonly int Continue(PartialMessage partial, ReadOnlySpan<byte> bytes, out Received found, out ReadOnlySpan<byte> content)
    {
        var taken = partial.Take(bytes, _maxBytes, out found);
        content = found == Received.Text ? partial.Text : default;
        return taken;
    }
}
