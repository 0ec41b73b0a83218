using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Tests.Plans;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Deliveries;

public sealed class DeliveryLaneTests : ILaneOwner, IAsyncDisposable
{
    private readonly FakeTimeProvider _clock = new(PlanScene.Noon);
    private readonly HubMetrics _metrics;
    private readonly FakeChannel _channel;
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly DeliveryLane _lane;
    private int _completed;
    private int _inFlight;
    private int _mostInFlight;

    public DeliveryLaneTests()
    {
        _metrics = new HubMetrics(new MetricRegistry(), _clock);
        _channel = new FakeChannel("fcm", _clock) { Answer = SendAsync };
        _lane = new DeliveryLane("fcm", EventClass.Message, _channel.Open("demo", EventClass.Message), this, _metrics, _clock);
    }

    [Fact]
    public async Task TryEnqueue_ManyAtOnce_NeverMoreUnderWayThanAllowed()
    {
        for (var i = 0; i < 1_000; i++)
        {
            Assert.True(_lane.TryEnqueue(NewDelivery()));
        }

        Assert.False(_lane.IsIdle);
        _open.SetResult();
        await Shards.HubUnderTest.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.Equal(1_000, Volatile.Read(ref _completed));
        Assert.InRange(_mostInFlight, 1, _channel.MaxInFlight);
    }

    [Fact]
    public async Task TryEnqueue_Full_RefusesUntilThereIsRoom()
    {
        var delivery = NewDelivery();
        var taken = 0;
        while (_lane.TryEnqueue(delivery))
        {
            taken++;
            Assert.InRange(taken, 1, 70_000);
        }

        // The queue's bound, and perhaps one for each worker that has taken its first already.
        Assert.InRange(taken, 65_536, 65_536 + _channel.MaxInFlight);
        _open.SetResult();
        await Shards.HubUnderTest.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.True(_lane.TryEnqueue(delivery));
    }

    [Fact]
    public async Task Drain_TakesNothingMore()
    {
        Assert.True(_lane.TryEnqueue(NewDelivery()));
        var draining = _lane.DrainAsync(CancellationToken.None);
        Assert.False(_lane.TryEnqueue(NewDelivery()));
        _open.SetResult();
        await draining.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.InRange(Volatile.Read(ref _completed), 0, 1);
    }

    ValueTask<bool> ILaneOwner.PrepareAsync(DeliveryLane lane, Delivery delivery) => ValueTask.FromResult(true);

    void ILaneOwner.Completed(DeliveryLane lane, Delivery delivery, in DeliveryResult result) => Interlocked.Increment(ref _completed);

    void ILaneOwner.Failed(DeliveryLane lane, Delivery delivery, Exception bug) => throw bug;

    public async ValueTask DisposeAsync()
    {
        _open.TrySetResult();
        await _lane.DisposeAsync();
        _metrics.Dispose();
    }

    private async ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var now = Interlocked.Increment(ref _inFlight);
        lock (_clock)
        {
            _mostInFlight = Math.Max(_mostInFlight, now);
        }

        await _open.Task.WaitAsync(cancellationToken);
        Interlocked.Decrement(ref _inFlight);
        return DeliveryResult.Of(DeliveryStatus.Accepted);
    }

    private static Delivery NewDelivery()
    {
        var device = PlanScene.NewDevice("d1", "fcm");
        return new Delivery
        {
            Event = PlanScene.NewEvent(EventClass.Message),
            User = new UserKey("demo", "ada"),
            Device = device,
            Address = device.Addresses[0],
        };
    }
}
