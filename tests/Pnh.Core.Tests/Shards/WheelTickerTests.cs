using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

public sealed class WheelTickerTests : IDisposable
{
    private readonly FakeTimeProvider _clock = new();
    private readonly WheelTicker _ticker;
    private readonly SemaphoreSlim _passed = new(0);
    private volatile bool _isSet;

    public WheelTickerTests() => _ticker = new WheelTicker(_clock);

    public void Dispose()
    {
        _ticker.Dispose();
        _passed.Dispose();
    }

    [Fact(Timeout = 60_000)]
    public async Task Run_NoTimerForASecond_DoesNotLookUntilOneIsSet()
    {
        using var stop = new CancellationTokenSource();
        var running = _ticker.RunAsync(Advance, stop.Token);
        for (var pass = 0; pass < 49; pass++)
        {
            Assert.True(await PassesAsync(TimingWheel.Tick));
        }

        Assert.True(await PassesAsync(TimingWheel.Tick));
        Assert.True(await _passed.WaitAsync(TimeSpan.FromSeconds(20))); // the second look, behind the calm
        Assert.False(await PassesAsync(TimeSpan.FromDays(1)));

        _isSet = true;
        _ticker.Wake();
        Assert.True(await PassesAsync(TimingWheel.Tick));
        Assert.True(await PassesAsync(TimingWheel.Tick));

        await stop.CancelAsync();
        await running;
    }

    [Fact(Timeout = 60_000)]
    public async Task Wake_TimerIsGoneByTheNextPass_IsCalmAgainAfterASecond()
    {
        using var stop = new CancellationTokenSource();
        var running = _ticker.RunAsync(Advance, stop.Token);
        for (var round = 0; round < 2; round++)
        {
            for (var pass = 0; pass < 50; pass++)
            {
                Assert.True(await PassesAsync(TimingWheel.Tick));
            }

            Assert.True(await _passed.WaitAsync(TimeSpan.FromSeconds(20))); // the second look, behind the calm
            Assert.False(await PassesAsync(TimingWheel.Tick * 10));
            _ticker.Wake();
        }

        await stop.CancelAsync();
        await running;
    }

    [Fact(Timeout = 60_000)]
    public async Task Wake_CalmAndDisposed_DoesNothing()
    {
        using var stop = new CancellationTokenSource();
        var running = _ticker.RunAsync(Advance, stop.Token);
        for (var pass = 0; pass < 50; pass++)
        {
            Assert.True(await PassesAsync(TimingWheel.Tick));
        }

        Assert.True(await _passed.WaitAsync(TimeSpan.FromSeconds(20)));
        await stop.CancelAsync();
        await running;
        _ticker.Dispose();
        _ticker.Wake();
    }

    [Fact(Timeout = 60_000)]
    public async Task Run_TimerSetWhileItCalmsDown_IsSeenByTheSecondLook()
    {
        using var stop = new CancellationTokenSource();
        var passes = 0;
        var running = _ticker.RunAsync(() => Advance() | ++passes > 50, stop.Token); // set between the 50th pass and the look behind it
        for (var pass = 0; pass < 50; pass++)
        {
            Assert.True(await PassesAsync(TimingWheel.Tick));
        }

        Assert.True(await _passed.WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.True(await PassesAsync(TimingWheel.Tick));

        await stop.CancelAsync();
        await running;
    }

    // Whether it looks at the wheels when so much time passes.
    private async Task<bool> PassesAsync(TimeSpan time)
    {
        _clock.Advance(time);
        return await _passed.WaitAsync(time > TimingWheel.Tick ? TimeSpan.FromMilliseconds(200) : TimeSpan.FromSeconds(20));
    }

    private bool Advance()
    {
        _passed.Release();
        return _isSet;
    }
}
