using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>What others keep: the journal's and the disk's readings, and what the console asks for between two scrapes. Each asks anew; cheap enough for once a second.</summary>
public sealed partial class HubMetrics
{
    private readonly ReadingFamily _addressesRested;
    private readonly ReadingFamily _addressesResting;

    /// <summary>Exports how many addresses are stale until disposed. The callback must be quick.</summary>
    public IDisposable RegisterAddresses(Func<long> stale) => _staleAddresses.Add(() => stale());

    /// <summary>Exports how many addresses of each channel were laid to rest, and how many rest, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterRests(IEnumerable<string> channels, Func<string, long> rested, Func<string, long> resting) => new Registrations(
        [.. channels.SelectMany(channel => (IEnumerable<IDisposable>)[_addressesRested.Add(() => rested(channel), channel), _addressesResting.Add(() => resting(channel), channel)])]);

    /// <summary>Exports what the journal gave up, what it found damaged and what rests in it, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterJournal(Func<long> droppedNotes, Func<long> damagedRecords, Func<long> resting) => new Registrations(
        _journalDropped.Add(() => droppedNotes()), _journalDamaged.Add(() => damagedRecords()), _journalResting.Add(() => resting()));

    /// <summary>Exports how far back the journal's history goes, how far it is wanted, and how often a part went earlier, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterHistory(Func<TimeSpan> oldest, TimeSpan retention, Func<long> retiredEarly) => new Registrations(
        _journalOldest.Add(() => oldest().TotalSeconds), _journalRetention.Add(() => retention.TotalSeconds), _journalEarly.Add(() => retiredEarly()));

    /// <summary>Exports how often the machine's clock was set and how far the hub's is ahead of it, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterClock(Func<long> steps, Func<TimeSpan> ahead) => new Registrations(_clockSteps.Add(() => steps()), _clockAhead.Add(() => ahead().TotalSeconds));

    /// <summary>Exports how long the listeners' certificate holds, until disposed. The callback must be quick.</summary>
    public IDisposable RegisterCertificate(Func<TimeSpan> left) => _certificateLeft.Add(() => left().TotalSeconds);

    /// <summary>How far the hub's clock is ahead of the machine's, in seconds; 0 = not known.</summary>
    public double ReadClockAhead() => _clockAhead.Read().Sum(static one => one.Value);

    /// <summary>Exports what the journal takes of the disk and what is left, until disposed. The callbacks are asked at each scrape.</summary>
    public IDisposable RegisterDisk(Func<long> journal, Func<long> free) => new Registrations(_journalBytes.Add(() => journal()), _diskFree.Add(() => free()));

    /// <summary>The bounded queues, each with the age of its oldest item; 0 = nothing waits there.</summary>
    public IReadOnlyList<QueueAge> ReadQueueAges() => [.. _queueAge.Read().Select(static one => new QueueAge(one.Labels[0], one.Labels[1], one.Value))];

    /// <summary>Notes that the journal gave up since the start.</summary>
    public double ReadDroppedNotes() => _journalDropped.Read().Sum(static one => one.Value);

    /// <summary>Damaged records that the journal found at the start.</summary>
    public double ReadDamagedRecords() => _journalDamaged.Read().Sum(static one => one.Value);

    /// <summary>Bytes that are free on the disk of the data folder; null = there is no such disk, or it does not say.</summary>
    public double? ReadFreeBytes() => _diskFree.Read().Select(static one => (double?)one.Value).FirstOrDefault(static free => free > 0);
}

/// <summary>A bounded queue.</summary>
/// <param name="Queue">As on the metrics page: <c>accept</c>, <c>fan-out</c>, or of a provider's account.</param>
/// <param name="Class">Of its items.</param>
/// <param name="Seconds">Age of the oldest.</param>
public readonly record struct QueueAge(string Queue, string Class, double Seconds);
