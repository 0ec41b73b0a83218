using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Core.Tests.Journal;

/// <summary>A disk that takes nothing: what is known is still told, and the journal goes on by itself when it can.</summary>
public sealed class JournalFullDiskTests
{
    private static readonly IOException Full = new("full", 28);

    [Fact(Timeout = 60_000)]
    public async Task ReadAsync_DiskIsFull_HasWhatWasWrittenAndWhatWaits()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Note("first", MilestoneKind.Settled, "written");
        await disk.MilestonesAsync("first");

        disk.Folder.WriteFault = Full;
        disk.Note("first", MilestoneKind.AckedLate, "waits");

        Assert.Equal(["written", "waits"], await disk.MilestonesAsync("first"));
        Assert.Null(await disk.Journal.ReadAsync("app", "nobody", default));
        Assert.NotNull(await disk.Journal.ReadAsync("app", "first", "ada", default));
        Assert.Equal(["first"], await disk.OpenAsync());
        Assert.NotEmpty((await disk.Journal.ReadFeedAsync("app", null, 10, default)).Entries);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_DiskIsFullAndTheIdIsKnown_GetsTheFirstAnswerAgain()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first", 100);
        disk.Folder.WriteFault = Full;
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("new"));

        // A batch with both in it: the refused one does not take the other with it.
        var refused = disk.AppendAsync("new");
        var known = disk.AppendAsync("first", 100);
        var other = disk.AppendAsync("first", 101);

        await Assert.ThrowsAsync<StoreUnavailableException>(() => refused);
        Assert.Equal(AppendResult.Duplicate, await known);
        Assert.Equal(AppendResult.Conflict, await other);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_NoRoomForANewSegment_KnownIdsAndReadsGoOn()
    {
        await using var disk = new JournalOnDisk();
        await FillSegmentAsync(disk);
        disk.Folder.WriteFault = Full;

        var refused = disk.AppendAsync("large", 60_000);
        var known = disk.AppendAsync("e0", 60_000);
        var read = disk.MilestonesAsync("e0");

        await Assert.ThrowsAsync<StoreUnavailableException>(() => refused);
        Assert.Equal(AppendResult.Duplicate, await known);
        Assert.Empty(await read);
    }

    [Fact(Timeout = 60_000)]
    public async Task WithdrawAsync_DiskIsFull_SaysWhatStandsAndRefusesWhatDoesNot()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        await disk.AppendAsync("second");
        await disk.Journal.WithdrawAsync("app", "first", null, "withdrawn", disk.Now, default);
        disk.Folder.WriteFault = Full;

        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync(disk, "first"));
        Assert.Equal(WithdrawStatus.Unknown, await WithdrawAsync(disk, "nobody"));
        await Assert.ThrowsAsync<StoreUnavailableException>(() => WithdrawAsync(disk, "second"));
        disk.Folder.WriteFault = null;
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(disk, "second"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Refusal_NothingButReadsCome_GoesWhenThereIsRoomAgain()
    {
        await using var disk = new JournalOnDisk();
        await FillSegmentAsync(disk);
        Assert.Null(disk.Journal.Refusal);
        disk.Folder.WriteFault = Full;
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("large", 60_000));
        Assert.StartsWith("No space left for the journal", disk.Journal.Refusal, StringComparison.Ordinal);

        disk.Folder.WriteFault = null;
        while (disk.Journal.Refusal is not null)
        {
            await Task.Delay(20);
        }

        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("large", 60_000));
    }

    [Fact(Timeout = 60_000)]
    public async Task Refusal_GroupsCannotBeWritten_GoesWhenTheyCanAgain()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Folder.WriteFault = new IOException("read-only", 30);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("second"));
        Assert.StartsWith("The disk of the data folder is read-only", disk.Journal.Refusal, StringComparison.Ordinal);

        disk.Folder.WriteFault = null;
        while (disk.Journal.Refusal is not null)
        {
            await Task.Delay(20);
        }

        await disk.ReopenAsync();
        Assert.Equal(["first"], await disk.OpenAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadAsync_AfterAFailedSync_HasWhatWasSynced()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Folder.SyncFault = new IOException("EIO", 5);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("second"));

        Assert.Empty(await disk.MilestonesAsync("first"));
        Assert.Null(await disk.Journal.ReadAsync("app", "second", default));
        Assert.Equal(AppendResult.Duplicate, await disk.AppendAsync("first"));
        Assert.NotNull(disk.Journal.Refusal);
    }

    // Four of them fill the 256 kB of the only segment.
    private static async Task FillSegmentAsync(JournalOnDisk disk)
    {
        for (var n = 0; n < 4; n++)
        {
            await disk.AppendAsync($"e{n}", 60_000);
        }
    }

    private static async Task<WithdrawStatus> WithdrawAsync(JournalOnDisk disk, string id) =>
        (await disk.Journal.WithdrawAsync("app", id, null, "withdrawn", disk.Now, default)).Status;
}
