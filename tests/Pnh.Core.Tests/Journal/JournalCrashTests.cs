using System.Globalization;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

/// <summary>Crashes at every write, sync, creation and deletion of a life with rotation, removal and carrying, and again while recovering.</summary>
public sealed class JournalCrashTests
{
    // What is carried fits into a part; and the event with milestones takes several, with a commit after each.
    private const int WholeBytes = 192 * 1024;
    private const int PartBytes = 512;

    [Theory(Timeout = 300_000)]
    [InlineData(Aftermath.Nothing, 1)]
    [InlineData(Aftermath.Everything, 1)]
    [InlineData(Aftermath.TornPrefix, 8)]
    [InlineData(Aftermath.AnyPages, 6)]
    [InlineData(Aftermath.Nothing, 1, PartBytes)]
    [InlineData(Aftermath.TornPrefix, 4, PartBytes)]
    [InlineData(Aftermath.AnyPages, 4, PartBytes)]
    public async Task Crash_AtEveryOperation_KeepsWhatWasConfirmed(Aftermath aftermath, int disks, int carryBytes = WholeBytes)
    {
        var random = new Random((int)aftermath);
        var options = new JournalOptions { SegmentBytes = 256 * 1024, CarryBytes = carryBytes };
        var operations = (await LiveAsync(int.MaxValue, options)).Folder.Operations;
        Assert.InRange(operations, 60, 1_000);
        for (var crashAt = 0; crashAt <= operations; crashAt++)
        {
            var (folder, ledger) = await LiveAsync(crashAt, options);
            for (var disk = 0; disk < disks; disk++)
            {
                await ReopenAsync(folder, new CrashLedger(ledger), aftermath, (disk + 1.0) / (disks + 1), random, crashAt, options);
            }
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_GroupWhoseSyncFailed_IsOnTheDiskBeforeItIsConfirmed()
    {
        var folder = new CrashFolder();
        await using (var failed = new JournalOnDisk(folder))
        {
            await failed.AppendAsync("first");
            folder.SyncFault = new IOException("EIO", 5);
            await Assert.ThrowsAsync<StoreUnavailableException>(() => failed.AppendAsync("second", 20_000));
        }

        // The machine lives, so the next process reads the group; then the power goes.
        folder.SyncFault = null;
        await using (var next = new JournalOnDisk(folder))
        {
            Assert.Equal(AppendResult.Duplicate, await next.AppendAsync("second", 20_000));
            folder = folder.Survive(Aftermath.Nothing, 0, new Random(1));
        }

        await using var afterwards = new JournalOnDisk(folder);
        Assert.Equal(["first", "second"], await afterwards.OpenAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_HalfOfAGroupIsOnTheDisk_NoneOfItCounts()
    {
        var folder = new CrashFolder();
        await using (var journal = new JournalOnDisk(folder))
        {
            using var isSyncing = new SemaphoreSlim(0);
            using var isQueued = new ManualResetEventSlim();
            folder.BeforeSync = _ =>
            {
                isSyncing.Release();
                isQueued.Wait();
            };
            var before = journal.AppendAsync("before");
            await isSyncing.WaitAsync();
            Task<AppendResult>[] group = [journal.AppendAsync("one"), journal.AppendAsync("two", 20_000)];
            folder.BeforeSync = _ => folder.CrashAt = folder.Operations;
            isQueued.Set();
            Assert.Equal(AppendResult.Appended, await before);
            foreach (var lost in group)
            {
                await Assert.ThrowsAsync<StoreUnavailableException>(() => lost);
            }
        }

        await using var afterwards = new JournalOnDisk(folder.Survive(Aftermath.TornPrefix, 0.5, new Random(1)));
        Assert.Equal(["before"], await afterwards.OpenAsync());
        Assert.Equal(AppendResult.Appended, await afterwards.AppendAsync("one"));
    }

    private static async Task ReopenAsync(
        CrashFolder folder, CrashLedger ledger, Aftermath aftermath, double share, Random random, int crashAt, JournalOptions options)
    {
        // Recovery is stopped after none, one, two ... operations of its own, until it comes through.
        for (var again = 0; again < 50; again++)
        {
            var disk = folder.Survive(aftermath, share, random);
            disk.CrashAt = again;
            if (await TryOpenAsync(disk, ledger, options) is { } journal)
            {
                disk.CrashAt = int.MaxValue;
                await ledger.CheckAsync(journal);
                await ledger.GoOnAsync(journal, string.Create(CultureInfo.InvariantCulture, $"after-{crashAt}"));
                await journal.DisposeAsync();
                await using var third = Open(disk, ledger, options);
                await ledger.CheckAsync(third);
                return;
            }

            folder = disk;
        }

        Assert.Fail("Recovery never ends.");
    }

    private static async Task<SegmentJournal?> TryOpenAsync(CrashFolder disk, CrashLedger ledger, JournalOptions options)
    {
        try
        {
            var journal = Open(disk, ledger, options);
            if (!disk.IsCrashed)
            {
                return journal;
            }

            await journal.DisposeAsync();
            return null;
        }
        catch (Exception fault) when (disk.IsCrashed && fault is IOException or DataFolderException)
        {
            return null;
        }
    }

    private static SegmentJournal Open(CrashFolder folder, CrashLedger ledger, JournalOptions options) =>
        SegmentJournal.Open(folder, new LedgerTime(ledger), options);

    /// <summary>A life of some 100 operations, up to the crash.</summary>
    private static async Task<(CrashFolder Folder, CrashLedger Ledger)> LiveAsync(int crashAt, JournalOptions options)
    {
        var (folder, ledger) = (new CrashFolder { CrashAt = crashAt }, new CrashLedger());
        SegmentJournal journal;
        try
        {
            journal = Open(folder, ledger, options);
        }
        catch (DataFolderException) when (folder.IsCrashed)
        {
            return (folder, ledger);
        }

        await ledger.AppendAsync(journal, "long", hours: 72);
        await ledger.AppendAsync(journal, "a");
        ledger.Note(journal, "long", MilestoneKind.Planned, "phone");
        ledger.Note(journal, "long", MilestoneKind.Settled, "phone");
        await ledger.ConfirmAsync(journal, "long");
        await ledger.WithdrawAsync(journal, "long", "ada");
        ledger.Finish(journal, "a");
        await ledger.ConfirmAsync(journal, "long");
        for (var i = 0; i < 9; i++)
        {
            await Task.WhenAll(ledger.AppendAsync(journal, $"b{i}", 30_000), ledger.AppendAsync(journal, $"c{i}", 9_000), ledger.AppendAsync(journal, $"d{i}"));
            ledger.Note(journal, "long", MilestoneKind.Framed, $"tab-{i}");
        }

        await ledger.AppendAsync(journal, "second", 60_000, hours: 90);
        await ledger.ConfirmAsync(journal, "long");
        ledger.Now += TimeSpan.FromHours(25);
        for (var i = 0; i < 16; i++)
        {
            await ledger.AppendAsync(journal, $"e{i}");
            ledger.Note(journal, "long", MilestoneKind.Framed, $"late-{i}");
            await ledger.ConfirmAsync(journal, "long");
        }

        await journal.DisposeAsync();
        Assert.True(crashAt < int.MaxValue || !folder.Names.Contains("00000001.log"), "nothing was removed");
        return (folder, ledger);
    }

    private sealed class LedgerTime(CrashLedger ledger) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => ledger.Now;
    }
}
