using System.Globalization;

namespace Pnh.Channels.Settings;

/// <summary>Durations as people write them. Never negative.</summary>
internal static class DurationText
{
    /// <summary>
    /// <c>hh:mm:ss</c> or <c>d.hh:mm:ss</c>, with any number of hours. The framework's own parser is not used: it takes 24:00:00 for 24 days.
    /// </summary>
    public static bool TryParseClock(ReadOnlySpan<char> text, out TimeSpan duration) => TryParseClock(text, fractions: false, out duration);

    /// <summary>The same; where <paramref name="fractions"/> are taken, also milliseconds, <c>hh:mm:ss.f</c> to <c>hh:mm:ss.fff</c>.</summary>
    public static bool TryParseClock(ReadOnlySpan<char> text, bool fractions, out TimeSpan duration)
    {
        duration = default;
        var milliseconds = 0;
        if (fractions && text.LastIndexOf('.') is var point && point > text.LastIndexOf(':'))
        {
            if (!TryParseFraction(text[(point + 1)..], out milliseconds))
            {
                return false;
            }

            text = text[..point];
        }

        Span<Range> parts = stackalloc Range[4];
        if (text.Split(parts, ':') != 3)
        {
            return false;
        }

        var hoursPart = text[parts[0]];
        var days = 0;
        if (hoursPart.IndexOf('.') is var dot and >= 0)
        {
            if (!TryParseNumber(hoursPart[..dot], 10_000, out days))
            {
                return false;
            }

            hoursPart = hoursPart[(dot + 1)..];
        }

        if (!TryParseNumber(hoursPart, 100_000, out var hours) || !TryParseNumber(text[parts[1]], 59, out var minutes)
            || !TryParseNumber(text[parts[2]], 59, out var seconds))
        {
            return false;
        }

        duration = new(days, hours, minutes, seconds, milliseconds);
        return true;
    }

    /// <summary>A number with a unit, <c>30s</c>, <c>15m</c>, <c>1h</c>, <c>7d</c>; or a clock form.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, out TimeSpan duration)
    {
        if (TryParseClock(text, out duration))
        {
            return true;
        }

        if (text.Length < 2 || !TryParseNumber(text[..^1], 1_000_000, out var number))
        {
            return false;
        }

        var unit = text[^1] switch { 's' => 1, 'm' => 60, 'h' => 3600, 'd' => 86400, _ => 0 };
        duration = TimeSpan.FromSeconds((long)number * unit);
        return unit != 0;
    }

    private static bool TryParseFraction(ReadOnlySpan<char> digits, out int milliseconds)
    {
        if (digits.Length is 0 or > 3 || !TryParseNumber(digits, 999, out milliseconds))
        {
            milliseconds = 0;
            return false;
        }

        for (var missing = digits.Length; missing < 3; missing++)
        {
            milliseconds *= 10;
        }

        return true;
    }

    private static bool TryParseNumber(ReadOnlySpan<char> text, int most, out int number) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number) && number <= most;
}
