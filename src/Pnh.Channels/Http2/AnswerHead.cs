namespace Pnh.Channels.Http2;

/// <summary>Reads the header block of an answer: status and the headers that are kept. One per connection, used for one block after another.</summary>
internal sealed class AnswerHead : IHeaderSink
{
    /// <summary>The longest value kept; apns-id has 36 bytes, a date in Retry-After 29.</summary>
    private const int MaxValueBytes = 128;

    private const int Kept = 4;

    private readonly byte[] _values = new byte[Kept * MaxValueBytes];
    private readonly int[] _lengths = new int[Kept];
    private bool _regular;

    /// <summary>0 = none yet.</summary>
    public int Status { get; private set; }

    /// <summary>Not a well-formed message (RFC 9113 section 8.1.1): a pseudo header twice, unknown or late, or a name with capitals.</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>100 to 199: the answer is still to come.</summary>
    public bool IsInterim => Status is >= 100 and < 200;

    public ReadOnlySpan<byte> Header(AnswerHeader header) => _values.AsSpan((int)header * MaxValueBytes, _lengths[(int)header]);

    public void Clear()
    {
        Status = 0;
        IsMalformed = false;
        _regular = false;
        Array.Clear(_lengths);
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
            Keep(name, value);
        }
    }

    private bool TryReadStatus(ReadOnlySpan<byte> value)
    {
        if (value.Length != 3 || value.ContainsAnyExceptInRange((byte)'0', (byte)'9') || value[0] == '0')
        {
            return false;
        }

        Status = ((value[0] - '0') * 100) + ((value[1] - '0') * 10) + (value[2] - '0');
        return true;
    }

    private void Keep(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        AnswerHeader header;
        switch (name.Length)
        {
            case 7 when name.SequenceEqual("apns-id"u8):
                header = AnswerHeader.ApnsId;
                break;
            case 14 when name.SequenceEqual("apns-unique-id"u8):
                header = AnswerHeader.ApnsUniqueId;
                break;
            case 11 when name.SequenceEqual("retry-after"u8):
                header = AnswerHeader.RetryAfter;
                break;
            case 12 when name.SequenceEqual("content-type"u8):
                header = AnswerHeader.ContentType;
                break;
            default:
                return;
        }

        if (value.Length <= MaxValueBytes)
        {
            value.CopyTo(_values.AsSpan((int)header * MaxValueBytes));
            _lengths[(int)header] = value.Length;
        }
    }
}
