using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Unicode;

namespace Pnh.Core.Events;

/// <summary>
/// Escapes what RFC 8259 section 7 demands (quotation mark, backslash, control characters) and nothing else. Providers count bytes: the framework's most lenient encoder writes 12 for the 4 of an emoji, and
/// 6 for a no-break or ideographic space. For text that never stands in HTML. Thread-safe.
/// </summary>
public sealed unsafe class PlainJsonEncoder : JavaScriptEncoder
{
    private const string Escaped = "\0\u0001\u0002\u0003\u0004\u0005\u0006\a\b\t\n\v\f\r\u000E\u000F\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001A\u001B\u001C\u001D\u001E\u001F\"\\";
    private static readonly SearchValues<char> Characters = SearchValues.Create(Escaped);
    private static readonly SearchValues<byte> Bytes = SearchValues.Create(Encoding.ASCII.GetBytes(Escaped));

    private PlainJsonEncoder()
    {
    }

    /// <summary>The one there is.</summary>
    public static PlainJsonEncoder Shared { get; } = new();

    /// <summary>Of a control character: <c>\u001f</c>.</summary>
    public override int MaxOutputCharactersPerInputCharacter => 6;

    /// <inheritdoc/>
    public override bool WillEncode(int unicodeScalar) => unicodeScalar is < 0x20 or '"' or '\\';

    /// <inheritdoc/>
    public override int FindFirstCharacterToEncode(char* text, int textLength)
    {
        var span = new ReadOnlySpan<char>(text, textLength);
        var first = span.IndexOfAny(Characters);
        var half = FindHalfPair(first < 0 ? span : span[..first]);
        return half < 0 ? first : half;
    }

    /// <inheritdoc/>
    public override int FindFirstCharacterToEncodeUtf8(ReadOnlySpan<byte> utf8Text)
    {
        var first = utf8Text.IndexOfAny(Bytes);
        return Utf8.IsValid(first < 0 ? utf8Text : utf8Text[..first]) ? first : base.FindFirstCharacterToEncodeUtf8(utf8Text);
    }

    /// <inheritdoc/>
    public override bool TryEncodeUnicodeScalar(int unicodeScalar, char* buffer, int bufferLength, out int numberOfCharactersWritten)
    {
        var target = new Span<char>(buffer, bufferLength);
        if (!WillEncode(unicodeScalar))
        {
            // What stands for text that is no Unicode.
            return new Rune(unicodeScalar).TryEncodeToUtf16(target, out numberOfCharactersWritten);
        }

        ReadOnlySpan<char> escape = unicodeScalar switch
        {
            '"' => "\\\"",
            '\\' => @"\\",
            '\b' => @"\b",
            '\t' => @"\t",
            '\n' => @"\n",
            '\f' => @"\f",
            '\r' => @"\r",
            _ => ['\\', 'u', '0', '0', unicodeScalar < 0x10 ? '0' : '1', "0123456789abcdef"[unicodeScalar & 0xF]],
        };
        numberOfCharactersWritten = escape.TryCopyTo(target) ? escape.Length : 0;
        return numberOfCharactersWritten > 0;
    }

    private static int FindHalfPair(ReadOnlySpan<char> text)
    {
        for (var i = text.IndexOfAnyInRange('\uD800', '\uDFFF'); i >= 0 && i < text.Length; i++)
        {
            if (!char.IsSurrogate(text[i]))
            {
                continue;
            }

            if (i + 1 >= text.Length || !char.IsSurrogatePair(text[i], text[i + 1]))
            {
                return i;
            }

            i++;
        }

        return -1;
    }
}
