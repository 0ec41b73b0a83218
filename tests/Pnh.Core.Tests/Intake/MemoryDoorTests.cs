using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;
using Pnh.Core.Tests.Diagnostics;
using Pnh.Core.Tests.Shards;
using Pnh.TestKit;
using Prometheus;

namespace Pnh.Core.Tests.Intake;

/// <summary>What each of several apps may have of the memory for what waits: the room is 650 of 1,000.</summary>
public sealed class MemoryDoorTests : IHeap, ILogger, IDisposable
{
    private readonly List<string> _log = [];
    private readonly CollectorRegistry _registry = Prometheus.Metrics.NewCustomRegistry();
    private readonly HubMetrics _metrics;
    private readonly MemoryDoor _door;
    private int _live;

    public MemoryDoorTests()
    {
        _metrics = new HubMetrics(_registry, new FakeTimeProvider(), ["big", "small"]);
        _door = new MemoryDoor(new MemoryGuard(new FakeTimeProvider(), NullLogger<MemoryGuard>.Instance, this), _metrics.Ledger, this);
    }

    public void Dispose() => _metrics.Dispose();

    public int Collections { get; private set; }

    HeapReading IHeap.Read() => new(_live, 1_000, 0);

    void IHeap.CollectBehind()
    {
    }

    [Fact]
    public void Half_OfTheRoom_IsTheMostOfAnApp()
    {
        Look(live: 330, big: 325, small: 1);
        Assert.Equal("", Refused("big"));
        Look(live: 330, big: 1, small: 1);
        Assert.Equal(("Call,Message,Bulk", ""), (Refused("big"), Refused("small")));
        Assert.Contains("big", _door.Shortage, StringComparison.Ordinal);
        Look(live: 330, big: -10, small: 0);
        Assert.Equal("", Refused("big"));
        Assert.Null(_door.Shortage);
    }

    [Fact]
    public void Quarter_OfTheRoom_IsLentToNobodyWhoHoldsOverAnEighth()
    {
        Look(live: 420, big: 90, small: 80);
        Assert.Equal("", Refused("big"));
        Look(live: 430, big: 0, small: 0);
        Assert.Equal(("Bulk", ""), (Refused("big"), Refused("small")));
        Look(live: 460, big: 0, small: 0);
        Assert.Equal(("Message,Bulk", ""), (Refused("big"), Refused("small")));
        Look(live: 490, big: 0, small: 0);
        Assert.Equal(("Call,Message,Bulk", ""), (Refused("big"), Refused("small")));
        Look(live: 490, big: 0, small: 2);
        Assert.Equal("Call,Message,Bulk", Refused("small"));
        Look(live: 660, big: -90, small: -82);
        Assert.Equal(("Call,Message,Bulk", "Call,Message,Bulk"), (Refused("big"), Refused("small"))); // the heap itself is full
    }

    [Fact]
    public void Alone_AnAppHasAllOfTheRoom()
    {
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), new FakeTimeProvider(), ["only"]);
        var door = new MemoryDoor(new MemoryGuard(new FakeTimeProvider(), NullLogger<MemoryGuard>.Instance, this), metrics.Ledger, this);
        metrics.Ledger.Of("only").Holds(600);
        (_live, Collections) = (540, Collections + 1);
        door.Observe();
        Assert.Equal(DoorAnswer.Taken, door.Ask("only", EventClass.Bulk));
        metrics.Ledger.Of("by a key alone").Holds(1);
        door.Observe();
        Assert.Equal(DoorAnswer.ShareUsedUp, door.Ask("only", EventClass.Call));
    }

    [Fact]
    public void Log_AndMetrics_NameTheApp()
    {
        Look(live: 330, big: 5_000_000, small: 1);
        Look(live: 330, big: 0, small: 1);
        var page = Scrape.Of(_registry);
        Assert.Equal((1, 0), (page.Find("pnh_memory_app_refuses{app=\"big\"}"), page.Find("pnh_memory_app_refuses{app=\"small\"}")));
        Assert.Equal(5_000_000, page.Find("pnh_memory_app_bytes{app=\"big\"}"));
        Look(live: 330, big: -5_000_000, small: 1);
        Assert.Equal(2, _log.Count);
        Assert.StartsWith("App big has used up its share of the memory for what waits (4 MB)", _log[0], StringComparison.Ordinal);
        Assert.StartsWith("App big has room in its share", _log[1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Held_IsWhatWaits_BodiesOfPushesThatWaitIncluded()
    {
        await using var hub = new HubUnderTest();
        var books = hub.Metrics.Ledger.Of("demo");
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var first = await hub.SendAsync();
        Assert.Equal(MailboxBytes, books.Held);
        hub.Store.Put("eve", hub.Phone("phone"));
        hub.Fcm.Always(Pnh.Core.Push.DeliveryStatus.Unavailable, TimeSpan.FromMinutes(5));
        var second = await hub.SendAsync("\"data\":\"" + new string('x', 2_000) + '"', """{"user":"eve"}""");
        Assert.InRange(books.Held, (3 * MailboxBytes) + 2_000, (3 * MailboxBytes) + 2_200);
        await hub.AssertAllEndAsync(first, second);
        Assert.Equal(0, books.Held);
    }

    private const int MailboxBytes = 450;

    // After a collection that left so much; the apps hold so much more.
    private void Look(int live, long big, long small)
    {
        _metrics.Ledger.Of("big").Holds(big);
        _metrics.Ledger.Of("small").Holds(small);
        _live = live;
        Collections++;
        _door.Observe();
    }

    private string Refused(string app) => string.Join(',', EventClassNames.All.ToArray().Where(@class => _door.Ask(app, @class) != DoorAnswer.Taken));

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _log.Add(formatter(state, exception));
}
