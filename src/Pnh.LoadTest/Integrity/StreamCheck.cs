namespace Pnh.LoadTest.Integrity;

/// <summary>What an arrival was.</summary>
internal enum Verdict
{
    InOrder,

    /// <summary>It was here before.</summary>
    Duplicate,

    /// <summary>A later one came first.</summary>
    Reordered,

    /// <summary>Published before the check was restarted, and not here yet: a server that was behind then is no fault of now.</summary>
    Past,
}

/// <summary>One recipient's view of one stream: numbers must come 1, 2, 3 …, each once.</summary>
internal sealed class StreamCheck
{
    private readonly List<long> _missing = [];

    // Of the past, and not here when the check was restarted. What is neither in it nor new comes a second time.
    private readonly List<long> _overdue = [];
    private long _from;

    public StreamCheck(int stream, long last)
    {
        Stream = stream;
        Last = last;
    }

    public int Stream { get; }

    /// <summary>The highest that came.</summary>
    public long Last { get; private set; }

    /// <summary>Those below it that did not.</summary>
    public IReadOnlyList<long> Missing => _missing;

    /// <summary>Whether it came.</summary>
    public bool Has(long sequence) => sequence <= Last && !_missing.Contains(sequence) && !_overdue.Contains(sequence);

    public Verdict Take(long sequence)
    {
        if (sequence > Last)
        {
            for (var skipped = Last + 1; skipped < sequence; skipped++)
            {
                _missing.Add(skipped);
            }

            Last = sequence;
            return Verdict.InOrder;
        }

        if (sequence <= _from)
        {
            return _overdue.Remove(sequence) ? Verdict.Past : Verdict.Duplicate;
        }

        return _missing.Remove(sequence) ? Verdict.Reordered : Verdict.Duplicate;
    }

    /// <summary>Judges from here on: everything up to <paramref name="published"/> belongs to the past.</summary>
    public void Restart(long published)
    {
        _overdue.AddRange(_missing);
        for (var sequence = Last + 1; sequence <= published; sequence++)
        {
            _overdue.Add(sequence);
        }

        Last = _from = published;
        _missing.Clear();
    }
}
