using System.Globalization;
using System.Text;

namespace Pnh.Channels.Net.Http;

/// <summary>
/// What a provider says, made fit for a log line, a timeline and a label: a character that would move the cursor, turn the writing round or be invisible becomes
/// <c>?</c>. Pure.
/// </summary>
internal static class ProviderText
{
    /// <summary>The text itself when all of it is fit, as nearly every one is.</summary>
    public static string Clean(string text) => text.AsSpan().ContainsAnyExceptInRange(' ', '~') ? Replace(text) : text;

    /// <summary>Bytes as printable ASCII.</summary>
    public static string Ascii(ReadOnlySpan<byte> bytes) => string.Create(bytes.Length, bytes, static (text, bytes) =>
    {
        for (var i = 0; i < bytes.Length; i++)
        {
            text[i] = bytes[i] is >= 0x20 and < 0x7F ? (char)bytes[i] : '?';
        }
    });

    private static string Replace(string text)
    {
        var cleaned = new StringBuilder(text.Length);
        foreach (var rune in text.EnumerateRunes())
        {
            // Half a surrogate pair is read as U+FFFD.
            cleaned.Append(IsFit(rune) ? rune.ToString() : "?");
        }

        return cleaned.ToString();
    }

    /// <summary>Format characters are the marks that turn the writing round (U+202E, U+2066, …), zero widths and tags.</summary>
    private static bool IsFit(Rune rune) => Rune.GetUnicodeCategory(rune) is not (
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
        or UnicodeCategory.PrivateUse or UnicodeCategory.OtherNotAssigned or UnicodeCategory.Surrogate);
}
