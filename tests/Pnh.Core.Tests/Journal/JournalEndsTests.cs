using System.Globalization;
using Pnh.Core.Journal;
using Pnh.Storage.Files;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;

namespace Pnh.Core.Tests.Journal;

/// <summary>What is lost at either end of the log is missed, also when nothing stands after it.</summary>
public sealed class JournalEndsTests
{
    private const string First = "00000001.log";
    private const string Second = "00000002.log";
    private const string Last = "00000003.log";
    private static readonly JournalOptions Quarantine = new() { OnDamage = DamagePolicy.Quarantine };

    [Theory(Timeout = 60_000)]
    [InlineData(40, 0)]
    [InlineData(5_000, 0)]
    [InlineData(int.MaxValue, 0)]
    [InlineData(1, 0xA5)]
    [InlineData(5_000, 0xA5)]
    public async Task Open_LastBytesLostAfterAStop_IsRefusedOrCounted(int bytes, byte with)
    {
        var (folder, end) = await StoppedAsync();
        folder.Bytes(Last).AsSpan(Math.Max(SegmentHeader.Bytes, end - bytes)..end).Fill(with);

        await AssertMissedAsync(folder, Last);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(1)]
    [InlineData(30_000)]
    [InlineData(int.MaxValue)]
    public async Task Open_LastSegmentCutAfterAStop_IsRefusedOrCounted(int bytes)
    {
        var (folder, end) = await StoppedAsync();
        folder.Truncate(Last, Math.Max(0, end - bytes));

        await AssertMissedAsync(folder, Last);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(First)]
    [InlineData(Last)]
    [InlineData(ManifestFile.Name)]
    public async Task Open_FileAtAnEndDeleted_IsRefusedOrCounted(string name)
    {
        var (folder, _) = await StoppedAsync();
        folder.Delete(name);

        await AssertMissedAsync(folder, name);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_AllSegmentsDeleted_IsRefusedOrCounted()
    {
        var (folder, _) = await StoppedAsync();
        foreach (var name in folder.Names.ToList())
        {
            folder.Delete(name);
        }

        await AssertMissedAsync(folder, Last);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_OneSlotOfTheManifestDamagedAfterAStop_TheOtherIsEnough()
    {
        for (var slot = 0; slot < 2; slot++)
        {
            var (folder, end) = await StoppedAsync();
            folder.Bytes(ManifestFile.Name).AsSpan(slot * 4_096, 4_096).Clear();
            await using (var disk = new JournalOnDisk(folder))
            {
                Assert.Equal(12, (await disk.OpenAsync()).Count);
            }

            folder.Bytes(ManifestFile.Name).AsSpan(slot * 4_096, 4_096).Clear();
            folder.Bytes(Last)[end - 1] ^= 1;
            await AssertMissedAsync(folder, Last);
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_LostBeforeTheLastMarkOfACrash_IsRefusedOrCounted()
    {
        var (folder, marked) = await CrashedAsync();
        folder.Bytes(First).AsSpan(marked - 8).Clear();

        await AssertMissedAsync(folder, First);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_LostAfterTheLastMarkOfACrash_IsWhatACrashMayCost()
    {
        var (folder, marked) = await CrashedAsync();
        folder.Bytes(First).AsSpan(marked).Clear();

        // A machine that stalls for half a second has marked more by then.
        await using var disk = new JournalOnDisk(folder);
        Assert.Equal(["first", "second"], (await disk.OpenAsync()).Take(2));
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_DamageAcrossTheLastMark_CostsOnlyWhatItHit()
    {
        var (folder, marked) = await CrashedAsync();
        folder.Bytes(First).AsSpan(marked - 8, 16).Fill(0xff);

        Assert.Throws<DataFolderException>(() => new JournalOnDisk(folder));
        await using var disk = new JournalOnDisk(folder, Quarantine);
        Assert.Equal(1, disk.Journal.DamagedRecords);
        Assert.Equal("first", (await disk.OpenAsync())[0]);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_SegmentOfAnotherFolder_IsRefusedOrCounted()
    {
        var (folder, _) = await StoppedAsync();
        var (other, _) = await StoppedAsync();
        other.Bytes(Second).CopyTo(folder.Bytes(Second), 0);

        await AssertMissedAsync(folder, Second);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_FolderOfAVersionWithoutManifest_IsTakenOverAndGuardedFromThenOn()
    {
        var (folder, _) = await StoppedAsync();
        foreach (var name in folder.Names.ToList())
        {
            Age(folder, name);
        }

        folder.Delete(ManifestFile.Name);
        await using (var disk = new JournalOnDisk(folder))
        {
            Assert.Equal(0, disk.Journal.DamagedRecords);
            Assert.Equal(12, (await disk.OpenAsync()).Count);
            await disk.AppendAsync("new");
        }

        Assert.Contains("00000004.log", folder.Names);
        var bare = folder.Copy();
        bare.Delete(ManifestFile.Name);
        await AssertMissedAsync(bare, ManifestFile.Name);
        folder.Delete(First);
        await AssertMissedAsync(folder, First);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_AnOlderVersionWroteOnMeanwhile_ServesAll()
    {
        var (folder, _) = await StoppedAsync();
        var passed = folder.Copy();
        await using (var disk = new JournalOnDisk(passed))
        {
            await disk.AppendAsync("large", 150_000);
            await disk.AppendAsync("large too", 150_000);
        }

        // The older version knows no manifest: it stays as it was, and what that version makes has no folder's id.
        folder.Bytes(ManifestFile.Name).CopyTo(passed.Bytes(ManifestFile.Name), 0);
        Age(passed, "00000004.log");
        passed.Delete(First);
        await using var next = new JournalOnDisk(passed);
        Assert.Equal(0, next.Journal.DamagedRecords);
        Assert.Contains("large too", await next.OpenAsync());
    }

    /// <summary>Three segments of a stopped journal with 12 open events, and where the last one ends.</summary>
    private static async Task<(CrashFolder Folder, int End)> StoppedAsync()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            for (var i = 0; i < 12; i++)
            {
                await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"e{i:d2}"), 50_000);
            }
        }

        Assert.Equal([First, Second, Last], folder.Names);
        return (folder, ManifestFile.Find(folder)!.Value.End);
    }

    /// <summary>Two events that a mark stands behind, and two that came less than a second before the crash.</summary>
    private static async Task<(CrashFolder Folder, int Marked)> CrashedAsync()
    {
        var disk = new JournalOnDisk();
        await disk.AppendAsync("first", 10_000);
        await disk.AppendAsync("second", 10_000);
        disk.Ahead += TimeSpan.FromSeconds(1);
        await disk.Journal.ReadAsync("app", "barrier", default);
        await disk.Journal.ReadAsync("app", "barrier", default);
        var marked = ManifestFile.Find(disk.Folder)!.Value.End;
        Assert.InRange(marked, 20_000, 25_000);
        await disk.AppendAsync("third", 10_000);
        await disk.AppendAsync("fourth", 10_000);
        var folder = disk.Folder.Survive(Aftermath.Everything, 1, new Random(1));
        await disk.DisposeAsync();
        return (folder, ManifestFile.Find(folder)!.Value.End);
    }

    private static async Task AssertMissedAsync(CrashFolder folder, string name)
    {
        var refusal = Assert.Throws<DataFolderException>(() => new JournalOnDisk(folder));
        Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
        Assert.Contains("Pnh:Journal:OnDamage=Quarantine", refusal.Message, StringComparison.Ordinal);
        await using (var survivor = new JournalOnDisk(folder, Quarantine))
        {
            Assert.InRange(survivor.Journal.DamagedRecords, 1, 3);
            Assert.Equal(AppendResult.Appended, await survivor.AppendAsync("after"));
        }

        await using var third = new JournalOnDisk(folder);
        Assert.Equal(0, third.Journal.DamagedRecords);
        Assert.Contains("after", await third.OpenAsync());
    }

    /// <summary>Makes the header what an older version writes.</summary>
    private static void Age(CrashFolder folder, string name)
    {
        var bytes = folder.Bytes(name);
        Assert.True(SegmentHeader.TryRead(bytes, SegmentSet.NumberOf(name), out var header));
        (header with { Folder = 0 }).Write(bytes);
    }
}
