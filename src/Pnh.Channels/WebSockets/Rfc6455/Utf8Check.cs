using System.Buffers;
using System.Text;
using System.Text.Unicode;

namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>
/// Checks text that comes in pieces: wrong bytes are found in the piece in which they come, and a character may lie across pieces
/// (RFC 6455 section 8.1). A struct of 8 bytes: at most three bytes of a character wait.
/// </summary>
internal struct Utf8Check
{
    private uint _begun;
    private int _count;

    /// <summary>True when no character is unfinished: the text may end here.</summary>
    public readonly bool IsWhole => _count == 0;

    /// <summary>False when the text is not UTF-8 any more, whatever follows.</summary>
    public bool TryAdd(ReadOnlySpan<byte> piece)
    {
        while (_count > 0 && !piece.IsEmpty)
        {
            if (!TryAddToBegun(piece[0]))
            {
                return false;
            }

            piece = piece[1..];
        }

        var begun = Begun(piece);
        return Utf8.IsValid(piece[..^begun]) && TryBegin(piece[^begun..]);
    }

    // How many bytes at the end may be a character that goes on in the next piece.
    private static int Begun(ReadOnlySpan<byte> piece)
    {
        for (var back = 1; back <= Math.Min(3, piece.Length); back++)
        {
            var lead = piece[^back];
            if ((lead & 0xC0) != 0x80)
            {
                var needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
                return needed > back ? back : 0;
            }
        }

        return 0;
    }

    private bool TryBegin(ReadOnlySpan<byte> bytes)
    {
        foreach (var next in bytes)
        {
            if (!TryAddToBegun(next))
            {
                return false;
            }
        }

        return true;
    }

    private bool TryAddToBegun(byte next)
    {
        Span<byte> character = stackalloc byte[4];
        for (var i = 0; i < _count; i++)
        {
            character[i] = (byte)(_begun >> (8 * i));
        }

        character[_count] = next;
        switch (Rune.DecodeFromUtf8(character[..(_count + 1)], out _, out _))
        {
            case OperationStatus.Done:
                _begun = 0;
                _count = 0;
                return true;
            case OperationStatus.NeedMoreData:
                _begun |= (uint)next << (8 * _count);
                _count++;
                return true;
            default:
                return false;
        }
    }
}
