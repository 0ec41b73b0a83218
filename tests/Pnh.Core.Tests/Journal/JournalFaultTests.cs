using System.Globalization;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

public sealed class JournalFaultTests
{
    private const int NoSpace = 28;

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_NoSpace_IsNotAcceptedAndGoesOnAfterwards()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");

        disk.Folder.WriteFault = new IOException("full", NoSpace);
        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("refused", 30_000));
        disk.Note("first", MilestoneKind.Settled, "phone");
        Assert.Equal(["phone"], await disk.MilestonesAsync("first"));
        disk.Folder.WriteFault = null;

        Assert.StartsWith("No space left for the journal: free space", refusal.Message, StringComparison.Ordinal);
        Assert.False(disk.Journal.IsDamaged);
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("refused"));
        await disk.ReopenAsync();
        Assert.Equal(["first", "refused"], await disk.OpenAsync());
        Assert.Equal(["phone"], await disk.MilestonesAsync("first"));
        Assert.Equal(0, disk.Journal.DroppedNotes);
    }

    [Fact(Timeout = 60_000)]
    public async Task FlushAsync_NoSpace_FailsAndThenHasTheNotesOnDisk()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Folder.WriteFault = new IOException("full", NoSpace);
        disk.Note("first", MilestoneKind.Settled, "phone");
        await Assert.ThrowsAsync<StoreUnavailableException>(async () => await disk.Journal.FlushAsync(default));
        disk.Folder.WriteFault = null;

        var operations = disk.Folder.Operations;
        await disk.Journal.FlushAsync(default);
        Assert.True(disk.Folder.Operations >= operations + 2); // a write and a sync
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_NoSpaceForANewSegment_SmallerOnesStillFit()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("a", 60_000);
        await disk.AppendAsync("b", 60_000);
        await disk.AppendAsync("c", 60_000);
        await disk.AppendAsync("d", 60_000);

        disk.Folder.WriteFault = new IOException("full", NoSpace);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("large", 60_000));
        disk.Folder.WriteFault = null;
        await disk.AppendAsync("small");
        await disk.AppendAsync("large", 60_000);
        await disk.ReopenAsync();

        Assert.Equal(["a", "b", "c", "d", "small", "large"], await disk.OpenAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_FailedSync_RefusesUntilItIsOpenedAgain()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");

        disk.Folder.SyncFault = new IOException("EIO", 5);
        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("second"));
        disk.Folder.SyncFault = null;

        Assert.StartsWith("The disk did not confirm", refusal.Message, StringComparison.Ordinal);
        Assert.True(disk.Journal.IsDamaged);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("third"));
        await Assert.ThrowsAsync<StoreUnavailableException>(async () => await disk.Journal.WithdrawAsync("app", "first", null, "withdrawn", disk.Now, default));
        Assert.NotNull(await disk.Journal.FindAsync("app", "first", default));
        Assert.Null(await disk.Journal.FindAsync("app", "second", default));
        await disk.ReopenAsync();
        Assert.Contains("first", await disk.OpenAsync());
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("third"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Note_DiskTakesNothingForTooLong_IsDroppedAndCounted()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("e1");
        disk.Folder.WriteFault = new IOException("full", NoSpace);

        for (var i = 0; i < 600_000; i++)
        {
            disk.Note("e1", MilestoneKind.Framed, "tab");
        }

        Assert.InRange(disk.Journal.DroppedNotes, 1, 600_000);
        disk.Folder.WriteFault = null;
        await disk.AppendAsync("e2");
        Assert.InRange((await disk.MilestonesAsync("e1")).Count, 262_000, 600_000 - disk.Journal.DroppedNotes);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_TooLarge_Throws()
    {
        await using var disk = new JournalOnDisk();

        await Assert.ThrowsAsync<ArgumentException>(() => disk.AppendAsync("e1", 200_000));
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_AfterTheEnd_IsRefused()
    {
        var disk = new JournalOnDisk();
        await disk.DisposeAsync();

        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("e1"));
    }

    [Fact(Timeout = 60_000)]
    public async Task FindAndRecover_EventIsBeingCarried_ComesFromItsNewPlace()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("long", 20_000, hours: 72);
        using var carrying = new SemaphoreSlim(0);
        using var goOn = new SemaphoreSlim(0);
        disk.Folder.BeforeSync = unsynced =>
        {
            if (unsynced > 20_000)
            {
                carrying.Release();
                goOn.Wait();
            }
        };

        // Its only segment is past the retention, and the next turn carries what is open in it.
        disk.Now += TimeSpan.FromHours(25);
        await disk.Journal.ReadAsync("app", "barrier", default);
        await carrying.WaitAsync();
        var found = disk.Journal.FindAsync("app", "long", default).AsTask();
        var open = disk.OpenAsync();
        await Task.WhenAny(Task.WhenAll(found, open), Task.Delay(200)); // a caller that does not wait for the disk has its answer by now
        goOn.Release();

        Assert.Equal("long", (await found)?.Id);
        Assert.Equal(["long"], await open);
        Assert.DoesNotContain("00000001.log", disk.Folder.Names);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_PastIt_RemovesSegmentsAndCarriesWhatIsOpen()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("long", hours: 72);
        disk.Note("long", MilestoneKind.Planned, "phone");
        disk.Note("long", MilestoneKind.Settled, "phone");
        await disk.Journal.WithdrawAsync("app", "long", "eve", "answered", disk.Now, default);
        await disk.AppendAsync("done", hours: 72);
        disk.Journal.Finish("app", "done");
        for (var i = 0; i < 12; i++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"short-{i}"), 60_000);
        }

        var before = (await disk.Journal.ReadFeedAsync("app", null, 1, default)).Next;
        Assert.Contains("00000003.log", disk.Folder.Names);
        disk.Now += TimeSpan.FromHours(25);
        await disk.AppendAsync("young");
        for (var i = 0; i < 400 && disk.Folder.Names.First() != "00000003.log"; i++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"tick-{i}"));
            disk.Note("long", MilestoneKind.Framed, "tab");
        }

        Assert.Equal("00000003.log", disk.Folder.Names.First());
        Assert.Equal(AppendResult.Duplicate, await disk.AppendAsync("long", hours: 72));
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("done"));
        await disk.ReopenAsync();
        Assert.Equal(["long"], (await disk.OpenAsync()).Take(1));
        Assert.Equal(["phone", "phone"], (await disk.MilestonesAsync("long")).Where(device => device == "phone"));
        Assert.Equal(WithdrawStatus.Already, (await disk.Journal.WithdrawAsync("app", "long", "eve", "again", disk.Now, default)).Status);
        var page = await disk.Journal.ReadFeedAsync("app", before, 100, default);
        Assert.True(page.IsGap);
        Assert.Empty(page.Entries);
        Assert.False((await disk.Journal.ReadFeedAsync("app", null, 100, default)).IsGap);
    }

    [Fact(Timeout = 60_000)]
    public async Task RecoverAsync_EventsAreCarriedMeanwhile_FindsThemAll()
    {
        await using var disk = new JournalOnDisk();
        for (var i = 0; i < 200; i++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"long-{i}"), 2_000, hours: 72);
        }

        var found = new List<string>();
        await foreach (var unfinished in disk.Journal.RecoverAsync(default))
        {
            found.Add(unfinished.Event.Id);
            if (found.Count == 1)
            {
                // The list is made and its first part read: now the segment of the others goes.
                disk.Now += TimeSpan.FromHours(25);
                for (var i = 0; i < 400 && disk.Folder.Names.First() == "00000001.log"; i++)
                {
                    await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"tick-{i}"));
                }
            }
        }

        Assert.NotEqual("00000001.log", disk.Folder.Names.First());
        Assert.Equal(Enumerable.Range(0, 200).Select(static i => string.Create(CultureInfo.InvariantCulture, $"long-{i}")), found);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_QuietHub_LetsItsOnlySegmentGo()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        for (var day = 0; day < 3; day++)
        {
            disk.Now += TimeSpan.FromHours(25);
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"day-{day}"));
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"again-{day}"));
        }

        Assert.NotEqual("00000001.log", disk.Folder.Names.First());
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_UnreadableRecord_ItsSegmentStays()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("long", hours: 72);
        disk.Folder.Bytes("00000001.log")[100] ^= 1;
        disk.Now += TimeSpan.FromHours(25);
        await TurnAsync(disk, 50);

        Assert.Equal(["00000001.log", "00000002.log"], disk.Folder.Names);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_DiskFullWhenANewSegmentIsDue_TheOldestGoesAllTheSame()
    {
        await using var disk = new JournalOnDisk();
        for (var n = 0; n < 6; n++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"e{n}"), 60_000);
        }

        Assert.Equal(["00000001.log", "00000002.log"], disk.Folder.Names);
        disk.Folder.CreationFault = new IOException("full", NoSpace);
        disk.Now += TimeSpan.FromHours(25);
        await TurnAsync(disk, 50);

        Assert.Equal(["00000002.log"], disk.Folder.Names);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_FolderCannotBeWritten_IsTriedAgainInAMinuteOnly()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("short");
        disk.Folder.DeleteFault = new IOException("read-only", 30);
        disk.Now += TimeSpan.FromHours(25);
        await TurnAsync(disk, 50);

        Assert.Equal(1, disk.Folder.Deletions);
        disk.Folder.DeleteFault = null;
        disk.Now += TimeSpan.FromMinutes(2);
        await TurnAsync(disk, 50);
        Assert.Equal(["00000002.log"], disk.Folder.Names);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadFeedAsync_OnlySegmentIsEmptyAndOpenedAgain_CursorGoesOn()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Note("first", MilestoneKind.Settled, "phone");
        await disk.MilestonesAsync("first");
        disk.Journal.Finish("app", "first");
        await TurnAsync(disk, 1);
        for (var before = disk.Folder.Operations; disk.Folder.Operations == before;)
        {
            await Task.Delay(20); // until it marks, after a second of quiet
        }

        disk.Now += TimeSpan.FromHours(25);
        await TurnAsync(disk, 50);
        var cursor = (await disk.Journal.ReadFeedAsync("app", null, 10, default)).Next;
        await disk.ReopenAsync();
        Assert.Equal(["00000002.log"], disk.Folder.Names);
        await disk.AppendAsync("second");
        disk.Note("second", MilestoneKind.Settled, "tab");
        await disk.MilestonesAsync("second");
        var page = await disk.Journal.ReadFeedAsync("app", cursor, 10, default);

        Assert.False(page.IsGap);
        Assert.Equal("tab", Assert.Single(page.Entries).Outcome?.Device);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_WriterBreaks_IsToldToEverybody()
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { OnSync = _ => throw new InvalidOperationException("broken") });

        var fault = await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("e1"));

        Assert.StartsWith("The journal broke (broken)", fault.Message, StringComparison.Ordinal);
        Assert.True(disk.Journal.IsDamaged);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.AppendAsync("e2"));
    }

    [Fact(Timeout = 60_000)]
    public async Task MaxBytes_Exceeded_FinishedHistoryGoesEarlyAndOpenEventsStay()
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { MaxBytes = 600_000 });
        await disk.AppendAsync("open");
        for (var i = 0; i < 60; i++)
        {
            var id = string.Create(CultureInfo.InvariantCulture, $"e{i}");
            await disk.AppendAsync(id, 60_000);
            disk.Journal.Finish("app", id);
        }

        for (var i = 0; i < 400 && disk.Folder.Names.Count() > 4; i++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"tick-{i}"));
        }

        Assert.InRange(disk.Folder.Names.Count(), 1, 4);
        Assert.NotNull(await disk.Journal.FindAsync("app", "open", default));
        Assert.Null(await disk.Journal.FindAsync("app", "e0", default));
        Assert.NotNull(await disk.Journal.FindAsync("app", "e59", default));
    }

    // Turns of the writer that write nothing themselves.
    private static async Task TurnAsync(JournalOnDisk disk, int times)
    {
        for (var i = 0; i < times; i++)
        {
            await disk.Journal.ReadAsync("app", "nobody", default);
        }
    }
}
