namespace Pnh.LoadTest.Integrity;

/// <summary>What was published: the numbers of every stream, and those that were refused. Streams of users are small numbers, those of topics begin at <see cref="FirstTopic"/>.</summary>
internal sealed class Ledger
{
    public const int FirstTopic = 1_000_000;

    private readonly Dictionary<int, long> _last = [];
    private readonly Dictionary<int, int> _recipients = [];
    private readonly HashSet<(int Stream, long Sequence)> _refused = [];

    /// <summary>Deliveries that must arrive since <see cref="Restart"/>.</summary>
    public long Expected { get; private set; }

    /// <summary>The next number of the stream.</summary>
    public long Next(int stream)
    {
        ref var last = ref System.Runtime.InteropServices.CollectionsMarshal.GetValueRefOrAddDefault(_last, stream, out _);
        return ++last;
    }

    /// <summary>Every stream and its last number.</summary>
    public IEnumerable<KeyValuePair<int, long>> Streams => _last;

    /// <summary>What was refused since <see cref="Restart"/>.</summary>
    public IEnumerable<(int Stream, long Sequence)> Refused => _refused;

    /// <summary>Another process published up to here.</summary>
    public void Set(int stream, long last) => _last[stream] = last;

    public long Last(int stream) => _last.GetValueOrDefault(stream);

    public void AddRecipient(int stream) => _recipients[stream] = _recipients.GetValueOrDefault(stream) + 1;

    public void Accept(int stream) => Expected += _recipients.GetValueOrDefault(stream);

    public void Refuse(int stream, long sequence) => _refused.Add((stream, sequence));

    /// <summary>How many of those that a recipient did not get should have come.</summary>
    public long Lost(StreamCheck check)
    {
        var lost = check.Missing.Count(sequence => !_refused.Contains((check.Stream, sequence)));
        for (var sequence = check.Last + 1; sequence <= Last(check.Stream); sequence++)
        {
            lost += _refused.Contains((check.Stream, sequence)) ? 0 : 1;
        }

        return lost;
    }

    public void Restart()
    {
        Expected = 0;
        _refused.Clear();
    }
}
