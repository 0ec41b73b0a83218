using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;
using Pnh.Core.Tests.Shards;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Intake;

public sealed class MemoryGuardTests : IHeap, ILogger<MemoryGuard>
{
    private const long Limit = 1_000;
    private readonly FakeTimeProvider _clock = new();
    private readonly List<string> _log = [];
    private readonly MemoryGuard _guard;
    private HeapReading _heap = new(0, Limit, 0);
    private int _collections;
    private int _reads;
    private int _asked;

    public MemoryGuardTests() => _guard = new MemoryGuard(_clock, this, this);

    int IHeap.Collections => _collections;

    HeapReading IHeap.Read()
    {
        _reads++;
        return _heap;
    }

    void IHeap.CollectBehind() => _asked++;

    [Fact]
    public void Observe_HeapFills_RefusesBulkThenMessageThenCall()
    {
        Assert.Equal("", Refused(live: 540));
        Assert.Equal("Bulk", Refused(live: 550));
        Assert.Equal("Message,Bulk", Refused(live: 610));
        Assert.False(_guard.IsFull);
        Assert.Equal("Call,Message,Bulk", Refused(live: 650));
        Assert.True(_guard.IsFull);
    }

    [Fact]
    public void Observe_HeapEmpties_TakesAClassAgainWellBelowItsLine()
    {
        Refused(live: 750);
        Assert.Equal("Call,Message,Bulk", Refused(live: 610));
        Assert.Equal("Message,Bulk", Refused(live: 590));
        Assert.Equal("Bulk", Refused(live: 540));
        Assert.Equal("", Refused(live: 490));
        Assert.Null(_guard.Shortage);
    }

    [Fact]
    public void Observe_HeapFillsAndEmpties_OneLineForEachStepUpAndOneAtTheEnd()
    {
        foreach (var live in (int[])[570, 580, 520, 570, 660, 610, 590, 540, 490, 450])
        {
            Refused(live);
        }

        Assert.Equal(3, _log.Count);
        Assert.StartsWith("Memory is short: 57 %", _log[0], StringComparison.Ordinal);
        Assert.StartsWith("Memory is short: 66 %", _log[1], StringComparison.Ordinal);
        Assert.StartsWith("There is memory again: 49 %", _log[2], StringComparison.Ordinal);
    }

    [Fact]
    public void Observe_NoCollectionSinceTheLast_ReadsNothing()
    {
        Refused(live: 100);
        _guard.Observe();
        _guard.Observe();
        Assert.Equal(1, _reads);
    }

    [Fact]
    public void Observe_GrownSinceTheLastFullCollection_AsksForOneBeforeAnythingIsRefused()
    {
        Full(live: 430);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Refused(live: 460);
        Assert.Equal(0, _asked);
        Refused(live: 490);
        Assert.Equal(1, _asked);

        // Most of it was dead: nothing is refused, and nothing more is asked for.
        Refused(live: 540);
        Assert.Equal(1, _asked);
        Full(live: 440);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("", Refused(live: 460));
        Assert.Equal(1, _asked);
    }

    [Fact]
    public void Observe_QuietWhileRefusing_AsksAgainEveryTenSeconds()
    {
        Full(live: 570);
        _clock.Advance(TimeSpan.FromSeconds(9));
        _guard.Observe();
        Assert.Equal(0, _asked);
        _clock.Advance(TimeSpan.FromSeconds(1));
        _guard.Observe();
        Assert.Equal(1, _asked);
        Full(live: 300);
        Assert.Equal("", Refused(live: 300));
        _clock.Advance(TimeSpan.FromMinutes(1));
        _guard.Observe();
        Assert.Equal(1, _asked);
    }

    [Fact]
    public void Observe_ACollectionTakesLong_AsksForOneInTwentyOfTheTimeAtMost()
    {
        Full(live: 570);
        _clock.Advance(TimeSpan.FromSeconds(10));
        _guard.Observe();
        _clock.Advance(TimeSpan.FromSeconds(3));
        Full(live: 570);
        _clock.Advance(TimeSpan.FromSeconds(56));
        _guard.Observe();
        Assert.Equal(1, _asked);
        _clock.Advance(TimeSpan.FromSeconds(1));
        _guard.Observe();
        Assert.Equal(2, _asked);
    }

    [Fact]
    public async Task AcceptAsync_MemoryIsShort_RefusesTheClassAloneAndInUploadsAndWritesNothing()
    {
        await using var hub = new HubUnderTest(memory: _guard);
        Refused(live: 610);
        var bulk = await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"bulk\""));
        var upload = await hub.Hub.Acceptor.AcceptManyAsync([hub.NewEvent("\"class\":\"message\""), hub.NewEvent("\"class\":\"call\"")]);
        Assert.Equal([AcceptStatus.MemoryFull, AcceptStatus.MemoryFull, AcceptStatus.Accepted], [bulk.Status, .. upload.Select(static one => one.Status)]);
        Assert.True(bulk.RetryAfter > TimeSpan.Zero);

        Refused(live: 100);
        Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"bulk\""))).Status);
    }

    // After a collection of the young that left so much.
    private string Refused(int live)
    {
        _collections++;
        _heap = _heap with { Live = live };
        _guard.Observe();
        return string.Join(',', EventClassNames.All.ToArray().Where(_guard.Refuses));
    }

    private void Full(int live)
    {
        _heap = _heap with { FullCollections = _heap.FullCollections + 1 };
        Refused(live);
    }

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _log.Add(formatter(state, exception));
}
