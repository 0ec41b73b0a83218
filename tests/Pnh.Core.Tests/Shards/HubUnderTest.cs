using System.Text;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>The real hub over a fake clock and fakes at its seams. After each step the lanes are idle, so that every look is at rest.</summary>
internal sealed class HubUnderTest : IAsyncDisposable
{
    public const string User = "ada";
    private int _events;

    public HubUnderTest(ILogger<Hub>? log = null, HubOptions? options = null, HubUnderTest? before = null, MemoryGuard? memory = null)
    {
        Clock = before?.Clock ?? new FakeTimeProvider();
        Journal = before?.Journal.Restart() ?? new FakeJournal();
        Store = before?.Store ?? new FakeStore();
        Fcm = before?.Fcm ?? new FakeChannel("fcm", Clock);
        _events = before?._events ?? 0;
        Metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), Clock, ["demo"]);
        Reader = new EventReader(ClassPolicies.Default, ["websocket", "fcm"]);
        Hub = new Hub(
            new Planner(ClassPolicies.Default, [Fcm]), Journal, Store, Reader, Metrics, Clock, log ?? NullLogger<Hub>.Instance, options ?? new HubOptions(), memory);
        Store.MemberChanged = (topic, user, isMember) => Hub.Memberships.Change(topic, user, isMember, Store.SettingsOf(user));
        Store.SettingsChanged = Hub.Memberships.Follow;
    }

    public FakeTimeProvider Clock { get; }

    public FakeJournal Journal { get; }

    public FakeStore Store { get; }

    public FakeChannel Fcm { get; }

    public HubMetrics Metrics { get; }

    public EventReader Reader { get; }

    public Hub Hub { get; }

    /// <summary>The next run after this one ended at once; the new one has taken up what was left.</summary>
    public async Task<HubUnderTest> CrashAsync(HubOptions? options = null, bool awaitsReturns = false)
    {
        var next = new HubUnderTest(options: options, before: this);
        await DisposeAsync();
        if (awaitsReturns)
        {
            next.Hub.AwaitReturns();
        }

        await next.Hub.RecoverAsync(CancellationToken.None);
        await next.RestAsync();
        return next;
    }

    public DateTimeOffset Now => Clock.GetUtcNow();

    /// <summary>Event ids pushed so far, in order.</summary>
    public IReadOnlyList<string> Pushed => [.. Fcm.Sent.Select(s => s.Event)];

    public Device NewDevice(string id, params string[] addresses) => new()
    {
        Id = id,
        Platform = Platform.Android,
        RegisteredAt = Clock.Start,
        Addresses = [.. addresses.Select(a => new PushAddress("fcm", a, $"{id}-secret", "", Clock.Start))],
    };

    /// <summary>A phone with an FCM address.</summary>
    public Device Phone(string id) => NewDevice(id, "token");

    public Event NewEvent(string members = "", string? to = null)
    {
        var json = $$"""{"id":"e{{Interlocked.Increment(ref _events)}}","to":{{to ?? """{"user":"ada"}"""}}{{(members.Length > 0 ? "," : "")}}{{members}}}""";
        return Parse(json);
    }

    public Event Parse(string json)
    {
        var errors = new List<FieldError>();
        var read = Reader.Read(Encoding.UTF8.GetBytes(json), new EventOrigin("demo", Now, Clock.GetTimestamp()), errors);
        Assert.True(errors.Count == 0, $"{json}: {string.Join("; ", errors)}");
        return read!;
    }

    /// <summary>Sends an event and waits until the lanes are idle; returns its id.</summary>
    public async Task<string> SendAsync(string members = "", string? to = null)
    {
        var accepted = NewEvent(members, to);
        var answer = await Hub.Acceptor.AcceptAsync(accepted);
        Assert.Equal(AcceptStatus.Accepted, answer.Status);
        await RestAsync();
        return accepted.Id;
    }

    public async Task<(FakeLink Link, SessionKey Key)> OpenAsync(
        string device, SessionState state = SessionState.Active, string? session = null, FakeLink? link = null, string user = User)
    {
        link ??= new FakeLink();
        var key = new SessionKey("demo", user, device, session ?? Guid.NewGuid().ToString("N"));
        await Hub.Router.OpenedAsync(new SessionOpened(key, state, link, Now), CancellationToken.None);
        await RestAsync();
        return (link, key);
    }

    /// <summary>Lets time pass in steps of at most <paramref name="step"/> (default a second); everything due happens.</summary>
    public async Task PassAsync(TimeSpan time, TimeSpan? step = null)
    {
        var end = Now + time;
        while (Now < end)
        {
            var left = end - Now;
            var next = step ?? TimeSpan.FromSeconds(1);
            Clock.Advance(left < next ? left : next);
            Hub.Advance();
            await RestAsync();
        }
    }

    /// <summary>Lets seconds pass until it is so, an hour at most: for what goes on off the shards, on the clock. Then what needs no clock may still come, on a busy machine.</summary>
    public async Task PassUntilAsync(Func<bool> condition, string what)
    {
        for (var seconds = 0; seconds < 3_600 && !condition(); seconds++)
        {
            await PassAsync(1);
            await Task.Delay(1);
        }

        await Waiting.UntilAsync(condition, $"{what}, after an hour of the clock");
    }

    public Task PassAsync(double seconds) => PassAsync(TimeSpan.FromSeconds(seconds));

    public Task RestAsync() => Waiting.UntilAsync(() => Hub.IsIdle, "lanes and loads to be idle");

    /// <summary>The books agree: what was planned is settled, in flight, held or resting, and that is what the shards hold.</summary>
    public void AssertLedger()
    {
        long inFlight = 0;
        foreach (var @class in new[] { EventClass.Call, EventClass.Message, EventClass.Bulk })
        {
            var books = Metrics.Ledger.Of("demo").Read(@class);
            var held = Metrics.Ledger.Of("demo").ReadHeldBack(@class);
            var resting = Metrics.Ledger.Of("demo").ReadResting(@class);
            Assert.Equal(books.Planned, books.Settled + books.InFlight + held + resting);
            Assert.True(resting >= 0);
            inFlight += books.InFlight + held;
        }

        Assert.Equal(Hub.Shards.InFlight, inFlight);
    }

    /// <summary>Nothing is open any more: no timer, and the events finished once each.</summary>
    public void AssertAllEnded(params string[] events)
    {
        AssertLedger();
        Assert.Equal(0, Hub.Shards.InFlight);
        Assert.Equal(0, Hub.Shards.Timers);
        Assert.Equal(0, Metrics.Ledger.Of("demo").Held);
        Assert.Equal(events.Order(StringComparer.Ordinal), Journal.Finished.Order(StringComparer.Ordinal));
    }

    /// <summary>The same after a day: what mailboxes kept is over then.</summary>
    public async Task AssertAllEndAsync(params string[] events)
    {
        await PassAsync(TimeSpan.FromHours(25), TimeSpan.FromHours(1));
        AssertAllEnded(events);
    }

    /// <summary>Acknowledges, and waits until what that let in has been read back and sent.</summary>
    public async Task AckAsync(SessionKey session, params IEnumerable<string> events)
    {
        foreach (var id in events)
        {
            Hub.Router.Acked(session, id);
            await RestAsync();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Hub.DisposeAsync();
        Metrics.Dispose();
    }
}
