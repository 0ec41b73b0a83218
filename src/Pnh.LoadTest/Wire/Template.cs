using System.Text;

namespace Pnh.LoadTest.Wire;

/// <summary>
/// Bytes that are sent again and again with other digits: <c>{stream}</c>, <c>{seq}</c> and <c>{due}</c> of the text become gaps of fixed width. Immutable.
/// </summary>
internal sealed class Template
{
    public const int StreamDigits = 7;
    public const int SequenceDigits = 9;
    public const int DueDigits = 19;

    private static readonly (string Name, int Digits)[] Gaps = [("{stream}", StreamDigits), ("{seq}", SequenceDigits), ("{due}", DueDigits)];
    private readonly byte[] _bytes;
    private readonly List<int>[] _at = [[], [], []];

    public Template(string text)
    {
        while (Next(text) is var (at, gap))
        {
            _at[gap].Add(at);
            text = text[..at] + new string('0', Gaps[gap].Digits) + text[(at + Gaps[gap].Name.Length)..];
        }

        HasId = text.Contains("\"id\":\"", StringComparison.Ordinal);
        _bytes = Encoding.ASCII.GetBytes(text);
    }

    public int Length => _bytes.Length;

    /// <summary>Whether it gives the event an id, which the answer must bring back.</summary>
    public bool HasId { get; }

    public void Write(Span<byte> target, int stream, long sequence, long due)
    {
        _bytes.CopyTo(target);
        Write(target, 0, stream);
        Write(target, 1, sequence);
        Write(target, 2, due);
    }

    /// <summary>A number that fills the target, with zeros in front.</summary>
    public static void WriteDigits(Span<byte> target, long value)
    {
        for (var i = target.Length - 1; i >= 0; i--)
        {
            target[i] = (byte)('0' + (value % 10));
            value /= 10;
        }
    }

    // The leftmost first: what is replaced later must not move what stands already.
    private static (int At, int Gap)? Next(string text)
    {
        (int At, int Gap)? first = null;
        for (var i = 0; i < Gaps.Length; i++)
        {
            var at = text.IndexOf(Gaps[i].Name, StringComparison.Ordinal);
            if (at >= 0 && (first is null || at < first.Value.At))
            {
                first = (at, i);
            }
        }

        return first;
    }

    private void Write(Span<byte> target, int gap, long value)
    {
        foreach (var at in _at[gap])
        {
            WriteDigits(target.Slice(at, Gaps[gap].Digits), value);
        }
    }
}
