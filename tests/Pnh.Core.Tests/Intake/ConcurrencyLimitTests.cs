using Pnh.Core.Intake;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Intake;

public sealed class ConcurrencyLimitTests
{
    private static readonly TimeSpan Long = ConcurrencyLimit.Target * 4;
    private static readonly TimeSpan Quick = TimeSpan.FromMilliseconds(1);
    private readonly FakeTimeProvider _clock = new();
    private readonly ConcurrencyLimit _limit;
    private TimeSpan _cpu;

    public ConcurrencyLimitTests() => _limit = new ConcurrencyLimit(_clock, () => _cpu);

    [Fact]
    public void Events_NothingWaits_IsTheMost()
    {
        Pass(100, TimeSpan.Zero, Quick);
        Assert.Equal(ConcurrencyLimit.Most, _limit.Events);
        Assert.False(_limit.IsNarrow || _limit.IsOverloaded);
    }

    [Fact]
    public void Events_WorkWaitsForACore_FallsToTheLeast()
    {
        Pass(2, Long, Quick);
        Assert.True(_limit.IsNarrow && _limit.IsOverloaded);
        Pass(50, Long, Quick);
        Assert.Equal(ConcurrencyLimit.Least, _limit.Events);
    }

    [Fact]
    public void Events_WorkWaitsForACoreThatOthersUse_FallsToo()
    {
        Pass(2, Long, Quick, cpuShare: 0.1);
        Assert.True(_limit.IsNarrow);
    }

    [Fact]
    public void Events_CrowdWaitsForItsAnswers_FallsInProportionToTheDelay()
    {
        Pass(1, TimeSpan.Zero, Quick, answers: 10);

        // 60,000 a second, 20 ms each: 1,200 inside. The delay is 19 ms, so half of them.
        Pass(2, TimeSpan.Zero, Quick + ConcurrencyLimit.Target * 3.8, answers: 6_000);
        Assert.InRange(_limit.Events, 590, 610);
    }

    [Fact]
    public void Events_DelayIsNearTheTarget_FallsALittle()
    {
        Pass(1, TimeSpan.Zero, Quick, answers: 10);
        Pass(2, TimeSpan.Zero, Quick + ConcurrencyLimit.Target * 1.05, answers: 20_000);
        Assert.InRange(_limit.Events, 1_090, 1_100);
    }

    [Fact]
    public void Events_DelayIsLongOnce_StaysTheMost()
    {
        for (var i = 0; i < 50; i++)
        {
            Pass(1, i % 2 == 0 ? Long : TimeSpan.Zero, Quick);
        }

        Assert.False(_limit.IsNarrow);
    }

    [Fact]
    public void Events_OneLookOfAnIntervalWaitsNothing_StaysTheMost()
    {
        for (var i = 0; i < 20; i++)
        {
            Look(Long);
            Look(TimeSpan.Zero);
        }

        Assert.False(_limit.IsNarrow);
    }

    [Fact]
    public void Events_SlowDiskAndIdleCores_StaysTheMost()
    {
        Pass(1, TimeSpan.Zero, Quick, cpuShare: 0.1);
        Pass(50, TimeSpan.Zero, Long * 5, cpuShare: 0.1);
        Assert.False(_limit.IsNarrow);
    }

    [Fact]
    public void Events_SlowDiskAndBusyCores_StaysTheMost()
    {
        Pass(50, TimeSpan.Zero, Long * 5);
        Pass(50, TimeSpan.Zero, Long * 5 + ConcurrencyLimit.Target * 0.9);
        Assert.False(_limit.IsNarrow);
    }

    [Fact]
    public void Events_DiskBecameSlow_IsKnownAfterTwentySeconds()
    {
        Pass(1, TimeSpan.Zero, Quick);
        Pass(200, TimeSpan.Zero, Long, cpuShare: 0.1);
        Pass(100, TimeSpan.Zero, Long);
        Assert.False(_limit.IsNarrow);
    }

    [Fact]
    public void Events_SomeAreRefusedAndNothingWaits_GrowsByAnEighth()
    {
        Pass(50, Long, Quick);
        for (var i = 1; i <= 3; i++)
        {
            _limit.Refused();
            Pass(1, TimeSpan.Zero, Quick);
        }

        var expected = ConcurrencyLimit.Least;
        for (var i = 0; i < 3; i++)
        {
            expected += expected / 8;
        }

        Assert.Equal(expected, _limit.Events);
        Assert.True(_limit.IsOverloaded);
    }

    [Fact]
    public void Events_SomeAreRefusedAndTheDelayIsBetween_Stays()
    {
        Pass(50, Long, Quick);
        for (var i = 0; i < 10; i++)
        {
            _limit.Refused();
            Pass(1, ConcurrencyLimit.Target * 0.7, Quick);
        }

        Assert.Equal(ConcurrencyLimit.Least, _limit.Events);
    }

    [Fact]
    public void Events_NobodyWasRefusedForTheHold_IsTheMostAgain()
    {
        Pass(50, Long, Quick);
        _limit.Refused();
        Pass(1, ConcurrencyLimit.Target * 0.7, Quick);
        Pass((int)(ConcurrencyLimit.Hold / ConcurrencyLimit.Interval) - 1, TimeSpan.Zero, Quick);
        Assert.Equal(ConcurrencyLimit.Least, _limit.Events);
        Assert.False(_limit.IsOverloaded);
        Pass(1, TimeSpan.Zero, Quick);
        Assert.Equal(ConcurrencyLimit.Most, _limit.Events);
    }

    [Fact]
    public void IsOverloaded_RefusedForOtherReasonsThanTheCores_IsFalse()
    {
        _limit.Refused();
        Pass(1, TimeSpan.Zero, Quick);
        Assert.False(_limit.IsOverloaded);
    }

    [Fact]
    public void Wait_NoOverload_IsOverAtOnce() => Assert.True(_limit.WaitAsync(Long, CancellationToken.None).AsTask().IsCompletedSuccessfully);

    [Fact]
    public async Task Wait_Overload_LastsUntilItEndsOrPatienceDoes()
    {
        Pass(5, Long, Quick);
        var calm = _limit.WaitAsync(TimeSpan.FromMinutes(1), CancellationToken.None).AsTask();
        var impatient = _limit.WaitAsync(TimeSpan.FromMilliseconds(100), CancellationToken.None).AsTask();
        while (!impatient.IsCompleted)
        {
            Assert.False(calm.IsCompleted);
            _clock.Advance(TimeSpan.FromMilliseconds(25));
            await Task.Yield();
        }

        Pass(2, TimeSpan.Zero, Quick);
        while (!calm.IsCompleted)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(25));
            await Task.Yield();
        }

        await calm;
    }

    [Fact]
    public async Task Wait_WorkWaitsForACoreButNothingIsRefused_LastsOneLook()
    {
        _limit.Observe(ConcurrencyLimit.Courtesy * 2);
        Assert.False(_limit.IsOverloaded);
        var courteous = _limit.WaitAsync(TimeSpan.FromMinutes(1), CancellationToken.None).AsTask();
        Assert.False(courteous.IsCompleted);
        _clock.Advance(TimeSpan.FromMilliseconds(25));
        await courteous.WaitAsync(TimeSpan.FromSeconds(20));
    }

    // Intervals with two looks each, in which so many answers of one length came and the hub had its share of the cores.
    private void Pass(int intervals, TimeSpan wait, TimeSpan answer, int answers = 100, double cpuShare = 0.9)
    {
        for (var i = 0; i < intervals; i++)
        {
            for (var a = 0; a < answers; a++)
            {
                _limit.Answered(answer);
            }

            _cpu += ConcurrencyLimit.Interval * Environment.ProcessorCount * cpuShare;
            Look(wait);
            Look(wait);
        }
    }

    private void Look(TimeSpan wait)
    {
        _clock.Advance(ConcurrencyLimit.Interval / 2);
        _limit.Observe(wait);
    }
}
