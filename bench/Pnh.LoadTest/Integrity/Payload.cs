using System.Globalization;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Integrity;

/// <summary>What every event carries: its stream, its number within the stream and when it was due. JSON, the same for every peer.</summary>
internal static class Payload
{
    private static ReadOnlySpan<byte> Marker => "\"load\":\""u8;

    /// <summary>Text of a <see cref="Template"/> that is <paramref name="size"/> bytes long when sent; never less than the 64 that it needs.</summary>
    public static string Text(int size)
    {
        const string Start = "{\"load\":\"{stream}-{seq}-{due}\",\"text\":\"";
        var bare = new Template(Start + "\"}").Length;
        return Start + new string('x', Math.Max(0, size - bare)) + "\"}";
    }

    /// <summary>Finds the next one; false = there is none. <paramref name="end"/> is where to look for another.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out int stream, out long sequence, out long due, out int end)
    {
        (stream, sequence, due, end) = (0, 0, 0, bytes.Length);
        var at = bytes.IndexOf(Marker);
        if (at < 0)
        {
            return false;
        }

        at += Marker.Length;
        var dash = at + Template.StreamDigits;
        var second = dash + 1 + Template.SequenceDigits;
        end = second + 1 + Template.DueDigits;
        if (end > bytes.Length || bytes[dash] != '-' || bytes[second] != '-')
        {
            throw new InvalidDataException(string.Create(CultureInfo.InvariantCulture, $"a payload that was not sent like this, {bytes.Length} bytes"));
        }

        stream = (int)Number(bytes[at..dash]);
        sequence = Number(bytes[(dash + 1)..second]);
        due = Number(bytes[(second + 1)..end]);
        return true;
    }

    /// <summary>Decimal digits.</summary>
    public static long Number(ReadOnlySpan<byte> digits)
    {
        long value = 0;
        foreach (var digit in digits)
        {
            if ((uint)(digit - '0') > 9)
            {
                break;
            }

            value = (value * 10) + (digit - '0');
        }

        return value;
    }
}
