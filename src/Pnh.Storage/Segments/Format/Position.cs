using System.Globalization;

namespace Pnh.Storage.Segments.Format;

/// <summary>A place in the log: segment number in the upper 32 bits, offset in its file in the lower. 0 = none. Later is greater.</summary>
internal static class Position
{
    public static long Of(int segment, int offset) => ((long)segment << 32) | (uint)offset;

    public static int Segment(long position) => (int)(position >> 32);

    public static int Offset(long position) => (int)position;

    /// <summary>As a cursor: 16 hexadecimal digits.</summary>
    public static string ToText(long position) => position.ToString("x16", CultureInfo.InvariantCulture);

    /// <summary>Reads a cursor; anything that <see cref="ToText"/> cannot have made is a <see cref="FormatException"/>.</summary>
    public static long Parse(string text)
    {
        if (text.Length != 16 || !long.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var position)
            || position < 0 || Offset(position) < SegmentHeader.Bytes || position % Record.Alignment != 0)
        {
            throw new FormatException("Not a cursor of this journal.");
        }

        return position;
    }
}
