using Pnh.Core.Settings;

namespace Pnh.Storage.Segments;

/// <summary>What opening does when bytes that were on stable storage are damaged.</summary>
public enum DamagePolicy
{
    /// <summary>The journal does not open: somebody has to look. The default.</summary>
    Refuse,

    /// <summary>The damaged stretch is copied aside, counted, and everything else is served.</summary>
    Quarantine,
}

/// <summary>What a start does when the registry beside the journal is not the one that belongs to it.</summary>
public enum ForeignRegistryPolicy
{
    /// <summary>The hub does not start. The default.</summary>
    Refuse,

    /// <summary>The two belong together from now on; unfinished events of users whom this registry does not have wait for them until they are over.</summary>
    Accept,
}

/// <summary>The embedded journal: events, outcomes, timelines and the feed.</summary>
/// <remarks>Not to be changed once it is open. The generated binder leaves out properties that only an initializer may set.</remarks>
public sealed record JournalOptions
{
    /// <summary>How long an id is recognised, and an outcome stays in the feed, after acceptance; an unfinished event with a longer TTL is kept until that ends. Default 24 h.</summary>
    [Duration("00:00:01", "92.00:00:00")]
    public TimeSpan Retention { get; set; } = TimeSpan.FromHours(24);

    /// <summary>Told the duration of every commit (sync included) on the writer's thread: quick, must not throw. Null = nobody.</summary>
    internal Action<TimeSpan>? OnSync { get; init; }

    /// <summary>Told once of each damaged place that a read finds: where, and what to do. On any thread: quick, must not throw. Null = nobody.</summary>
    internal Action<string>? FoundDamage { get; init; }

    /// <summary>Asked before and after each sync, on the writer's thread: true = another hub has the folder, and nothing is written or answered any more. Null = never.</summary>
    internal Func<bool>? IsLost { get; init; }

    /// <summary>Size of one segment, preallocated: 256 KiB to 1 GiB. Default 64 MiB. Segments of another size are read all the same.</summary>
    [WholeNumber(256 * 1024, 1024 * 1024 * 1024)]
    public int SegmentBytes { get; set; } = 64 * 1024 * 1024;

    /// <summary>Above this many bytes the oldest finished history goes before its retention is over; unfinished events never do. At least twice <see cref="SegmentBytes"/>. Default what leaves 1 GiB of the disk free at the start, or a twentieth where that is more.</summary>
    [WholeNumber(1, long.MaxValue)]
    public long? MaxBytes { get; set; }

    /// <summary>What a start does about damaged records: refuse does not open the journal, quarantine copies them aside, counts them and serves the rest. Default refuse.</summary>
    public DamagePolicy OnDamage { get; set; }

    /// <summary>
    /// What a start does about a registry.db that is not the journal's: refuse, or accept; then unfinished events of users whom it does not have wait for them until they are over.
    /// Default refuse.
    /// </summary>
    public ForeignRegistryPolicy OnForeignRegistry { get; set; }

    /// <summary>An open event with more milestones keeps its segment, and all after it, until it is over: to carry it takes 8 bytes of memory for each.</summary>
    internal int MostCarried { get; init; } = 4 * 1024 * 1024;

    /// <summary>How much of an open event is carried between two commits: some 1,200 milestones, 2 ms with its sync. The largest record fits.</summary>
    internal int CarryBytes { get; init; } = 192 * 1024;
}
