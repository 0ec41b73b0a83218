using System.Globalization;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

public sealed class JournalUserHistoryTests
{
    private const int Users = 3_000;

    [Fact(Timeout = 60_000)]
    public async Task ReadAsync_OfEachOfMany_ReadsTheHistoryOnce()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("e1");
        NoteAll(disk, MilestoneKind.Framed);
        Assert.Single((await ReadAsync(disk, 0))!.Milestones);
        var first = disk.Folder.Reads;
        Assert.True(first > Users);

        for (var user = 0; user < 100; user++)
        {
            Assert.Equal([Name(user)], (await ReadAsync(disk, user))!.Milestones.Select(m => m.User));
        }

        // The event and the one milestone; and nothing of the others.
        Assert.InRange((disk.Folder.Reads - first) / 100.0, 2, 10);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_OpenEventLargerThanASegment_IsCarriedAndStillReadByUser()
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { Retention = TimeSpan.FromHours(1) });
        await disk.AppendAsync("e1", hours: 1_000);
        NoteAll(disk, MilestoneKind.Framed);
        Assert.Single((await ReadAsync(disk, 7))!.Milestones);

        disk.Now += TimeSpan.FromHours(3);
        for (var n = 0; n < 8 && disk.Folder.Deletions == 0; n++)
        {
            await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"later-{n}"), 60_000);
            disk.Now += TimeSpan.FromHours(3);
        }

        Assert.DoesNotContain("00000001.log", disk.Folder.Names);
        Assert.Equal([Name(7)], (await ReadAsync(disk, 7))!.Milestones.Select(m => m.User));
        await disk.ReopenAsync();
        Assert.Contains("e1", await disk.OpenAsync());
        Assert.Equal(Users, (await disk.MilestonesAsync("e1")).Count);
        Assert.Equal(AppendResult.Duplicate, await disk.AppendAsync("e1", hours: 1_000));
    }

    private static void NoteAll(JournalOnDisk disk, MilestoneKind kind)
    {
        for (var user = 0; user < Users; user++)
        {
            disk.Journal.Note(new Milestone("app", "e1", EventClass.Message, kind, disk.Now) { User = Name(user), Device = "phone" });
        }
    }

    private static async Task<EventHistory?> ReadAsync(JournalOnDisk disk, int user)
    {
        IEventJournal journal = disk.Journal;
        return await journal.ReadAsync("app", "e1", Name(user), default);
    }

    private static string Name(int user) => string.Create(CultureInfo.InvariantCulture, $"user-{user}");
}
