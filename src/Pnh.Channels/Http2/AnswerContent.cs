namespace Pnh.Channels.Http2;

/// <summary>What is kept of an answer: the few headers and a bounded body, in one array that serves many answers. Not thread-safe.</summary>
internal sealed class AnswerContent
{
    /// <summary>A larger array, made for a rare long body, is not kept.</summary>
    private const int KeptBytes = 4096;

    private const int Headers = 4;

    private readonly int[] _ends = new int[Headers];
    private byte[] _bytes = new byte[512];
    private int _bodyStart;
    private int _end;

    public ReadOnlyMemory<byte> Body => _bytes.AsMemory(_bodyStart, _end - _bodyStart);

    public int BodyLength => _end - _bodyStart;

    public ReadOnlySpan<byte> Header(AnswerHeader header)
    {
        var start = header == 0 ? 0 : _ends[(int)header - 1];
        return _bytes.AsSpan(start, _ends[(int)header] - start);
    }

    public void TakeHeaders(AnswerHead head)
    {
        _end = 0;
        for (var header = 0; header < Headers; header++)
        {
            Append(head.Header((AnswerHeader)header));
            _ends[header] = _end;
        }

        _bodyStart = _end;
    }

    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_bytes.Length - _end < bytes.Length)
        {
            Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, _end + bytes.Length));
        }

        bytes.CopyTo(_bytes.AsSpan(_end));
        _end += bytes.Length;
    }

    public void Clear()
    {
        _end = _bodyStart = 0;
        Array.Clear(_ends);
        if (_bytes.Length > KeptBytes)
        {
            _bytes = new byte[512];
        }
    }
}
