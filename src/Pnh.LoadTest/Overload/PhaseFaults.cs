namespace Pnh.LoadTest.Overload;

/// <summary>What was wrong in a phase, by class. However fast a hub is, none of it may be.</summary>
internal sealed class PhaseFaults
{
    /// <summary>Deliveries of taken events that did not arrive.</summary>
    public long[] Lost { get; } = new long[Mix.Classes.Length];

    /// <summary>Deliveries that came again.</summary>
    public long[] Duplicate { get; } = new long[Mix.Classes.Length];

    /// <summary>Deliveries to somebody else, of another class, or of what nobody sent.</summary>
    public long[] Misrouted { get; } = new long[Mix.Classes.Length];

    /// <summary>Deliveries of what was answered 429 or 503.</summary>
    public long[] Unwanted { get; } = new long[Mix.Classes.Length];

    /// <summary>Events that were neither taken nor refused.</summary>
    public long[] Broken { get; } = new long[Mix.Classes.Length];

    public bool IsClean => Array.TrueForAll(All, static counts => Array.TrueForAll(counts, static count => count == 0));

    private long[][] All => [Lost, Duplicate, Misrouted, Unwanted, Broken];

    /// <summary>Adds another phase's.</summary>
    public void Add(PhaseFaults other)
    {
        foreach (var (mine, theirs) in All.Zip(other.All))
        {
            for (var i = 0; i < mine.Length; i++)
            {
                mine[i] += theirs[i];
            }
        }
    }

    /// <summary>Counts of call, message and bulk.</summary>
    public static string Text(long[] counts) => string.Join(" / ", counts);
}
