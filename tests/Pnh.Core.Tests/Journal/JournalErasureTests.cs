using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>An open event to several users, of whom one was erased, leaves its segment without that one's name.</summary>
public sealed class JournalErasureTests
{
    private const string Body = """{"to":{"users":["ada-erased","eve"]},"except":{"users":["ada-erased","bob"],"devices":["x"]},"data":{"price":1.50,"ü":"é"}}""";

    [Fact(Timeout = 60_000)]
    public async Task Retention_OpenEventOfAnErasedUser_IsCarriedWithoutThem()
    {
        await using var disk = new JournalOnDisk();
        Assert.Equal(AppendResult.Appended, await AppendAsync(disk, Body));
        Note(disk, MilestoneKind.Planned, "ada-erased", "phone");
        Note(disk, MilestoneKind.Planned, "eve", "tablet");
        await disk.Journal.WithdrawAsync("app", "both", "ada-erased", Milestone.Erased, disk.Now, default);
        Note(disk, MilestoneKind.Settled, "ada-erased", "phone");
        await disk.Journal.FlushAsync(default); // else it may be written when the time has passed, into a segment that stays
        Assert.True(Names(disk, "ada-erased"));

        await PassAsync(disk);

        Assert.False(Names(disk, "ada-erased"));
        for (var again = 0; again < 2; again++)
        {
            var unfinished = Assert.Single(await UnfinishedAsync(disk), static one => one.Event.Id == "both");
            Assert.Equal("""{"to":{"users":["eve"]},"except":{"users":["bob"],"devices":["x"]},"data":{"price":1.50,"ü":"é"}}""", Encoding.UTF8.GetString(unfinished.Event.Body.Span));
            Assert.Equal("eve", Assert.Single(unfinished.Deliveries).User);

            // The same POST has the first answer; others are conflicts, also with other users or data.
            Assert.Equal(AppendResult.Duplicate, await AppendAsync(disk, Body));
            Assert.Equal(AppendResult.Conflict, await AppendAsync(disk, Body.Replace("\"eve\"", "\"lin\"", StringComparison.Ordinal)));
            Assert.Equal(AppendResult.Conflict, await AppendAsync(disk, Body.Replace("1.50", "2", StringComparison.Ordinal)));
            await disk.ReopenAsync();
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_WithdrawnForAnotherReason_IsCarriedAsItIs()
    {
        await using var disk = new JournalOnDisk();
        await AppendAsync(disk, Body);
        Note(disk, MilestoneKind.Planned, "eve", "tablet");
        await disk.Journal.WithdrawAsync("app", "both", "ada-erased", "answered", disk.Now, default);

        await PassAsync(disk);

        Assert.True(Names(disk, "ada-erased"));
        Assert.Equal(Body, Encoding.UTF8.GetString(Assert.Single(await UnfinishedAsync(disk), static one => one.Event.Id == "both").Event.Body.Span));
    }

    [Theory(Timeout = 60_000)]
    [InlineData("ada-erased", false)]
    [InlineData("ada-erased", true)]
    [InlineData(null, false)]
    public async Task Retention_ErasedAfterAnotherWithdrawal_IsCarriedWithoutThem(string? first, bool isRestarted)
    {
        await using var disk = new JournalOnDisk();
        await AppendAsync(disk, Body);
        Note(disk, MilestoneKind.Planned, "eve", "tablet");
        await disk.Journal.WithdrawAsync("app", "both", first, "answered", disk.Now, default);
        if (isRestarted)
        {
            await disk.ReopenAsync();
        }

        var erased = await disk.Journal.WithdrawAsync("app", "both", "ada-erased", Milestone.Erased, disk.Now, default);
        Assert.Equal(WithdrawStatus.Already, erased.Status);

        // Noted once, also over a start.
        await disk.ReopenAsync();
        await disk.Journal.WithdrawAsync("app", "both", "ada-erased", Milestone.Erased, disk.Now, default);
        var history = await disk.Journal.ReadAsync("app", "both", "ada-erased", default);
        Assert.Single(history!.Milestones, static one => one.IsErasure);

        await PassAsync(disk);
        Assert.False(Names(disk, "ada-erased"));
    }

    // The retention, until there is a second segment; and again, until the first is gone.
    private static async Task PassAsync(JournalOnDisk disk)
    {
        disk.Now += TimeSpan.FromHours(25);
        await disk.AppendAsync("between");
        await disk.Journal.FlushAsync(default);
        disk.Now += TimeSpan.FromHours(25);
        for (var turn = 0; disk.Folder.Deletions == 0; turn++)
        {
            Assert.InRange(turn, 0, 500);
            await disk.AppendAsync($"turn-{turn}");
        }
    }

    private static bool Names(JournalOnDisk disk, string user) =>
        disk.Folder.List().Any(name => disk.Folder.Bytes(name).AsSpan().IndexOf(Encoding.UTF8.GetBytes(user)) >= 0);

    private static async Task<List<UnfinishedEvent>> UnfinishedAsync(JournalOnDisk disk)
    {
        var found = new List<UnfinishedEvent>();
        await foreach (var unfinished in disk.Journal.RecoverAsync(default))
        {
            found.Add(unfinished);
        }

        return found;
    }

    private static void Note(JournalOnDisk disk, MilestoneKind kind, string user, string device) =>
        disk.Journal.Note(new Milestone("app", "both", EventClass.Message, kind, disk.Now) { User = user, Device = device, State = kind == MilestoneKind.Settled ? "withdrawn" : null });

    private static Task<AppendResult> AppendAsync(JournalOnDisk disk, string body) => disk.Journal.AppendAsync(
        new Event
        {
            App = "app",
            Id = "both",
            To = EventTarget.ToUsers(["ada-erased", "eve"]),
            AcceptedAt = disk.Now,
            ExpiresAt = disk.Now + TimeSpan.FromHours(72),
            Body = Encoding.UTF8.GetBytes(body),
        },
        default).AsTask();
}
