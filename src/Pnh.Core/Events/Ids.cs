using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Core.Events;

/// <summary>The rules for ids (design: fixed names). Pure functions.</summary>
public static class Ids
{
    private static readonly SearchValues<char> EventIdCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:~@-");

    [ThreadStatic]
    private static byte[]? _random;

    [ThreadStatic]
    private static int _randomLeft;

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

    /// <summary>A new time-ordered id (UUIDv7, RFC 9562 section 5.7), 36 characters.</summary>
    public static string NewEventId(DateTimeOffset now)
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteInt64BigEndian(bytes, now.ToUnixTimeMilliseconds() << 16);
        FillRandom(bytes[6..]);
        bytes[6] = (byte)((bytes[6] & 0x0F) | 0x70);
        bytes[8] = (byte)((bytes[8] & 0x3F) | 0x80);
        return new Guid(bytes, bigEndian: true).ToString("D", CultureInfo.InvariantCulture);
    }

    // The system's random bytes for a hundred ids at once: asking for each took half of the time of reading an event.
    private static void FillRandom(Span<byte> bytes)
    {
        var random = _random ??= new byte[1_000];
        if (_randomLeft < bytes.Length)
        {
            RandomNumberGenerator.Fill(random);
            _randomLeft = random.Length;
        }

        _randomLeft -= bytes.Length;
        random.AsSpan(_randomLeft, bytes.Length).CopyTo(bytes);
    }

    private static bool IsPrintable(Rune rune) => Rune.GetUnicodeCategory(rune) is not (
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.Surrogate or UnicodeCategory.PrivateUse
        or UnicodeCategory.OtherNotAssigned or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
