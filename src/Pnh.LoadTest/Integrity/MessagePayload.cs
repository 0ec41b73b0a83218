using System.Globalization;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Integrity;

/// <summary>What every event carries: its stream, its number within the stream and when it was due. JSON, the same for every peer.</summary>
internal static class MessagePayload
{
    /// <summary>Bytes of stream and number with the dash between them, as they end an event's id too.</summary>
    public const int KeyLength = Template.StreamDigits + 1 + Template.SequenceDigits;

    private const string Start = "{\"load\":\"{stream}-{seq}-{due}";

    private static ReadOnlySpan<byte> Marker => "\"load\":\""u8;

    /// <summary>Text of a <see cref="Template"/> that is <paramref name="size"/> bytes long when sent; never less than the 64 that it needs.</summary>
    public static string Text(int size) => Start + Filling(size);

    /// <summary>What stands behind the numbers.</summary>
    public static string Filling(int size)
    {
        const string Before = "\",\"text\":\"";
        const string After = "\"}";
        return Before + new string('x', Math.Max(0, size - new Template(Start + Before + After).Length)) + After;
    }

    /// <summary>The key of the payload whose numbers end there.</summary>
    public static ReadOnlySpan<byte> KeyBefore(ReadOnlySpan<byte> bytes, int end) => bytes.Slice(end - Template.DueDigits - 1 - KeyLength, KeyLength);

    public static void WriteKey(Span<byte> target, int stream, long sequence)
    {
        Template.WriteDigits(target[..Template.StreamDigits], stream);
        target[Template.StreamDigits] = (byte)'-';
        Template.WriteDigits(target[(Template.StreamDigits + 1)..KeyLength], sequence);
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
