using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

/// <summary>The events of a user over many segments, whatever became of the tables beside them.</summary>
public sealed class JournalUserEventsTests : IDisposable
{
    private const int Events = 600;
    private const int Users = 7;
    private readonly TemporaryFolder _folder = new();
    private readonly ManualTime _time = new();

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 60_000)]
    public async Task ReadUserAsync_OverManySegments_IsComplete()
    {
        await using (var journal = await FillAsync())
        {
            await AssertCompleteAsync(journal);
            await Waiting.UntilAsync(() => Tables().Length == Segments().Length - 1);
        }

        await using var again = Open();
        await AssertCompleteAsync(again);
    }

    [Theory(Timeout = 60_000)]
    [InlineData("deleted")]
    [InlineData("damaged")]
    [InlineData("cut")]
    [InlineData("of-another")]
    [InlineData("of-another-folder")]
    public async Task ReadUserAsync_TablesThatAreWrong_AreMadeAgain(string fault)
    {
        await using (var journal = await FillAsync())
        {
            await Waiting.UntilAsync(() => Tables().Length == Segments().Length - 1);
        }

        using var other = new TemporaryFolder();
        _time.Now += TimeSpan.FromMinutes(1);
        await using (var journal = await FillAsync(other, shift: 3))
        {
            await Waiting.UntilAsync(() => Tables(other).Length == Segments(other).Length - 1);
        }

        _time.Now -= TimeSpan.FromMinutes(1);
        var all = Tables();
        var first = await File.ReadAllBytesAsync(all[0]);
        foreach (var path in all)
        {
            switch (fault)
            {
                case "deleted":
                    File.Delete(path);
                    break;
                case "damaged":
                    var bytes = await File.ReadAllBytesAsync(path);
                    bytes[bytes.Length / 2] ^= 4;
                    await File.WriteAllBytesAsync(path, bytes);
                    break;
                case "cut":
                    await using (var file = File.OpenWrite(path))
                    {
                        file.SetLength(file.Length - 16);
                    }

                    break;
                case "of-another-folder":
                    File.Copy(Path.Combine(other["journal"], "users", Path.GetFileName(path)), path, overwrite: true);
                    break;
                default:
                    await File.WriteAllBytesAsync(path, path == all[0] ? await File.ReadAllBytesAsync(all[1]) : first);
                    break;
            }
        }

        await using var again = Open();
        await AssertCompleteAsync(again);
        await Waiting.UntilAsync(() => Tables().Length == all.Length);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadUserAsync_TheirFolderGoneMeanwhile_IsCompleteAllTheSame()
    {
        await using var journal = await FillAsync();
        await Waiting.UntilAsync(() => Tables().Length == Segments().Length - 1);
        await AssertCompleteAsync(journal);
        Directory.Delete(_folder[Path.Combine("journal", "users")], recursive: true);

        await AssertCompleteAsync(journal);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadUserAsync_SegmentsRemovedByRetention_TheirTablesGoToo()
    {
        await using var journal = await FillAsync();
        await Waiting.UntilAsync(() => Tables().Length == Segments().Length - 1);
        var before = Tables();

        _time.Now += TimeSpan.FromDays(3);
        for (var n = 0; Segments().Length > 2; n++)
        {
            await AppendAsync(journal, $"late-{n}");
            await Task.Delay(5);
        }

        await Waiting.UntilAsync(() => Tables().Length < Segments().Length);
        Assert.DoesNotContain(before[0], Tables());
        Assert.Empty((await journal.ReadUserAsync("app", Name(1), null, 100, default)).Events);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadUserAsync_AfterGroupsThatFailed_HasWhatStandsAndThatOnce()
    {
        const int Notes = 200;
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("first");
        disk.Note("first", MilestoneKind.Planned, "phone");
        Assert.Single(await ReadAsync());

        disk.Folder.WriteFault = new IOException("full", 28);
        var refused = new List<Task>();
        for (var n = 0; n < Notes; n++)
        {
            refused.Add(disk.AppendAsync($"refused-{n}", 1_000));
            disk.Note("first", MilestoneKind.Held, $"device-{n}");
        }

        foreach (var one in refused)
        {
            await Assert.ThrowsAsync<StoreUnavailableException>(() => one);
        }

        Assert.Single(await ReadAsync());
        disk.Folder.WriteFault = null;
        await disk.AppendAsync("second", 10_000);

        Assert.Equal(1 + Notes, (await ReadAsync()).Select(static m => m.Device).Distinct().Count());
        Assert.Equal(1 + Notes, (await ReadAsync()).Count);

        async Task<IReadOnlyList<Milestone>> ReadAsync() => (await disk.Journal.ReadUserAsync("app", "ada", null, 50, default)).Events.Single().Milestones;
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadUserAsync_OfATopicOfMany_ReadsThatUsersRecordsAlone()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("e1");
        for (var user = 0; user < 1_000; user++)
        {
            disk.Journal.Note(new Milestone("app", "e1", EventClass.Message, MilestoneKind.Planned, disk.Now) { User = Name(user), Device = "phone" });
        }

        Assert.Single((await disk.Journal.ReadUserAsync("app", Name(0), null, 50, default)).Events);
        var first = disk.Folder.Reads;
        for (var user = 0; user < 100; user++)
        {
            Assert.Equal([Name(user)], (await disk.Journal.ReadUserAsync("app", Name(user), null, 50, default)).Events.Single().Milestones.Select(static m => m.User));
        }

        // The event and the one milestone; a record may take a second read, and so may the end of the log.
        Assert.InRange((disk.Folder.Reads - first) / 100.0, 2, 5);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadRecentAsync_OverManySegments_IsInOrderWhateverTheLimit()
    {
        await using var journal = await FillAsync();
        var ids = new List<string>();
        for (string? before = null; ;)
        {
            var page = await journal.ReadRecentAsync("app", before, 77, default);
            ids.AddRange(page.Events.Select(static one => one.Event.Id));
            if (page.Next is null)
            {
                break;
            }

            before = page.Next;
        }

        Assert.Equal(Enumerable.Range(0, Events).Reverse().Select(Id), ids);
        Assert.Empty((await journal.ReadRecentAsync("another", null, 50, default)).Events);
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadRecentAsync_EventToMany_LeavesItsMilestonesOut()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("many");
        await disk.AppendAsync("few");
        for (var user = 0; user < 129; user++)
        {
            disk.Journal.Note(new Milestone("app", "many", EventClass.Message, MilestoneKind.Planned, disk.Now) { User = Name(user), Device = "phone" });
        }

        disk.Note("few", MilestoneKind.Planned, "phone");

        var page = await disk.Journal.ReadRecentAsync("app", null, 50, default);

        Assert.Equal([("few", false, 1), ("many", true, 0)], page.Events.Select(static one => (one.Event.Id, one.IsPartial, one.Milestones.Count)));
    }

    private static string Name(int user) => string.Create(CultureInfo.InvariantCulture, $"user-{user}");

    private static string Id(int n) => string.Create(CultureInfo.InvariantCulture, $"e{n:D4}");

    private static Task<AppendResult> AppendAsync(SegmentJournal journal, string id, DateTimeOffset now) => journal.AppendAsync(
        new Event
        {
            App = "app",
            Id = id,
            To = EventTarget.ToUser("ada"),
            AcceptedAt = now,
            ExpiresAt = now + TimeSpan.FromHours(1),
            Body = Encoding.UTF8.GetBytes("\"" + new string('x', 3_000) + "\""),
        },
        default).AsTask();

    private Task<AppendResult> AppendAsync(SegmentJournal journal, string id) => AppendAsync(journal, id, _time.Now);

    private string[] Tables(TemporaryFolder? of = null) => [.. Directory.GetFiles((of ?? _folder)[Path.Combine("journal", "users")], "*.users").Order()];

    private string[] Segments(TemporaryFolder? of = null) => Directory.GetFiles((of ?? _folder)["journal"], "*.log");

    private SegmentJournal Open(TemporaryFolder? of = null) => SegmentJournal.Open((of ?? _folder).FullPath, _time, new JournalOptions { SegmentBytes = 256 * 1024 });

    /// <summary>Each event is of two users; one of them acknowledges it a hundred events later, in another segment.</summary>
    private async Task<SegmentJournal> FillAsync(TemporaryFolder? of = null, int shift = 0)
    {
        var journal = Open(of);
        for (var n = 0; n < Events; n++)
        {
            await AppendAsync(journal, Id(n));
            Note(n, n % Users, MilestoneKind.Planned);
            Note(n, (n + 1) % Users, MilestoneKind.Planned);
            if (n >= 100)
            {
                Note(n - 100, (n - 100) % Users, MilestoneKind.AckedLate);
            }
        }

        Assert.True(Segments(of).Length > 5);
        return journal;

        void Note(int n, int user, MilestoneKind kind) =>
            journal.Note(new Milestone("app", Id(n), EventClass.Message, kind, _time.Now) { User = Name((user + shift) % Users), Device = "phone" });
    }

    private static async Task AssertCompleteAsync(SegmentJournal journal)
    {
        for (var user = 0; user < Users; user++)
        {
            var found = new List<string>();
            for (string? before = null; ;)
            {
                var page = await journal.ReadUserAsync("app", Name(user), before, 10, default);
                foreach (var one in page.Events)
                {
                    var n = int.Parse(one.Event.Id[1..], CultureInfo.InvariantCulture);
                    Assert.Equal(
                        n % Users == user && n < Events - 100 ? [MilestoneKind.Planned, MilestoneKind.AckedLate] : [MilestoneKind.Planned],
                        one.Milestones.Select(static m => m.Kind));
                    found.Add(one.Event.Id);
                }

                if (page.Next is null)
                {
                    break;
                }

                before = page.Next;
            }

            Assert.Equal(Enumerable.Range(0, Events).Where(n => n % Users == user || (n + 1) % Users == user).Reverse().Select(Id), found);
        }
    }
}
