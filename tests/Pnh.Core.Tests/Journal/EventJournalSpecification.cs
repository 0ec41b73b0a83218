using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>What every journal must do. An engine's test class says how to open it; apps are unique per test, so engines may share one database.</summary>
public abstract class EventJournalSpecification : IAsyncLifetime
{
    private static int _apps;

    protected string App { get; } = string.Create(CultureInfo.InvariantCulture, $"app-{Environment.ProcessId}-{Interlocked.Increment(ref _apps)}");

    protected IEventJournal Journal { get; private set; } = null!;

    protected ManualTime Time { get; } = new();

    public async Task InitializeAsync() => Journal = await OpenAsync();

    public Task DisposeAsync() => CloseAsync();

    protected abstract Task<IEventJournal> OpenAsync();

    protected abstract Task CloseAsync();

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_New_IsRecoveredWhole()
    {
        var accepted = Make("e1", """{"to":{"user":"ada"},"data":"Zürich \u0000 𝄞"}""", trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        Assert.Equal(AppendResult.Appended, await AppendAsync(accepted));
        await ReopenAsync();

        var found = Assert.Single(await RecoverAsync());
        AssertSame(accepted, found.Event);
        Assert.False(found.IsDispatched);
        Assert.Empty(found.Withdrawn);
        Assert.Empty(found.Deliveries);
        AssertSame(accepted, await Journal.FindAsync(App, "e1", default));
    }

    [Theory(Timeout = 30_000)]
    [InlineData("""{"a":1,"b":[1,"x"]}""", AppendResult.Duplicate)]
    [InlineData("""{ "b" : [1, "\u0078"], "a":1 }""", AppendResult.Duplicate)]
    [InlineData("""{"a":1,"b":["x",1]}""", AppendResult.Conflict)]
    [InlineData("""{"a":2,"b":[1,"x"]}""", AppendResult.Conflict)]
    [InlineData("""{"a":1}""", AppendResult.Conflict)]
    [InlineData("not json", AppendResult.Conflict)]
    public async Task AppendAsync_SameId_ComparesBodies(string body, AppendResult expected)
    {
        await AppendAsync(Make("e1", """{"a":1,"b":[1,"x"]}"""));

        Assert.Equal(expected, await AppendAsync(Make("e1", body)));
        await ReopenAsync();
        Assert.Equal(expected, await AppendAsync(Make("e1", body)));
        Assert.Equal("""{"a":1,"b":[1,"x"]}""", Encoding.UTF8.GetString(Assert.Single(await RecoverAsync()).Event.Body.Span));
    }

    [Theory(Timeout = 30_000)]
    [InlineData("""{"a":"\ud800"}""", """{"a": "\ud800"}""")]
    [InlineData("""{"\ud800":1}""", """{"\uD800":1}""")]
    public async Task AppendAsync_SameIdAndTextThatCannotBeCompared_IsAConflict(string standing, string body)
    {
        await AppendAsync(Make("e1", standing));

        Assert.Equal(AppendResult.Conflict, await AppendAsync(Make("e1", body)));
        Assert.Equal(AppendResult.Duplicate, await AppendAsync(Make("e1", standing)));
    }

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_SameIdInAnotherApp_IsNew()
    {
        await AppendAsync(Make("e1", "{}"));

        Assert.Equal(AppendResult.Appended, await AppendAsync(Make("e1", """{"other":1}""", app: App + "-b")));
    }

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_FinishedBefore_IsStillADuplicate()
    {
        var accepted = Make("e1", "{}");
        await AppendAsync(accepted);
        Journal.Finish(App, "e1");
        await ReopenAsync();

        Assert.Equal(AppendResult.Duplicate, await AppendAsync(Make("e1", "{}")));
        Assert.Empty(await RecoverAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_SixtyFourAtOnce_EachIsThereOnceInOrderPerPublisher()
    {
        await Task.WhenAll(Enumerable.Range(0, 64).Select(publisher => Task.Run(async () =>
        {
            for (var n = 0; n < 50; n++)
            {
                Assert.Equal(AppendResult.Appended, await AppendAsync(Make(Id(publisher, n), "{}")));
            }
        })));
        await ReopenAsync();

        var found = (await RecoverAsync()).Select(unfinished => unfinished.Event.Id).ToList();
        Assert.Equal(64 * 50, found.Count);
        for (var publisher = 0; publisher < 64; publisher++)
        {
            Assert.Equal(Enumerable.Range(0, 50).Select(n => Id(publisher, n)), found.Where(id => id.StartsWith(Id(publisher, 0)[..4], StringComparison.Ordinal)));
        }

        static string Id(int publisher, int n) => string.Create(CultureInfo.InvariantCulture, $"p{publisher:D2}-{n:D2}");
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_OneIdRacedByMany_IsAppendedOnce()
    {
        var results = await Task.WhenAll(Enumerable.Range(0, 64).Select(n => Task.Run(() => AppendAsync(Make("e1", n % 2 == 0 ? """{"a":1}""" : """{"a":2}""")))));

        Assert.Single(results, result => result == AppendResult.Appended);
        Assert.Equal(31, results.Count(result => result == AppendResult.Duplicate));
        Assert.Equal(32, results.Count(result => result == AppendResult.Conflict));
    }

    [Fact(Timeout = 30_000)]
    public async Task RecoverAsync_FinishedOrExpired_IsLeftOut()
    {
        await AppendAsync(Make("open", "{}"));
        await AppendAsync(Make("done", "{}"));
        await AppendAsync(Make("late", "{}", ttl: TimeSpan.FromSeconds(30)));
        await AppendAsync(Make("now-or-never", "{}", ttl: TimeSpan.Zero));
        Journal.Finish(App, "done");
        Journal.Finish(App, "unknown");
        Time.Now += TimeSpan.FromMinutes(1);
        await ReopenAsync();

        Assert.Equal("open", Assert.Single(await RecoverAsync()).Event.Id);
    }

    [Fact(Timeout = 30_000)]
    public async Task RecoverAsync_Milestones_SayWhereEachDeliveryStood()
    {
        var due = Time.Now + TimeSpan.FromMinutes(2);
        await AppendAsync(Make("e1", "{}"));
        Note("e1", MilestoneKind.Planned, "ada", "phöne", kept: true);
        Note("e1", MilestoneKind.Planned, "ada", "tab", kept: true);
        Note("e1", MilestoneKind.Planned, "bob", "phone", kept: true);
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
                new UnfinishedDelivery("ada", "phöne", true, true, 0, null),
                new UnfinishedDelivery("ada", "tab", true, false, 0, null),
                new UnfinishedDelivery("bob", "phone", false, true, 3, due),
                new UnfinishedDelivery("ada", "watch", true, false, 0, null),
            ],
            found.Deliveries);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_AfterNotes_SeesThemAllInOrder()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));
        var full = At("e1", MilestoneKind.Retry, "ada", "phone") with
        {
            State = "x", Reason = "grün", Channel = "fcm", ProviderId = "projects/p/1", IsKept = true, Attempts = 2, NextAttemptAt = Time.Now + TimeSpan.FromTicks(1),
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
        Note("e1", MilestoneKind.AckedLate, "ada", "watch");
        await Journal.WithdrawAsync(App, "e1", null, "withdrawn", Time.Now, default);

        var all = await Journal.ReadFeedAsync(App, null, 100, default);
        Assert.Equal(
            [MilestoneKind.Settled, null, MilestoneKind.AckedLate, MilestoneKind.Withdrawn], all.Entries.Select(entry => entry.Outcome?.Kind));
        Assert.Equal(settled, all.Entries[0].Outcome);
        Assert.Equal(dead, all.Entries[1].Address);
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

    [Fact(Timeout = 60_000)]
    public async Task RecoverAsync_MoreThanAPage_OldestFirst()
    {
        await Task.WhenAll(Enumerable.Range(0, 700).Select(n => AppendAsync(Make(Id(n), "{}"))));
        foreach (var n in Enumerable.Range(0, 700).Where(n => n % 2 == 1))
        {
            Journal.Finish(App, Id(n));
        }

        await ReopenAsync();

        Assert.Equal(Enumerable.Range(0, 350).Select(n => Id(2 * n)), (await RecoverAsync()).Select(unfinished => unfinished.Event.Id));

        static string Id(int n) => string.Create(CultureInfo.InvariantCulture, $"e{n:D4}");
    }

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_PastRetentionAndTtl_TheIdIsFreeAgain()
    {
        await AppendAsync(Make("short", """{"a":1}"""));
        await AppendAsync(Make("long", """{"a":1}""", ttl: TimeSpan.FromDays(3)));
        Time.Now += TimeSpan.FromHours(23);
        Assert.Equal(AppendResult.Conflict, await AppendAsync(Make("short", """{"a":2}""")));

        Time.Now += TimeSpan.FromHours(2);
        Assert.Equal(AppendResult.Appended, await AppendAsync(Make("short", """{"a":2}""")));
        Assert.Equal(AppendResult.Conflict, await AppendAsync(Make("long", """{"a":2}""")));
        Assert.Equal(["long", "short"], (await RecoverAsync()).Select(unfinished => unfinished.Event.Id));
    }

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_LargestBody_RoundTrips()
    {
        var body = "{\"data\":\"" + new string('x', Limits.EventBytes - 11) + "\"}";
        await AppendAsync(Make("e1", body));

        Assert.Equal(Limits.EventBytes, Assert.Single(await RecoverAsync()).Event.Body.Length);
    }

    [Fact(Timeout = 30_000)]
    public async Task AppendAsync_Transient_Throws() =>
        await Assert.ThrowsAsync<ArgumentException>(async () => await AppendAsync(Make("e1", "{}", @class: EventClass.Transient)));

    protected Event Make(
        string id, string body, string? app = null, TimeSpan? ttl = null, string? trace = null, EventClass @class = EventClass.Message) => new()
        {
            App = app ?? App,
            Id = id,
            IdGiven = true,
            To = EventTarget.ToUser("ada"),
            Class = @class,
            AcceptedAt = Time.Now,
            ExpiresAt = Time.Now + (ttl ?? TimeSpan.FromHours(1)),
            TraceParent = trace,
            Body = Encoding.UTF8.GetBytes(body),
        };

    protected Milestone At(string id, MilestoneKind kind, string? user, string? device, bool kept = false) =>
        new(App, id, EventClass.Message, kind, Time.Now) { User = user, Device = device, IsKept = kept };

    protected void Note(string id, MilestoneKind kind, string? user, string? device, bool kept = false) =>
        Journal.Note(At(id, kind, user, device, kept));

    protected async Task<WithdrawStatus> WithdrawAsync(string id, string? user) =>
        (await Journal.WithdrawAsync(App, id, user, "withdrawn", Time.Now, default)).Status;

    protected static void AssertSame(Event expected, StoredEvent? found)
    {
        Assert.NotNull(found);
        Assert.Equal(
            (expected.App, expected.Id, expected.IdGiven, expected.AcceptedAt, expected.ExpiresAt, expected.TraceParent),
            (found.App, found.Id, found.IdGiven, found.AcceptedAt, found.ExpiresAt, found.TraceParent));
        Assert.Equal(expected.Body.ToArray(), found.Body.ToArray());
    }

    protected Task<AppendResult> AppendAsync(Event accepted) => Journal.AppendAsync(accepted, CancellationToken.None).AsTask();

    protected async Task<List<UnfinishedEvent>> RecoverAsync()
    {
        var found = new List<UnfinishedEvent>();
        await foreach (var unfinished in Journal.RecoverAsync(CancellationToken.None))
        {
            if (unfinished.Event.App == App)
            {
                found.Add(unfinished);
            }
        }

        return found;
    }

    protected async Task ReopenAsync()
    {
        await CloseAsync();
        Journal = await OpenAsync();
    }

    /// <summary>A wall clock that stands where it is put.</summary>
    protected sealed class ManualTime : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
