using System.Globalization;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>A number of an event or a note as a cursor: 16 hexadecimal digits.</summary>
internal static class PostgresCursor
{
    public static string Of(long number) => number.ToString("x16", CultureInfo.InvariantCulture);

    /// <summary>Throws <see cref="FormatException"/> for what was never given; <paramref name="newest"/> = the greatest number that there is.</summary>
    public static long Parse(string cursor, long newest = long.MaxValue) =>
        cursor.Length == 16 && long.TryParse(cursor, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var number) && number >= 0 && number <= newest
            ? number
            : throw new FormatException("Not a cursor of this journal.");
}
