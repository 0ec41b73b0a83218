using System.Globalization;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.Core.Tests.Journal;

/// <summary>What is told of an event after its acceptance: milestones, withdrawals, the feed.</summary>
public abstract partial class EventJournalSpecification
{
    [Fact(Timeout = 30_000)]
    public async Task RecoverAsync_Milestones_SayWhereEachDeliveryStood()
    {
        var due = Time.Now + TimeSpan.FromMinutes(2);
        await AppendAsync(Make("e1", "{}"));
        Note("e1", MilestoneKind.Planned, "ada", "phöne", kept: true);
        Note("e1", MilestoneKind.Planned, "ada", "tab", kept: true);
        Note("e1", MilestoneKind.Planned, "bob", "phone", kept: true);
        Journal.Note(At("e1", MilestoneKind.Planned, "bob", "tab") with { Reason = PlanReasons.JoinedTopic });
        Note("e1", MilestoneKind.Framed, "bob", "tab");
        Journal.Note(At("e1", MilestoneKind.Retry, "bob", "phone") with { Attempts = 3, NextAttemptAt = due });
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "phöne", kept: true) with { State = "accepted", Channel = "apns", ProviderId = "p-1" });
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "watch") with { State = "suppressed", Reason = "muted-class" });
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "tab", kept: true) with { State = "expired" });
        Note("e1", MilestoneKind.Dropped, "ada", "tab");
        Note("e1", MilestoneKind.Dispatched, null, null);
        Note("unknown", MilestoneKind.Dispatched, null, null);
        await Journal.WithdrawAsync(App, "e1", "bob", "answered", Time.Now, default);
        await ReopenAsync();

        var found = Assert.Single(await RecoverAsync());
        Assert.True(found.IsDispatched);
        Assert.Equal(["bob"], found.Withdrawn);
        Assert.Equal(
            [
                new UnfinishedDelivery("ada", "phöne", true, true, 0, null) { IsRegistered = true },
                new UnfinishedDelivery("ada", "tab", true, false, 0, null) { IsRegistered = true },
                new UnfinishedDelivery("bob", "phone", false, true, 3, due) { IsRegistered = true },
                new UnfinishedDelivery("bob", "tab", false, false, 0, null) { IsJoined = true },
                new UnfinishedDelivery("ada", "watch", true, false, 0, null),
            ],
            found.Deliveries);
    }

    [Fact(Timeout = 30_000)]
    public async Task RecoverAsync_Reached_IsTheLastMemberThatWasNoted()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));
        Journal.Note(At("e1", MilestoneKind.Reached, null, null) with { Reason = "bob" });
        Journal.Note(At("e1", MilestoneKind.Reached, null, null) with { Reason = "zoë" });
        await Journal.FlushAsync(default);
        await ReopenAsync();
        Assert.Equal(["zoë", ""], (await RecoverAsync()).Select(static unfinished => unfinished.Reached));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_AfterNotes_SeesThemAllInOrder()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));
        var full = At("e1", MilestoneKind.Retry, "ada", "phone") with
        {
            State = "x",
            Reason = "grün",
            Channel = "fcm",
            ProviderId = "projects/p/1",
            IsKept = true,
            Attempts = 2,
            NextAttemptAt = Time.Now + TimeSpan.FromTicks(1),
        };
        var expected = new List<Milestone>();
        for (var i = 0; i < 50; i++)
        {
            expected.Add(full with { Attempts = i });
            Journal.Note(expected[^1]);
            Note("e2", MilestoneKind.Framed, "ada", "phone");
        }

        var history = await Journal.ReadAsync(App, "e1", default);
        Assert.Equal(expected, history!.Milestones);
        AssertSame(Make("e1", "{}"), history.Event);
        await ReopenAsync();
        Assert.Equal(expected, (await Journal.ReadAsync(App, "e1", default))!.Milestones);
        Assert.Equal(50, (await Journal.ReadAsync(App, "e2", default))!.Milestones.Count);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_NoteBeforeTheAppendIsDone_IsSeen()
    {
        var append = AppendAsync(Make("e1", "{}"));
        Note("e1", MilestoneKind.Framed, "ada", "phone");
        await append;

        Assert.Single((await Journal.ReadAsync(App, "e1", default))!.Milestones);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_UnknownOrPastTheRetention_IsNull()
    {
        await AppendAsync(Make("e1", "{}"));
        Assert.Null(await Journal.ReadAsync(App, "e2", default));
        Assert.Null(await Journal.FindAsync(App, "e2", default));
        Assert.Null(await Journal.FindAsync(App + "-b", "e1", default));

        Time.Now += TimeSpan.FromHours(25);
        Assert.Null(await Journal.ReadAsync(App, "e1", default));
        Assert.Null(await Journal.FindAsync(App, "e1", default));
        Assert.Equal(WithdrawStatus.Unknown, (await Journal.WithdrawAsync(App, "e1", null, "withdrawn", Time.Now, default)).Status);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(3)]
    [InlineData(900)]
    public async Task ReadAsync_OfOneUser_IsWhatNamesThem(int users)
    {
        await AppendAsync(Make("e1", """{"a":1}"""));
        Note("e1", MilestoneKind.Dispatched, null, null);
        for (var half = 1; half <= 2; half++)
        {
            for (var user = 0; user < users; user++)
            {
                Note("e1", half == 1 ? MilestoneKind.Framed : MilestoneKind.Settled, Name(user), "phone");
            }

            var last = Name(users - 1);
            var theirs = (await Journal.ReadAsync(App, "e1", last, default))!;
            AssertSame(Make("e1", """{"a":1}"""), theirs.Event);
            Assert.Equal(
                new[] { MilestoneKind.Framed, MilestoneKind.Settled }.Take(half).Select(kind => (kind, last)),
                theirs.Milestones.Select(m => (m.Kind, m.User!)));
            Assert.Empty((await Journal.ReadAsync(App, "e1", "stranger", default))!.Milestones);
        }

        var first = await Journal.WithdrawAsync(App, "e1", Name(0), "seen", Time.Now, default);
        Assert.Equal([MilestoneKind.Framed, MilestoneKind.Settled], first.History!.Milestones.Where(m => m.User == Name(0)).Select(m => m.Kind));
        await ReopenAsync();
        Assert.Equal(
            [MilestoneKind.Framed, MilestoneKind.Settled, MilestoneKind.Withdrawn],
            (await Journal.ReadAsync(App, "e1", Name(0), default))!.Milestones.Select(m => m.Kind));
        Assert.Null(await Journal.ReadAsync(App, "unknown", Name(0), default));

        static string Name(int user) => string.Create(CultureInfo.InvariantCulture, $"user-{user}");
    }

    [Fact(Timeout = 30_000)]
    public async Task WithdrawAsync_Twice_IsOncePerUser()
    {
        await AppendAsync(Make("e1", """{"a":1}"""));
        Note("e1", MilestoneKind.Framed, "ada", "phone");

        var first = await Journal.WithdrawAsync(App, "e1", "ada", "seen", Time.Now, default);
        Assert.Equal(WithdrawStatus.Withdrawn, first.Status);
        Assert.Equal([MilestoneKind.Framed], first.History!.Milestones.Select(milestone => milestone.Kind));
        AssertSame(Make("e1", """{"a":1}"""), first.History.Event);
        await ReopenAsync();

        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync("e1", "ada"));
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync("e1", "bob"));
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync("e1", null));
        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync("e1", null));
        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync("e1", "eve"));
        Assert.Equal(WithdrawStatus.Unknown, await WithdrawAsync("e2", "eve"));
        Assert.Equal(["ada", "bob", null], Assert.Single(await RecoverAsync()).Withdrawn);
        Assert.All(
            (await Journal.ReadAsync(App, "e1", default))!.Milestones.Skip(1),
            milestone => Assert.Equal((MilestoneKind.Withdrawn, EventClass.Message), (milestone.Kind, milestone.Class)));
    }

    [Fact(Timeout = 60_000)]
    public async Task WithdrawAsync_RacedByMany_IsWithdrawnOnce()
    {
        await AppendAsync(Make("e1", "{}"));
        var results = await Task.WhenAll(Enumerable.Range(0, 64).Select(_ => Task.Run(() => WithdrawAsync("e1", "ada"))));

        Assert.Single(results, status => status == WithdrawStatus.Withdrawn);
        Assert.Equal(63, results.Count(status => status == WithdrawStatus.Already));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadFeedAsync_OutcomesAndAddresses_ComeInOrderAndGoOn()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e1", "{}", app: App + "-b"));
        Note("e1", MilestoneKind.Planned, "ada", "phone");
        var settled = At("e1", MilestoneKind.Settled, "ada", "phone") with { State = "acked" };
        Journal.Note(settled);
        Journal.Note(settled with { App = App + "-b" });
        var dead = new AddressNote(App, "ada", "tab", "fcm", "dead", "UNREGISTERED", Time.Now);
        Journal.NoteAddress(dead);
        var moved = dead with { Health = "moved", Reason = "registered-elsewhere", MovedTo = "bob" };
        Journal.NoteAddress(moved);
        Note("e1", MilestoneKind.AckedLate, "ada", "watch");
        await Journal.WithdrawAsync(App, "e1", null, "withdrawn", Time.Now, default);

        var all = await Journal.ReadFeedAsync(App, null, 100, default);
        Assert.Equal(
            [MilestoneKind.Settled, null, null, MilestoneKind.AckedLate, MilestoneKind.Withdrawn], all.Entries.Select(entry => entry.Outcome?.Kind));
        Assert.Equal(settled, all.Entries[0].Outcome);
        Assert.Equal((dead, moved), (all.Entries[1].Address, all.Entries[2].Address));
        Assert.True(all.IsEnd);
        Assert.False(all.IsGap);
        await ReopenAsync();

        var first = await Journal.ReadFeedAsync(App, null, 2, default);
        Assert.Equal(2, first.Entries.Count);
        Assert.Equal(all.Entries[1].Cursor, first.Entries[1].Cursor);
        var rest = await Journal.ReadFeedAsync(App, first.Next, 100, default);
        Assert.Equal(all.Entries.Skip(2), rest.Entries);
        Assert.Equal(all.Entries.Skip(1), (await Journal.ReadFeedAsync(App, all.Entries[0].Cursor, 100, default)).Entries);
        var end = await Journal.ReadFeedAsync(App, rest.Next, 1, default);
        Assert.Empty(end.Entries);
        Assert.True(end.IsEnd);
        Note("e1", MilestoneKind.AckedLate, "ada", "later");
        await Journal.ReadAsync(App, "e1", default);
        Assert.Equal("later", Assert.Single((await Journal.ReadFeedAsync(App, end.Next, 1, default)).Entries).Outcome!.Value.Device);
    }

    [Theory(Timeout = 30_000)]
    [InlineData("")]
    [InlineData("x")]
    [InlineData("zzzzzzzzzzzzzzzz")]
    [InlineData("ffffffffffffffff")]
    [InlineData("7fffffff00000040")]
    public async Task ReadFeedAsync_NoCursor_Throws(string after) =>
        await Assert.ThrowsAsync<FormatException>(async () => await Journal.ReadFeedAsync(App, after, 1, default));
}
