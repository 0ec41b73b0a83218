using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

/// <summary>How far back history goes, and that it says so when the bound cuts it.</summary>
public sealed class LogReachTests
{
    private const int EventBytes = 60_000;

    [Fact(Timeout = 60_000)]
    public async Task Reach_AnHourOfEvents_SaysWhatTheBoundHolds()
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { MaxBytes = 512 * 1024 });
        Assert.Null(disk.Journal.Reach.Holds);
        for (var i = 0; i < 20; i++)
        {
            await disk.AppendAsync($"e{i}", EventBytes);
            disk.Journal.Finish("app", $"e{i}");
            disk.Now += TimeSpan.FromMinutes(3);
        }

        // 1.2 MB an hour, of which the bound has not half.
        var reach = disk.Journal.Reach;
        Assert.InRange(reach.Holds!.Value.TotalMinutes, 20, 30);
        Assert.True(reach.IsShort);
        Assert.Matches("^The journal may take 1 MB .*: at the rate of the last day, (29|30|31|32|33) MB a day, that is 0.4 h of history; Pnh:Journal:Retention is 24 h$", reach.ToString());
    }

    [Fact(Timeout = 60_000)]
    public async Task RetiredEarly_BoundIsReached_IsCountedAndTheOldestIsYoung()
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { MaxBytes = 512 * 1024 });
        for (var i = 0; disk.Journal.Reach.RetiredEarly == 0; i++)
        {
            Assert.InRange(i, 0, 1_000);
            await disk.AppendAsync($"e{i}", EventBytes);
            disk.Journal.Finish("app", $"e{i}");
            disk.Now += TimeSpan.FromMinutes(1);
        }

        Assert.InRange(disk.Journal.Reach.Oldest, TimeSpan.Zero, TimeSpan.FromHours(23));
    }

    [Fact(Timeout = 60_000)]
    public async Task RetiredEarly_RetentionIsOver_IsNot()
    {
        await using var disk = new JournalOnDisk();
        for (var turn = 0; disk.Folder.Deletions == 0; turn++)
        {
            Assert.InRange(turn, 0, 500);
            await disk.AppendAsync($"e{turn}");
            disk.Journal.Finish("app", $"e{turn}");
            disk.Now += TimeSpan.FromHours(2);
        }

        Assert.Equal(0, disk.Journal.Reach.RetiredEarly);
    }
}
