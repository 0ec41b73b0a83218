using System.Text;
using Microsoft.Net.Http.Headers;

namespace Pnh.Api.Bodies;

/// <summary>
/// How the server reads Content-Length: as digits alone (RFC 9110 section 8.6), anything else as what is no number, which it answers with a 400. By itself it takes a sign, and what stands in front
/// of the hub may read such a length another way. Stateless.
/// </summary>
internal sealed class ContentLengthDigits : Encoding
{
    private const char NoDigit = '?';

    private static readonly ContentLengthDigits Instance = new();

    /// <summary>For Kestrel: null = its own way, for every other header.</summary>
    public static Encoding? For(string header) => header == HeaderNames.ContentLength ? Instance : null;

    /// <inheritdoc/>
    public override int GetChars(byte[] bytes, int byteIndex, int byteCount, char[] chars, int charIndex) =>
        GetChars(bytes.AsSpan(byteIndex, byteCount), chars.AsSpan(charIndex));

    /// <inheritdoc/>
    public override int GetChars(ReadOnlySpan<byte> bytes, Span<char> chars)
    {
        for (var i = 0; i < bytes.Length; i++)
        {
            chars[i] = char.IsAsciiDigit((char)bytes[i]) ? (char)bytes[i] : NoDigit;
        }

        return bytes.Length;
    }

    /// <inheritdoc/>
    public override int GetByteCount(char[] chars, int index, int count) => count;

    /// <inheritdoc/>
    public override int GetBytes(char[] chars, int charIndex, int charCount, byte[] bytes, int byteIndex) => throw new NotSupportedException("It only reads.");

    /// <inheritdoc/>
    public override int GetCharCount(byte[] bytes, int index, int count) => count;

    /// <inheritdoc/>
    public override int GetMaxByteCount(int charCount) => charCount;

    /// <inheritdoc/>
    public override int GetMaxCharCount(int byteCount) => byteCount;
}
