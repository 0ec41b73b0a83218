using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Lanes;
using Pnh.Core.Push;
using Pnh.Core.Tests.Plans;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Deliveries;

public sealed class DeliveryLaneTests : ILaneOwner, IAsyncDisposable
{
    private readonly FakeTimeProvider _clock = new(PlanScene.Noon);
    private readonly HubMetrics _metrics;
    private readonly FakeChannel _channel;
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly DeliveryLane _lane;
    private volatile DeliveryStatus _last;
    private int _completed;
    private int _late;
    private int _inFlight;
    private int _mostInFlight;

    public DeliveryLaneTests()
    {
        _metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), _clock);
        _channel = new FakeChannel("fcm", _clock) { Answer = SendAsync };
        _lane = new DeliveryLane("fcm", "demo", EventClass.Message, _channel.Open("demo", EventClass.Message), this, _metrics, _clock);
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
        await Waiting.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.Equal(1_000, Volatile.Read(ref _completed));
        Assert.InRange(_mostInFlight, 1, _channel.MaxInFlight);
    }

    [Fact]
    public async Task TryEnqueue_AnswersThatAreLate_HoldNoWorkerAndKeepTheLaneOpen()
    {
        var late = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        _channel.Answer = (_, _) => new(new DeliveryResult { Status = DeliveryStatus.Unavailable, IsUnknown = true, Late = late.Task });
        for (var i = 0; i < 3 * _channel.MaxInFlight; i++)
        {
            Assert.True(_lane.TryEnqueue(NewDelivery()));
        }

        await Waiting.UntilAsync(() => Volatile.Read(ref _late) == 3 * _channel.MaxInFlight, "all to be sent");
        var drained = _lane.DrainAsync(CancellationToken.None);
        Assert.False(_lane.IsIdle);
        Assert.False(drained.IsCompleted);
        late.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await drained;
        Assert.Equal((3 * _channel.MaxInFlight, DeliveryStatus.Accepted), (Volatile.Read(ref _completed), _last));
    }

    [Fact]
    public async Task TryEnqueue_WindowWidensWhileMoreWait_FillsItAndNotMore()
    {
        _channel.MaxInFlight = 4_096;
        var pace = new BulkPace(_clock);
        await using var lane = new DeliveryLane("fcm", "demo", EventClass.Bulk, _channel.Open("demo", EventClass.Bulk), this, _metrics, _clock, pace);
        for (var i = 0; i < 2_000; i++)
        {
            Assert.True(lane.TryEnqueue(NewDelivery()));
        }

        var narrow = pace.Width;
        await Waiting.UntilAsync(() => Volatile.Read(ref _inFlight) == narrow, "the window to be full");
        pace.Observe(TimeSpan.Zero);
        Assert.InRange(pace.Width, narrow + 1, 2 * narrow);
        _open.SetResult();
        await Waiting.UntilAsync(() => lane.IsIdle, "the lane to be idle");
        Assert.Equal(2_000, Volatile.Read(ref _completed));
        Assert.InRange(_mostInFlight, narrow, pace.Width);
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
        await Waiting.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.True(_lane.TryEnqueue(delivery));
    }

    [Theory]
    [InlineData(0, DeliveryStatus.Expired)]
    [InlineData(3600, DeliveryStatus.Accepted)]
    public async Task TryEnqueue_WaitsTenMinutes_NowOrNeverIsNotSent(int ttl, DeliveryStatus expected)
    {
        _channel.MaxInFlight = 1;
        Assert.True(_lane.TryEnqueue(NewDelivery()));
        await Waiting.UntilAsync(() => Volatile.Read(ref _inFlight) == 1, "the worker to be busy");
        Assert.True(_lane.TryEnqueue(NewDelivery(ttl: TimeSpan.FromSeconds(ttl))));

        _clock.Advance(TimeSpan.FromMinutes(10));
        _open.SetResult();

        await Waiting.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.Equal(expected, _last);
        Assert.Equal(expected == DeliveryStatus.Accepted ? 2 : 1, _channel.Sent.Count);
    }

    [Fact]
    public async Task TryEnqueue_NowOrNeverWithinItsSeconds_Sent()
    {
        _channel.MaxInFlight = 1;
        Assert.True(_lane.TryEnqueue(NewDelivery()));
        await Waiting.UntilAsync(() => Volatile.Read(ref _inFlight) == 1, "the worker to be busy");
        Assert.True(_lane.TryEnqueue(NewDelivery(ttl: TimeSpan.Zero)));

        _clock.Advance(Delivery.NowOrNever);
        _open.SetResult();

        await Waiting.UntilAsync(() => _lane.IsIdle, "the lane to be idle");
        Assert.Equal(2, _channel.Sent.Count);
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

    [Fact]
    public async Task Suspects_TheSlowWayIsStuck_TheGoodOnesGoOn()
    {
        // A list of bad addresses ten times as long as the lane has workers, before one good one.
        _open.SetResult();
        var stuck = new TaskCompletionSource();
        var sender = new TwoWays(stuck.Task);
        await using var lane = new DeliveryLane("fcm", "demo", EventClass.Message, sender, this, _metrics, _clock);
        for (var i = 0; i < 10 * sender.MaxInFlight; i++)
        {
            Assert.True(lane.TryEnqueue(NewDelivery("suspect")));
        }

        Assert.True(lane.TryEnqueue(NewDelivery("good")));

        await Waiting.UntilAsync(() => sender.Good == 1, "the good one to be sent");
        Assert.Equal(0, Volatile.Read(ref sender.Suspect));
        Assert.False(lane.IsIdle);
        stuck.SetResult();
        await Waiting.UntilAsync(() => lane.IsIdle, "the lane to be idle");
        Assert.Equal(10 * sender.MaxInFlight, Volatile.Read(ref sender.Suspect));
    }

    ValueTask<bool> ILaneOwner.PrepareAsync(DeliveryLane lane, Delivery delivery) => ValueTask.FromResult(true);

    void ILaneOwner.AnswerIsLate(DeliveryLane lane, Delivery delivery, in DeliveryResult soFar) => Interlocked.Increment(ref _late);

    void ILaneOwner.Completed(DeliveryLane lane, Delivery delivery, in DeliveryResult result)
    {
        _last = result.Status;
        Interlocked.Increment(ref _completed);
    }

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

    private static Delivery NewDelivery(string deviceId = "d1", TimeSpan? ttl = null)
    {
        var device = PlanScene.NewDevice(deviceId, "fcm");
        return new Delivery
        {
            Event = PlanScene.NewEvent(EventClass.Message, ttl: ttl),
            User = new UserKey("demo", "ada"),
            Device = device,
            Address = device.Addresses[0],
        };
    }

    /// <summary>Sends to the device "suspect" only over its quarantine, which waits.</summary>
    private sealed class TwoWays(Task stuck) : IPushSender
    {
        public int Good;
        public int Suspect;

        public int MaxInFlight => 4;

        public IPushSender? Quarantine => field ??= new Slow(this, stuck);

        public bool Suspects(Delivery delivery) => delivery.Device.Id == "suspect";

        public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref Good);
            return ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;

        private sealed class Slow(TwoWays owner, Task stuck) : IPushSender
        {
            public int MaxInFlight => 1;

            public async ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
            {
                await stuck.WaitAsync(cancellationToken);
                Interlocked.Increment(ref owner.Suspect);
                return DeliveryResult.Of(DeliveryStatus.AddressDead);
            }

            public ValueTask DisposeAsync() => ValueTask.CompletedTask;
        }
    }
}
