using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Lanes;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Timing;

namespace Pnh.Core.Tests.Shards;

/// <summary>A broadcast gives way after work of some 0.3 ms, wherever its sessions are.</summary>
public sealed class JoinedFanOutTests
{
    private readonly Queue<IThreadPoolWorkItem> _pool = new();

    [Theory]
    [InlineData(32, 0, 0)]
    [InlineData(33, 0, 1)]
    [InlineData(128, 0, 3)]
    [InlineData(0, 2048, 0)]
    [InlineData(0, 2049, 1)]
    [InlineData(0, 8192, 3)]
    [InlineData(64, 2048, 2)]
    [InlineData(64, 2049, 3)]
    public async Task Serve_TransientToSoManyHereAndElsewhere_GivesWaySoOften(int here, int elsewhere, int turns)
    {
        await using var hub = new HubUnderTest();
        var fanOut = new JoinedFanOut(
            new ShardContext
            {
                Planner = new Planner(ClassPolicies.Default, []),
                Journal = hub.Journal,
                Metrics = hub.Metrics,
                Time = hub.Clock,
                MailboxItems = 1,
                Ticker = new WheelTicker(hub.Clock),
                Lanes = new LaneTable(owner: null!, hub.Metrics, hub.Clock),
                Load = static (_, _, _, _) => { },
                Release = static (_, _) => { },
            },
            new Turns(new LongSteps(), most: 1, _pool.Enqueue));
        var (near, carrier) = (new FakeLink(), new FakeCarrier());
        var joined = Enumerable.Range(0, here + elsewhere)
            .Select(i => NewSubscriber(i, i < here ? near : new FakeLink { Carrier = carrier, Number = i }))
            .ToArray();

        var serving = fanOut.ServeAsync(hub.NewEvent("\"class\":\"transient\""), progress: null, joined, members: null).AsTask();
        var given = 0;
        while (!serving.IsCompleted)
        {
            Assert.Empty(carrier.Flushes);
            _pool.Dequeue().Execute();
            given++;
        }

        await serving;
        Assert.Equal(turns, given);
        Assert.Equal((here, elsewhere), (near.Frames.Count, carrier.Calls.Sum(static call => call.Length)));
    }

    private static Subscriber NewSubscriber(int i, FakeLink link)
    {
        var key = new SessionKey("demo", $"u{i}", "tab", $"s{i}");
        return new Subscriber(key) { Session = new LiveSession(key, SessionState.Active, link, default) };
    }

    // Each step takes a slice, so that each has a turn of its own.
    private sealed class LongSteps : TimeProvider
    {
        private long _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _now += Turns.Slice.Ticks;
    }
}
