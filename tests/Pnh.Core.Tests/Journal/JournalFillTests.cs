using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

public sealed class JournalFillTests
{
    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_SmallGroups_ZerosGoWithTheFirstOnly()
    {
        await using var disk = new JournalOnDisk();
        var syncs = Record(disk.Folder);

        await disk.AppendAsync("first");
        await disk.AppendAsync("second");
        await disk.AppendAsync("third");

        Assert.InRange(syncs[0], 200_000, 256 * 1024);
        Assert.InRange(syncs[1], 1, 1_000);
        Assert.InRange(syncs[2], 1, 1_000);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_LargeGroup_NoZeros()
    {
        await using var disk = new JournalOnDisk();
        var syncs = Record(disk.Folder);

        await disk.AppendAsync("large", 60_000);

        Assert.InRange(syncs[0], 60_000, 61_000);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_OpenedAgainBetween_ZerosWipeNothing()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        await disk.AppendAsync("second");
        await disk.ReopenAsync();
        await disk.AppendAsync("third");
        await disk.ReopenAsync();

        Assert.Equal(["first", "second", "third"], await disk.OpenAsync());
        Assert.Equal(0, disk.Journal.DamagedRecords);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_NoSpaceForTheZeros_IsAccepted()
    {
        await using var disk = new JournalOnDisk();
        disk.Folder.LargestWrite = 10_000;

        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("first"));
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("second"));
        await disk.ReopenAsync();

        Assert.Equal(["first", "second"], await disk.OpenAsync());
    }

    // Bytes that each sync had to bring to the disk.
    private static List<int> Record(CrashFolder folder)
    {
        var syncs = new List<int>();
        folder.BeforeSync = syncs.Add;
        return syncs;
    }
}
