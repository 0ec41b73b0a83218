using System.Text;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>Reads the header block of an answer: its status and the few headers anybody asks for. One per connection, used for one block after another.</summary>
internal sealed class AnswerHead : IHeaderSink
{
    /// <summary>Of all kept values together. A push service's <c>location</c> has some hundred bytes; one too many counts as absent.</summary>
    private const int KeptBytes = 2048;

    private readonly byte[] _bytes = new byte[KeptBytes];
    private readonly Kept[] _kept = new Kept[(int)Name.Count];
    private int _length;
    private bool _regular;

    private enum Name
    {
        RetryAfter,
        Date,
        Location,
        ApnsId,
        ApnsUniqueId,
        Count,
    }

    /// <summary>0 = none yet.</summary>
    public int Status { get; private set; }

    /// <summary>Not a well-formed message (RFC 9113 section 8.2): a pseudo header twice, unknown or late, or a name with capitals.</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>100 to 199: the answer is still to come.</summary>
    public bool IsInterim => Status is >= 100 and < 200;

    /// <summary>Makes strings of what the request wants of such an answer; mostly nothing.</summary>
    public AnswerHeaders Take(WantedHeaders wanted)
    {
        if (Status is < 200 or > 299)
        {
            return new AnswerHeaders { RetryAfter = Text(Name.RetryAfter), Date = Text(Name.Date) };
        }

        return wanted == WantedHeaders.None ? default : new AnswerHeaders
        {
            Date = wanted.HasFlag(WantedHeaders.Date) ? Text(Name.Date) : null,
            Location = wanted.HasFlag(WantedHeaders.Location) ? Text(Name.Location) : null,
            ApnsId = wanted.HasFlag(WantedHeaders.ApnsId) ? Text(Name.ApnsId) : null,
            ApnsUniqueId = wanted.HasFlag(WantedHeaders.ApnsUniqueId) ? Text(Name.ApnsUniqueId) : null,
        };
    }

    public void Clear()
    {
        Status = 0;
        IsMalformed = false;
        _regular = false;
        _length = 0;
        Array.Clear(_kept);
    }

    void IHeaderSink.Header(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        if (name.IsEmpty || name.ContainsAnyInRange((byte)'A', (byte)'Z'))
        {
            IsMalformed = true;
        }
        else if (name[0] == ':')
        {
            IsMalformed |= _regular || Status != 0 || !name.SequenceEqual(":status"u8) || !TryReadStatus(value);
        }
        else
        {
            _regular = true;
            Keep(NameOf(name), value);
        }
    }

    private bool TryReadStatus(ReadOnlySpan<byte> value)
    {
        if (value.Length != 3 || value.ContainsAnyExceptInRange((byte)'0', (byte)'9') || value[0] is (byte)'0' or > (byte)'5')
        {
            return false;
        }

        Status = ((value[0] - '0') * 100) + ((value[1] - '0') * 10) + (value[2] - '0');
        return true;
    }

    private static Name NameOf(ReadOnlySpan<byte> name) => name.Length switch
    {
        4 when name.SequenceEqual("date"u8) => Name.Date,
        7 when name.SequenceEqual("apns-id"u8) => Name.ApnsId,
        8 when name.SequenceEqual("location"u8) => Name.Location,
        11 when name.SequenceEqual("retry-after"u8) => Name.RetryAfter,
        14 when name.SequenceEqual("apns-unique-id"u8) => Name.ApnsUniqueId,
        _ => Name.Count,
    };

    private void Keep(Name name, ReadOnlySpan<byte> value)
    {
        // The first of a repeated header counts, as with the framework's client.
        if (name != Name.Count && !_kept[(int)name].IsThere && value.Length <= KeptBytes - _length)
        {
            value.CopyTo(_bytes.AsSpan(_length));
            _kept[(int)name] = new Kept(true, _length, value.Length);
            _length += value.Length;
        }
    }

    private string? Text(Name name) =>
        _kept[(int)name] is { IsThere: true } kept ? Encoding.Latin1.GetString(_bytes, kept.Start, kept.Length) : null;

    private readonly record struct Kept(bool IsThere, int Start, int Length);
}

/// <summary>Headers of an answer; null = absent or not wanted.</summary>
internal readonly record struct AnswerHeaders(string? RetryAfter, string? Date, string? Location, string? ApnsId, string? ApnsUniqueId);
