using System.Globalization;
using Pnh.Api.Configuration;
using Pnh.Core.Diagnostics;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;

namespace Pnh.Api.Engines;

/// <summary>The truth in a folder of this machine: a log of segments, and a registry in SQLite (<c>Pnh:Store=sqlite</c>).</summary>
internal sealed partial class EmbeddedEngine : IStorageEngine
{
    private readonly DataFolder _folder;
    private readonly DataDisk _disk;
    private readonly SegmentJournal _journal;
    private readonly SqliteDeviceStore _registry;
    private readonly FolderPairing _pairing;
    private readonly KnownEdges _edges;
    private readonly TimeSpan _retention;
    private readonly ILogger _log;

    private EmbeddedEngine(DataFolder folder, DataDisk disk, SegmentJournal journal, SqliteDeviceStore registry, JournalOptions settings, TimeProvider time, ILoggerFactory logs)
    {
        (_folder, _disk, _journal, _registry, _retention) = (folder, disk, journal, registry, settings.Retention);
        _pairing = new FolderPairing(folder.FolderPath, registry, journal, settings.OnForeignRegistry, time);
        _edges = new KnownEdges(folder.FolderPath, logs.CreateLogger<KnownEdges>());
        _log = logs.CreateLogger<EmbeddedEngine>();
    }

    public IEventJournal Journal => _journal;

    public IDeviceStore Devices => _registry;

    public IPublisherKeyStore Keys => _registry.Keys;

    public IErasureStore Erasures => _registry.Erasures;

    public string ClusterId => _journal.FolderId.ToString("x8", CultureInfo.InvariantCulture);

    public IReadOnlyList<(string Label, string Name, Func<bool> IsClosed)> Parts =>
        [("journal", "journal", () => _journal.IsDamaged), ("registry", "registry.db", () => _registry.IsDamaged)];

    public string? Refusal => _journal.Refusal ?? _registry.Refusal;

    /// <summary>Opens or creates what is in the folder. Throws <see cref="DataFolderException"/> with what to do when that cannot be.</summary>
    /// <param name="options">The checked configuration.</param>
    /// <param name="folder">Held by this process.</param>
    /// <param name="clock">Goes on after the newest time in the log, where it is the hub's clock.</param>
    /// <param name="services">The hub's; a test may have put a journal there.</param>
    public static EmbeddedEngine Open(PnhOptions options, DataFolder folder, FolderClock clock, IServiceProvider services)
    {
        var (time, logs) = (services.GetRequiredService<TimeProvider>(), services.GetRequiredService<ILoggerFactory>());
        var disk = new DataDisk(folder.FolderPath);
        var journal = services.GetService<SegmentJournal>() ?? OpenJournal(options.Journal, folder, disk, services.GetRequiredService<HubMetrics>(), time, logs);
        if (time is SteadyClock)
        {
            clock.StartAfter(journal.Reach.Newest);
        }

        try
        {
            return new EmbeddedEngine(folder, disk, journal, OpenRegistry(folder, time, services), options.Journal, time, logs);
        }
        catch
        {
            _ = journal.DisposeAsync().AsTask(); // nothing is written yet
            throw;
        }
    }

    private static SqliteDeviceStore OpenRegistry(DataFolder folder, TimeProvider time, IServiceProvider services)
    {
        var channels = services.GetServices<IPushChannel>().ToDictionary(static channel => channel.Name);
        return SqliteDeviceStore.Open(folder.FolderPath, time, respell: address => channels.GetValueOrDefault(address.Channel)?.Respell(address));
    }

    private static SegmentJournal OpenJournal(JournalOptions options, DataFolder folder, DataDisk disk, HubMetrics metrics, TimeProvider time, ILoggerFactory logs)
    {
        var damage = new PacedLog(logs.CreateLogger<SegmentJournal>(), time);
        return SegmentJournal.Open(folder.FolderPath, time, options with
        {
            OnSync = metrics.JournalSynced,
            FoundDamage = message => Damaged(damage, message),
            IsLost = () => folder.Incarnation.IsLost,
            MaxBytes = disk.Bound(options.MaxBytes, options.SegmentBytes),
        });
    }

    public byte[] ReadOrCreateSecret(string name, int bytes) => _folder.ReadOrCreateSecret(name, bytes);

    public IReadOnlyCollection<string> ReadEdges() => _edges.Read();

    public void KeepEdges(IReadOnlyCollection<string> links) => _edges.Write(links);

    public void Export(HubMetrics metrics)
    {
        metrics.RegisterJournal(() => _journal.DroppedNotes, () => _journal.DamagedRecords, () => _journal.Resting);
        metrics.RegisterHistory(() => _journal.Reach.Oldest, _retention, () => _journal.Reach.RetiredEarly);
        metrics.RegisterDisk(() => _disk.JournalBytes, () => _disk.FreeBytes);
    }

    public async Task CheckAsync(CancellationToken cancellationToken)
    {
        await _pairing.CheckAsync(cancellationToken);
        var reach = _journal.Reach;
        Reaches(_log, reach.IsShort ? LogLevel.Warning : LogLevel.Information, reach);
    }

    public void Lose() => _registry.Lose();

    public async ValueTask DisposeAsync()
    {
        await _registry.DisposeAsync();
        await _journal.DisposeAsync();
    }

    [LoggerMessage(EventId = 1, Message = "{Reach}.", EventName = "JournalReach")]
    private static partial void Reaches(ILogger logger, LogLevel level, LogReach reach);

    [LoggerMessage(2, LogLevel.Error, "A record cannot be read. {Damage} All else is served.", EventName = "RecordDamaged")]
    private static partial void Damaged(ILogger log, string damage);
}
