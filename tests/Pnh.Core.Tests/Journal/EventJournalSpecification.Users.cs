using System.Globalization;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>What is told of one user.</summary>
public abstract partial class EventJournalSpecification
{
    [Fact(Timeout = 30_000)]
    public async Task ReadUserAsync_EventsOfSeveral_AreNewestFirstWithThatUsersAlone()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));
        await AppendAsync(Make("e3", "{}"));
        await AppendAsync(Make("of-nobody", "{}"));
        Note("e1", MilestoneKind.Planned, "ada", "phone", kept: true);
        Note("e1", MilestoneKind.Framed, "ada", "phone");
        Note("e2", MilestoneKind.Planned, "bob", "tab");
        Note("e3", MilestoneKind.Planned, "ada", "phöne");
        Note("e3", MilestoneKind.Planned, "bob", "tab");
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "phone") with { State = "acked", Channel = "websocket" });
        Journal.Note(At("of-nobody", MilestoneKind.Dispatched, "zoë", null) with { Reason = "no-devices" });

        var ada = await Journal.ReadUserAsync(App, "ada", null, 10, default);
        Assert.Null(ada.Next);
        Assert.Equal(["e3", "e1"], ada.Events.Select(static one => one.Event.Id));
        Assert.Equal([MilestoneKind.Planned, MilestoneKind.Settled], ada.Events[1].Milestones.Select(static m => m.Kind));
        Assert.Equal("websocket", ada.Events[1].Milestones[1].Channel);
        Assert.Equal(["phöne"], ada.Events[0].Milestones.Select(static m => m.Device));

        await ReopenAsync();
        Assert.Equal(["e3", "e2"], await IdsAsync("bob", 10));
        Assert.Equal(["of-nobody"], await IdsAsync("zoë", 10));
        Assert.Empty(await IdsAsync("ad", 10));
        Assert.Empty((await Journal.ReadUserAsync(App + "-other", "ada", null, 10, default)).Events);
    }

    [Theory(Timeout = 30_000)]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(40)]
    public async Task ReadUserAsync_PageByPage_GivesEachOnceInOrder(int limit)
    {
        for (var n = 0; n < 40; n++)
        {
            await AppendAsync(Make(Id(n), "{}"));
            Note(Id(n), MilestoneKind.Planned, "ada", "phone");
        }

        for (var n = 0; n < 40; n += 3)
        {
            Note(Id(n), MilestoneKind.Settled, "ada", "phone");
        }

        Assert.Equal(Enumerable.Range(0, 40).Reverse().Select(Id), await IdsAsync("ada", limit));

        static string Id(int n) => string.Create(CultureInfo.InvariantCulture, $"e{n:D2}");
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadUserAsync_PastTheRetention_TellsOnlyWhatIsOpen()
    {
        await AppendAsync(Make("short", "{}"));
        await AppendAsync(Make("long", "{}", ttl: TimeSpan.FromDays(3)));
        Note("short", MilestoneKind.Planned, "ada", "phone");
        Note("long", MilestoneKind.Planned, "ada", "phone");
        Time.Now += TimeSpan.FromHours(25);

        Assert.Equal(["long"], await IdsAsync("ada", 10));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadRecentAsync_EventsOfTwoApps_AreThoseOfOneNewestFirstWithAllThatBecameOfThem()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("theirs", "{}", App + "-other"));
        await AppendAsync(Make("e2", "{}"));
        Note("e1", MilestoneKind.Planned, "ada", "phone");
        Note("e1", MilestoneKind.Framed, "ada", "phone");
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "phone") with { State = "acked", Channel = "websocket" });

        var page = await Journal.ReadRecentAsync(App, null, 10, default);

        Assert.Equal(["e2", "e1"], page.Events.Select(static one => one.Event.Id));
        Assert.Empty(page.Events[0].Milestones);
        Assert.Equal([MilestoneKind.Planned, MilestoneKind.Framed, MilestoneKind.Settled], page.Events[1].Milestones.Select(static m => m.Kind));
        Assert.All(page.Events, static one => Assert.False(one.IsPartial));
        await ReopenAsync();
        Assert.Equal(["e2", "e1"], await IdsAsync(null, 10));
        Assert.Empty((await Journal.ReadRecentAsync("nobody", null, 10, default)).Events);
        await Assert.ThrowsAsync<FormatException>(async () => await Journal.ReadRecentAsync(App, "x", 10, default));
    }

    [Theory(Timeout = 30_000)]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(40)]
    [InlineData(41)]
    public async Task ReadRecentAsync_PageByPage_GivesEachOnceInOrder(int limit)
    {
        for (var n = 0; n < 40; n++)
        {
            await AppendAsync(Make(n.ToString(CultureInfo.InvariantCulture), $"{{\"data\":\"{new string('x', n * 1_000)}\"}}"));
            Note(n.ToString(CultureInfo.InvariantCulture), MilestoneKind.Planned, "ada", "phone");
        }

        Assert.Equal(Enumerable.Range(0, 40).Reverse().Select(static n => n.ToString(CultureInfo.InvariantCulture)), await IdsAsync(null, limit));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadRecentAsync_PastTheRetention_TellsNothing()
    {
        await AppendAsync(Make("short", "{}"));
        Time.Now += TimeSpan.FromHours(25);
        await AppendAsync(Make("now", "{}"));

        Assert.Equal(["now"], await IdsAsync(null, 10));
    }

    /// <summary>Null = of all users.</summary>
    private async Task<List<string>> IdsAsync(string? user, int limit)
    {
        var ids = new List<string>();
        for (string? before = null; ;)
        {
            var page = user is null ? await Journal.ReadRecentAsync(App, before, limit, default) : await Journal.ReadUserAsync(App, user, before, limit, default);
            Assert.InRange(page.Events.Count, 0, limit);
            ids.AddRange(page.Events.Select(static one => one.Event.Id));
            if (page.Next is null)
            {
                return ids;
            }

            before = page.Next;
        }
    }
}
