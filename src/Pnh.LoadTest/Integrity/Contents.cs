using System.Text;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Integrity;

/// <summary>Whether an arrival and an answer carry what was sent: the event's own id where it has one, every byte of the filling. Compares in place, as every delivery comes by here. Not thread-safe.</summary>
internal sealed class Contents
{
    private readonly byte[] _beforeKey;
    private readonly byte[] _filling;
    private readonly Fault _fault;
    private long _arrivals;
    private long _answers;

    public Contents(BenchOptions options)
    {
        _fault = options.Break;
        _beforeKey = Encoding.ASCII.GetBytes($"\"id\":\"{options.Run}-");
        _filling = Encoding.ASCII.GetBytes(MessagePayload.Filling(options.Size));
    }

    /// <param name="message">With a payload that was just read.</param>
    /// <param name="end">Where its numbers end.</param>
    /// <param name="hasId">Whether the event was given an id that the message must bring back.</param>
    public bool IsAsSent(ReadOnlySpan<byte> message, int end, bool hasId) =>
        _fault == Fault.Corrupt && ++_arrivals % Arrivals.FaultEvery == 0 ? IsWhole(Corrupt(message, end), end, hasId) : IsWhole(message, end, hasId);

    /// <summary>Whether an answer names the event that it is for.</summary>
    public bool Confirms(ReadOnlySpan<byte> answer, in Posted posted)
    {
        if (!posted.HasId)
        {
            return true;
        }

        var shift = _fault == Fault.WrongAnswer && ++_answers % Arrivals.FaultEvery == 0 ? 1 : 0;
        Span<byte> key = stackalloc byte[MessagePayload.KeyLength];
        MessagePayload.WriteKey(key, posted.Stream, posted.Sequence + shift);
        return HasId(answer, key);
    }

    private bool IsWhole(ReadOnlySpan<byte> message, int end, bool hasId) =>
        message[end..].StartsWith(_filling) && (!hasId || HasId(message[..end], MessagePayload.KeyBefore(message, end)));

    private bool HasId(ReadOnlySpan<byte> text, ReadOnlySpan<byte> key)
    {
        var at = text.IndexOf(_beforeKey);
        var rest = at < 0 ? default : text[(at + _beforeKey.Length)..];
        return rest.StartsWith(key) && rest.Length > key.Length && rest[key.Length] == '"';
    }

    private static byte[] Corrupt(ReadOnlySpan<byte> message, int end)
    {
        var copy = message.ToArray();
        copy[end + 1]++;
        return copy;
    }
}
