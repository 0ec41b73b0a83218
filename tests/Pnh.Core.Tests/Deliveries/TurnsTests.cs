using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Deliveries;

public sealed class TurnsTests
{
    private readonly FakeTimeProvider _clock = new();
    private readonly Queue<IThreadPoolWorkItem> _pool = new();
    private readonly List<int> _done = [];
    private readonly Turns _turns;

    public TurnsTests() => _turns = new Turns(_clock, most: 2, _pool.Enqueue);

    [Fact]
    public void Next_BeforeItsTurn_DoesNotGoOn()
    {
        _ = StepAsync(1, TimeSpan.Zero);
        Assert.Empty(_done);
        RunOne();
        Assert.Equal([1], _done);
    }

    [Fact]
    public void Next_ManyWait_NoMoreItemsThanCores()
    {
        Start(10, TimeSpan.Zero);
        Assert.Equal(2, _pool.Count);
    }

    [Fact]
    public void Execute_StepsWithinASlice_AllInOneTurnAndInOrder()
    {
        Start(10, TimeSpan.Zero);
        RunOne();
        Assert.Equal(Enumerable.Range(0, 10), _done);
        Assert.Single(_pool);
    }

    [Fact]
    public void Execute_SliceIsOver_GoesBehindWhatWaits()
    {
        Start(10, Turns.Slice / 2);
        RunOne();
        Assert.Equal([0, 1], _done);
        Assert.Equal(2, _pool.Count);
        RunOne();
        RunOne();
        Assert.Equal(Enumerable.Range(0, 6), _done);
    }

    [Fact]
    public void Execute_NothingIsLeft_EndsAndBeginsAnewWithTheNext()
    {
        Start(3, Turns.Slice);
        while (_pool.Count > 0)
        {
            RunOne();
        }

        Assert.Equal([0, 1, 2], _done);
        _ = StepAsync(3, TimeSpan.Zero);
        Assert.Single(_pool);
        RunOne();
        Assert.Equal(Enumerable.Range(0, 4), _done);
    }

    [Fact]
    public async Task Next_OnThePoolFromManyThreads_EveryStepGoesOnOnce()
    {
        const int steps = 20_000;
        var turns = new Turns(TimeProvider.System);
        var count = 0;
        var all = Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            for (var i = 0; i < steps / 8; i++)
            {
                await turns.NextAsync();
                Interlocked.Increment(ref count);
            }
        }));
        await Task.WhenAll(all).WaitAsync(TimeSpan.FromSeconds(60));
        Assert.Equal(steps, count);
    }

    private void Start(int steps, TimeSpan each)
    {
        for (var i = 0; i < steps; i++)
        {
            _ = StepAsync(i, each);
        }
    }

    private async Task StepAsync(int number, TimeSpan length)
    {
        await _turns.NextAsync();
        _done.Add(number);
        _clock.Advance(length);
    }

    private void RunOne() => _pool.Dequeue().Execute();
}
