using Pnh.Channels.Fcm;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmPaceTests
{
    private static readonly TimeSpan Most = TimeSpan.FromSeconds(5);

    // Seven minutes past: no quarter hour near.
    private readonly FakeTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 12, 7, 0, TimeSpan.Zero));

    [Fact]
    public void Take_DemandAboveTheQuota_EvenInsideTheMinute()
    {
        var pace = new FcmPace(60_000, _time);
        Run(pace, TimeSpan.FromSeconds(90));

        // The ramp is over: 1,000 a second, in each tenth of a second as many.
        for (var i = 0; i < 100; i++)
        {
            Assert.InRange(Run(pace, TimeSpan.FromMilliseconds(100)), 95, 105);
        }
    }

    [Fact]
    public void Take_FromTheStart_RampsUpOverAMinute()
    {
        var pace = new FcmPace(60_000, _time);

        var seconds = Enumerable.Range(0, 70).Select(_ => Run(pace, TimeSpan.FromSeconds(1))).ToArray();

        Assert.InRange(seconds[0], 45, 160);
        Assert.InRange(seconds[30], 450, 600);
        Assert.InRange(seconds[69], 990, 1_010);
        Assert.InRange(seconds[..60].Sum(), 29_000, 33_000);
    }

    [Fact]
    public void Exceeded_SilenceThenTheRampAnew()
    {
        var pace = new FcmPace(60_000, _time);
        Run(pace, TimeSpan.FromSeconds(90));

        pace.Exceeded(TimeSpan.FromSeconds(30));

        Assert.Equal(TimeSpan.FromSeconds(30), pace.Pause);
        Assert.Equal(0, Run(pace, TimeSpan.FromSeconds(20)));
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(TimeSpan.Zero, pace.Pause);
        Assert.InRange(Run(pace, TimeSpan.FromSeconds(1)), 40, 160);
    }

    [Fact]
    public void Take_Call_AtOnceThoughTheBulkWaits()
    {
        var pace = new FcmPace(60, _time);
        while (pace.Take(EventClass.Bulk, Most) is { } wait && wait < Most)
        {
        }

        Assert.Equal(TimeSpan.Zero, pace.Take(EventClass.Call, Most));
    }

    [Fact]
    public void Take_BulkAroundAQuarterHour_AQuarterOfThePaceOthersAll()
    {
        var pace = new FcmPace(60_000, _time);
        Run(pace, TimeSpan.FromSeconds(90));
        var before = Run(pace, TimeSpan.FromSeconds(1), EventClass.Bulk);
        while (_time.GetUtcNow().Minute < 14)
        {
            Run(pace, TimeSpan.FromSeconds(10));
        }

        var near = Run(pace, TimeSpan.FromSeconds(10), EventClass.Bulk) / 10;
        var messages = Run(pace, TimeSpan.FromSeconds(1));

        Assert.InRange(before, 990, 1_010);
        Assert.InRange(near, 200, 300);

        // What the bulk left of the last tenth of a second comes on top.
        Assert.InRange(messages, 990, 1_110);
    }

    /// <summary>Takes what there is without a wait, in steps of a millisecond, and counts it.</summary>
    private int Run(FcmPace pace, TimeSpan time, EventClass @class = EventClass.Message)
    {
        var taken = 0;
        for (var end = _time.GetUtcNow() + time; _time.GetUtcNow() < end; _time.Advance(TimeSpan.FromMilliseconds(1)))
        {
            while (pace.Take(@class, TimeSpan.Zero) is not null)
            {
                taken++;
            }
        }

        return taken;
    }
}
