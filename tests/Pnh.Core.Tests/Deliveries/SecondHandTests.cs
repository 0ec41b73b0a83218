using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Deliveries;

public sealed class SecondHandTests
{
    private readonly FakeTimeProvider _clock = new();

    [Fact]
    public void Each_ManyOfOneClock_AreCalledBySameTimer()
    {
        var counted = new CountedTimers(_clock);
        var calls = new int[3];
        using var first = SecondHand.Each(counted, () => calls[0]++);
        _clock.Advance(TimeSpan.FromSeconds(0.4));
        using var second = SecondHand.Each(counted, () => calls[1]++);
        using var third = SecondHand.Each(counted, () => calls[2]++);
        Assert.Equal([0, 0, 0], calls);
        _clock.Advance(TimeSpan.FromSeconds(0.6));
        Assert.Equal([1, 1, 1], calls);
        _clock.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal([4, 4, 4], calls);
        Assert.Equal(1, counted.Made);
    }

    [Fact]
    public void Dispose_OfOne_TheOthersGoOn()
    {
        var calls = new int[2];
        var first = SecondHand.Each(_clock, () => calls[0]++);
        using var second = SecondHand.Each(_clock, () => calls[1]++);
        first.Dispose();
        first.Dispose();
        _clock.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal([0, 2], calls);
    }

    [Fact]
    public void Dispose_OfAll_TheTimerIsGoneAndTheNextHasItsFullSecond()
    {
        var counted = new CountedTimers(_clock);
        var calls = 0;
        SecondHand.Each(counted, () => calls++).Dispose();
        _clock.Advance(TimeSpan.FromSeconds(0.9));
        using var next = SecondHand.Each(counted, () => calls++);
        _clock.Advance(TimeSpan.FromSeconds(0.9));
        Assert.Equal(0, calls);
        _clock.Advance(TimeSpan.FromSeconds(0.1));
        Assert.Equal(1, calls);
        Assert.Equal(2, counted.Made);
    }

    [Fact]
    public void Each_OfAnotherClock_IsNotCalled()
    {
        var calls = 0;
        using var other = SecondHand.Each(new FakeTimeProvider(), () => calls++);
        _clock.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(0, calls);
    }

    [Fact]
    public void Each_ThatDisposesOfItself_IsCalledOnce()
    {
        var calls = 0;
        IDisposable? once = null;
        once = SecondHand.Each(_clock, () =>
        {
            calls++;
            once!.Dispose();
        });
        _clock.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal(1, calls);
    }

    private sealed class CountedTimers(TimeProvider clock) : TimeProvider
    {
        public int Made { get; private set; }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            Made++;
            return clock.CreateTimer(callback, state, dueTime, period);
        }
    }
}
