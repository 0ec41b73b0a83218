using System.Buffers;
using System.Globalization;
using System.Text;

namespace Pnh.Core.Events;

/// <summary>The rules for ids (design: fixed names). Pure functions.</summary>
public static class Ids
{
    private static readonly SearchValues<char> EventIdCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:~@-");

    private static readonly SearchValues<char> AppCharacters = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");

    /// <summary>An app: 1–32 of <c>[a-z0-9-]</c>.</summary>
    public static bool IsApp(ReadOnlySpan<char> value) =>
        value.Length is >= 1 and <= 32 && !value.ContainsAnyExcept(AppCharacters);

    /// <summary>An event id: 1–64 of <c>[A-Za-z0-9._:~@-]</c>.</summary>
    public static bool IsEventId(ReadOnlySpan<char> value) =>
        value.Length is >= 1 and <= Limits.EventIdCharacters && !value.ContainsAnyExcept(EventIdCharacters);

    /// <summary>
    /// A user, device or topic id: 1–128 printable characters, not <c>.</c> or <c>..</c>. Printable = no control, format, surrogate-broken,
    /// private-use or unassigned code point and no line or paragraph separator, so that an id looks the same wherever it is shown.
    /// </summary>
    public static bool IsName(ReadOnlySpan<char> value)
    {
        if (value.IsEmpty || value is "." or "..")
        {
            return false;
        }

        var characters = 0;
        while (!value.IsEmpty)
        {
            if (Rune.DecodeFromUtf16(value, out var rune, out var consumed) != OperationStatus.Done || !IsPrintable(rune))
            {
                return false;
            }

            value = value[consumed..];
            characters++;
        }

        return characters <= Limits.IdCharacters;
    }

    /// <summary>A new time-ordered id (UUIDv7, RFC 9562), 36 characters.</summary>
    public static string NewEventId(DateTimeOffset now) => Guid.CreateVersion7(now).ToString("D", CultureInfo.InvariantCulture);

    private static bool IsPrintable(Rune rune) => Rune.GetUnicodeCategory(rune) is not (
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.Surrogate or UnicodeCategory.PrivateUse
        or UnicodeCategory.OtherNotAssigned or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
