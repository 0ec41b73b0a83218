using System.Runtime.InteropServices;

namespace Pnh.LoadTest.Integrity;

/// <summary>
/// What was published: the numbers of every stream, and those that were not taken. Streams of users are small numbers, those of topics begin at <see cref="FirstTopic"/>.
/// </summary>
internal sealed class MessageLedger
{
    public const int FirstTopic = 1_000_000;

    private readonly Dictionary<int, long> _last = [];
    private readonly Dictionary<int, int> _recipients = [];
    private readonly Dictionary<int, HashSet<long>> _refused = [];
    private readonly Dictionary<int, HashSet<long>> _unknown = [];

    /// <summary>Deliveries that must arrive since <see cref="Restart"/>.</summary>
    public long Expected { get; private set; }

    /// <summary>The next number of the stream.</summary>
    public long Next(int stream)
    {
        ref var last = ref CollectionsMarshal.GetValueRefOrAddDefault(_last, stream, out _);
        return ++last;
    }

    /// <summary>Every stream and its last number.</summary>
    public IEnumerable<KeyValuePair<int, long>> Streams => _last;

    /// <summary>What was refused since <see cref="Restart"/>.</summary>
    public IEnumerable<(int Stream, long Sequence)> Refused => Flat(_refused);

    /// <summary>What broke since <see cref="Restart"/>.</summary>
    public IEnumerable<(int Stream, long Sequence)> Unknown => Flat(_unknown);

    /// <summary>Another process published up to here.</summary>
    public void Set(int stream, long last) => _last[stream] = last;

    public long Last(int stream) => _last.GetValueOrDefault(stream);

    public void AddRecipient(int stream) => _recipients[stream] = _recipients.GetValueOrDefault(stream) + 1;

    public void Accept(int stream) => Expected += _recipients.GetValueOrDefault(stream);

    /// <summary>The server said that it does not take it: it must not arrive.</summary>
    public void Refuse(int stream, long sequence) => Add(_refused, stream, sequence);

    /// <summary>The connection broke, or the answer was none that says: it may arrive or not.</summary>
    public void Doubt(int stream, long sequence) => Add(_unknown, stream, sequence);

    /// <summary>How many numbers of a stream were promised, where nothing was published before <see cref="Restart"/>.</summary>
    public long Taken(int stream) => Last(stream) - (_refused.GetValueOrDefault(stream)?.Count ?? 0) - (_unknown.GetValueOrDefault(stream)?.Count ?? 0);

    /// <summary>How many of those that a recipient did not get should have come.</summary>
    public long Lost(StreamCheck check)
    {
        var refused = _refused.GetValueOrDefault(check.Stream);
        var unknown = _unknown.GetValueOrDefault(check.Stream);
        bool Promised(long sequence) => refused?.Contains(sequence) != true && unknown?.Contains(sequence) != true;
        var lost = check.Missing.Count(Promised);
        for (var sequence = check.Last + 1; sequence <= Last(check.Stream); sequence++)
        {
            lost += Promised(sequence) ? 1 : 0;
        }

        return lost;
    }

    /// <summary>How many a recipient got although they were refused.</summary>
    public long Unwanted(StreamCheck check) => _refused.GetValueOrDefault(check.Stream)?.Count(check.Has) ?? 0;

    public void Restart()
    {
        Expected = 0;
        _refused.Clear();
        _unknown.Clear();
    }

    private static void Add(Dictionary<int, HashSet<long>> set, int stream, long sequence)
    {
        ref var numbers = ref CollectionsMarshal.GetValueRefOrAddDefault(set, stream, out _);
        (numbers ??= []).Add(sequence);
    }

    private static IEnumerable<(int Stream, long Sequence)> Flat(Dictionary<int, HashSet<long>> set) =>
        set.SelectMany(static pair => pair.Value.Select(sequence => (pair.Key, sequence)));
}
