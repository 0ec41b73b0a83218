using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Intake;

public sealed class LoadShedderTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMilliseconds(20);
    private readonly FakeTimeProvider _clock = new();
    private readonly LoadShedder _shedder;
    private TimeSpan _cpu;
    private int _inside = LoadShedder.Few;

    public LoadShedderTests() => _shedder = new LoadShedder(_clock, () => _cpu, () => _inside);

    [Fact]
    public void Sheds_WaitStandsWhileBusy_BulkGoesFirstThenMessageNeverCall()
    {
        while (Refused(EventClass.Bulk) < 100)
        {
            Assert.Equal(0, Refused(EventClass.Message));
            Pass(windows: 1, Long);
        }

        Assert.Equal(100, Refused(EventClass.Transient));
        Pass(windows: 10, Long);
        Assert.Equal(100, Refused(EventClass.Message));
        Assert.Equal(0, Refused(EventClass.Call));
    }

    [Fact]
    public void Sheds_FewEventsAreInside_NoneWhateverTheClocksSay()
    {
        Pass(windows: 20, Long * 10, answer: LoadShedder.AnswerTarget * 10);
        Assert.Equal(100, Refused(EventClass.Message));
        _inside = LoadShedder.Few - 1;
        Assert.Equal(0, Refused(EventClass.Transient) + Refused(EventClass.Bulk) + Refused(EventClass.Message));
    }

    [Fact]
    public void Wait_NoOverload_IsOverAtOnce() => Assert.True(_shedder.WaitAsync(Long, CancellationToken.None).AsTask().IsCompletedSuccessfully);

    [Fact]
    public async Task Wait_Overload_LastsUntilItEndsOrPatienceDoes()
    {
        Pass(windows: 5, Long);
        var calm = _shedder.WaitAsync(TimeSpan.FromMinutes(1), CancellationToken.None).AsTask();
        var impatient = _shedder.WaitAsync(TimeSpan.FromMilliseconds(100), CancellationToken.None).AsTask();
        while (!impatient.IsCompleted)
        {
            Assert.False(calm.IsCompleted);
            _clock.Advance(TimeSpan.FromMilliseconds(25));
            await Task.Yield();
        }

        Assert.True(_shedder.IsShedding);
        Pass(windows: 20, TimeSpan.Zero, cpuShare: 0.2);
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
        _shedder.Observe(LoadShedder.Courtesy * 2);
        Assert.False(_shedder.IsShedding);
        var courteous = _shedder.WaitAsync(TimeSpan.FromMinutes(1), CancellationToken.None).AsTask();
        Assert.False(courteous.IsCompleted);
        _clock.Advance(TimeSpan.FromMilliseconds(25));
        await courteous.WaitAsync(TimeSpan.FromSeconds(20));
    }

    [Fact]
    public void Sheds_WaitIsShortOnce_IsNoOverload()
    {
        for (var i = 0; i < 50; i++)
        {
            Pass(windows: 1, i % 2 == 0 ? Long : TimeSpan.Zero, lastIsShort: true);
        }

        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_CoresUsedByOthers_IsNoOverload()
    {
        Pass(windows: 10, Long, cpuShare: 0.1);
        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_FewEvents_IsNoOverload()
    {
        Pass(windows: 10, Long, events: 10);
        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_FewEventsInALongWindow_IsNoOverload()
    {
        for (var look = 0; look < 3; look++)
        {
            for (var e = 0; e < 100; e++)
            {
                _shedder.Count();
            }

            _clock.Advance(LoadShedder.Window * 10);
            _cpu += LoadShedder.Window * 10 * Environment.ProcessorCount;
            _shedder.Observe(Long);
        }

        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_NoAnswerInTime_IsOverloadThoughTheCoresAreIdleAtTimes()
    {
        Pass(windows: 10, TimeSpan.FromMilliseconds(3), answer: LoadShedder.AnswerTarget * 2);
        Assert.Equal(100, Refused(EventClass.Bulk));
        Pass(windows: 10, TimeSpan.Zero, cpuShare: 0.2, answer: TimeSpan.FromMilliseconds(1));
        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_SlowDiskAndIdleCores_IsNoOverload()
    {
        Pass(windows: 10, TimeSpan.Zero, cpuShare: 0.1, answer: LoadShedder.AnswerTarget * 2);
        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_WaitEnds_TakesAllAgainWithinASecond()
    {
        Pass(windows: 20, Long);
        Assert.Equal(100, Refused(EventClass.Message));
        Pass(windows: 5, TimeSpan.Zero, cpuShare: 0.2);
        Assert.Equal(0, Refused(EventClass.Message));
        Pass(windows: 5, TimeSpan.Zero, cpuShare: 0.2);
        Assert.False(_shedder.IsShedding);
    }

    [Fact]
    public void Sheds_WaitOverWhereItSettles_RefusesMoreButBeginsNothing()
    {
        var between = (LoadShedder.Settled + LoadShedder.Target) / 2;
        Pass(windows: 10, between);
        Assert.False(_shedder.IsShedding);
        Pass(windows: 1, LoadShedder.Target * 1.2);
        Pass(windows: 1, between);
        var before = Refused(EventClass.Bulk, of: 10_000);
        Pass(windows: 2, between);
        Assert.InRange(Refused(EventClass.Bulk, of: 10_000), before + 200, 10_000);
        Pass(windows: 20, between);
        Assert.Equal(100, Refused(EventClass.Bulk));
        Assert.True(Refused(EventClass.Message) > 10);
    }

    [Fact]
    public void Sheds_WaitShrinksButIsStillTooLong_RefusesNoMore()
    {
        Pass(windows: 2, Long * 2);
        var before = Refused(EventClass.Bulk, of: 10_000);
        for (var wait = Long * 2; wait > LoadShedder.Target; wait -= LoadShedder.Target)
        {
            _shedder.Observe(wait);
        }

        Assert.InRange(Refused(EventClass.Bulk, of: 10_000), 0, before);
    }

    [Fact]
    public void Sheds_WaitIsAroundTheTarget_RefusesAsMuchAsBefore()
    {
        Pass(windows: 2, Long);
        Pass(windows: 1, LoadShedder.Settled);
        var before = Refused(EventClass.Bulk, of: 10_000);
        Assert.InRange(before, 500, 9_500);
        for (var i = 0; i < 20; i++)
        {
            Pass(windows: 1, LoadShedder.Settled * 1.2);
            Pass(windows: 1, LoadShedder.Settled * 0.8);
        }

        Assert.InRange(Refused(EventClass.Bulk, of: 10_000), before * 3 / 4, before * 4 / 3);
    }

    [Fact]
    public void Sheds_CoresJustBusy_FallsSlowly()
    {
        Pass(windows: 20, Long);
        Pass(windows: 10, LoadShedder.Settled);
        Assert.InRange(Refused(EventClass.Message, of: 10_000), 5_000, 10_000);
    }

    [Fact]
    public void Sheds_NoWaitWhileCoresAreBusy_FallsAtOnceThenSlower()
    {
        Pass(windows: 20, Long);
        Pass(windows: 2, TimeSpan.Zero);
        Assert.InRange(Refused(EventClass.Message, of: 10_000), 2_000, 8_000);
        Pass(windows: 6, TimeSpan.Zero, cpuShare: 0.78);
        Assert.InRange(Refused(EventClass.Message, of: 10_000), 0, 100);
        Assert.InRange(Refused(EventClass.Bulk, of: 10_000), 5_000, 10_000);
    }

    [Fact]
    public void Sheds_OneLongWaitWhileShedding_AddsLittleBeyondItself()
    {
        Pass(windows: 3, Long);
        Pass(windows: 20, TimeSpan.Zero);
        var before = Refused(EventClass.Bulk, of: 10_000);
        _shedder.Observe(Long);
        _shedder.Observe(TimeSpan.Zero);
        Assert.InRange(Refused(EventClass.Bulk, of: 10_000), before - 200, before + (before / 8) + 200);
    }

    [Fact]
    public void Sheds_CrowdWithoutOverload_IsLetIn()
    {
        _inside = 10_000 * Environment.ProcessorCount;
        Pass(windows: 20, TimeSpan.Zero);
        Assert.Equal(0, Refused(EventClass.Transient));
        Assert.False(_shedder.IsWatchful);
    }

    [Fact]
    public void Sheds_CrowdInOverload_IsRefusedByClassBeforeAnythingIsMeasured()
    {
        Pass(windows: 1, Long);
        Assert.InRange(Refused(EventClass.Bulk), 1, 99);
        _inside = LoadShedder.CrowdOfMessages * Environment.ProcessorCount;
        Assert.Equal(100, Refused(EventClass.Bulk));
        Assert.Equal(100, Refused(EventClass.Transient));
        Assert.Equal(0, Refused(EventClass.Message));
        _inside = (LoadShedder.CrowdOfMessages + LoadShedder.CrowdOfCalls) / 2 * Environment.ProcessorCount;
        Assert.InRange(Refused(EventClass.Message, of: 10_000), 4_500, 5_500);
        _inside = LoadShedder.CrowdOfCalls * Environment.ProcessorCount;
        Assert.Equal(100, Refused(EventClass.Message));
        Assert.Equal(0, Refused(EventClass.Call));
        _inside = LoadShedder.Few;
        Assert.InRange(Refused(EventClass.Bulk), 1, 99);
    }

    [Fact]
    public void Sheds_CrowdAfterOverload_IsRefusedUntilThoseWhoObeyAreBack()
    {
        Pass(windows: 3, Long);
        Pass(windows: 20, TimeSpan.Zero, cpuShare: 0.2);
        Assert.False(_shedder.IsShedding);
        Assert.Equal(0, Refused(EventClass.Bulk));
        _inside = LoadShedder.CrowdOfCalls * Environment.ProcessorCount;
        Assert.Equal(100, Refused(EventClass.Message));
        Pass(windows: 50, TimeSpan.Zero, cpuShare: 0.2);
        Assert.False(_shedder.IsWatchful);
        Assert.Equal(0, Refused(EventClass.Bulk));
    }

    [Fact]
    public void Sheds_InPart_TheSameSendersAgainAndMostOthersNever()
    {
        var share = ShareOfBulk();
        var refused = Enumerable.Range(0, 1_000).Select(sender => Enumerable.Range(0, 50).Count(_ => _shedder.Sheds(EventClass.Bulk, sender))).ToArray();
        Assert.InRange(refused.Sum() / 50_000.0, share - 0.05, share + 0.05);
        Assert.InRange(refused.Count(static times => times == 50) / 1_000.0, share * 0.5, share * 0.7);
        Assert.InRange(refused.Count(static times => times == 0) / 1_000.0, 1 - (share * 1.5), 1 - (share * 1.3));
    }

    [Fact]
    public void Sheds_InPartForARound_EachSenderIsRefusedForItsPartOfIt()
    {
        var refused = new int[200];
        ShareOfBulk();
        var looks = (int)(SenderCircle.Round / LoadShedder.Window);
        for (var look = 0; look < looks; look++)
        {
            Pass(windows: 1, LoadShedder.Settled);
            for (var sender = 0; sender < refused.Length; sender++)
            {
                refused[sender] += _shedder.Sheds(EventClass.Bulk, sender) ? 1 : 0;
            }
        }

        var all = refused.Sum();
        Assert.InRange(all, refused.Length * looks / 10, refused.Length * looks / 2);
        Assert.All(refused, times => Assert.InRange(times, all / refused.Length * 0.8, all / refused.Length * 1.2));
    }

    // Some third of it; where the wait settles, the share stays.
    private double ShareOfBulk()
    {
        while (Refused(EventClass.Bulk, of: 1_000) < 250)
        {
            Pass(windows: 1, LoadShedder.Target * 1.2);
        }

        Pass(windows: 1, LoadShedder.Settled);
        var share = Refused(EventClass.Bulk, of: 100_000) / 100_000.0;
        Assert.InRange(share, 0.15, 0.5);
        return share;
    }

    private int Refused(EventClass @class, int of = 100) => Enumerable.Range(0, of).Count(sender => _shedder.Sheds(@class, sender));

    private void Pass(int windows, TimeSpan wait, double cpuShare = 1, int events = 100, bool lastIsShort = false, TimeSpan? answer = null)
    {
        for (var i = 0; i < windows * 10; i++)
        {
            for (var e = 0; e < events / 10; e++)
            {
                _shedder.Count();
                if (answer is { } late)
                {
                    _shedder.Answered(late);
                }
            }

            _clock.Advance(LoadShedder.Window / 10);
            _cpu += LoadShedder.Window / 10 * Environment.ProcessorCount * cpuShare;
            _shedder.Observe(lastIsShort && i % 10 == 9 ? TimeSpan.Zero : wait);
        }
    }
}
