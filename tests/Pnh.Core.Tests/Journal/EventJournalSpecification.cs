using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>What every journal must do. An engine's test class says how to open it; apps are unique per test, so engines may share one database.</summary>
public abstract partial class EventJournalSpecification : IAsyncLifetime
{
    private static int _apps;

    protected string App { get; } = string.Create(CultureInfo.InvariantCulture, $"app-{Environment.ProcessId}-{Interlocked.Increment(ref _apps)}");

    protected IEventJournal Journal { get; private set; } = null!;

    private protected ManualTime Time { get; } = new();

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
    public async Task RecoverAsync_Finished_IsLeftOutAndExpiredIsNot()
    {
        await AppendAsync(Make("open", "{}"));
        await AppendAsync(Make("done", "{}"));
        await AppendAsync(Make("late", "{}", ttl: TimeSpan.FromSeconds(30)));
        await AppendAsync(Make("now-or-never", "{}", ttl: TimeSpan.Zero));
        Journal.Finish(App, "done");
        Journal.Finish(App, "unknown");
        Time.Now += TimeSpan.FromMinutes(1);
        await ReopenAsync();

        Assert.Equal(["open", "late", "now-or-never"], (await RecoverAsync()).Select(unfinished => unfinished.Event.Id));
    }

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
}
