using Pnh.Core.Threads;

namespace Pnh.Core.Tests.Threads;

public sealed class BatchWhileBusyTests
{
    private const long Second = 1_000_000;

    [Fact]
    public void Found_ManyThingsThenFew_ThreadIsBatchMeanwhile() => OnAThread(static () =>
    {
        var busy = new BatchWhileBusy(Second);
        var usual = Policy();
        var now = Find(busy, 0, perSecond: 2 * BatchWhileBusy.Busy);
        Assert.True(busy.IsOn);
        Assert.Equal(SchedulerAttributes.Batch, Policy());
        now = Find(busy, now, perSecond: BatchWhileBusy.Busy * 3 / 4);
        Assert.True(busy.IsOn);
        Find(busy, now, perSecond: BatchWhileBusy.Busy / 4);
        Assert.False(busy.IsOn);
        Assert.Equal(usual, Policy());
    });

    [Fact]
    public void Found_NothingForAWhile_IsUsualAgain() => OnAThread(static () =>
    {
        var busy = new BatchWhileBusy(Second);
        var now = Find(busy, 0, perSecond: 2 * BatchWhileBusy.Busy);
        busy.Found(0, now + 1);
        Assert.False(busy.IsOn);
        Assert.Equal(SchedulerAttributes.Other, Policy());
    });

    [Fact]
    public void Found_ManyAtOnceAfterAPause_IsNotBusyYet() => OnAThread(static () =>
    {
        var busy = new BatchWhileBusy(Second);
        busy.Found(500, Second);
        Assert.False(busy.IsOn);
    });

    [Fact]
    public void Found_SliceWasShort_StaysShort() => OnAThread(static () =>
    {
        Assert.True(ShortSlice.Take());
        var slice = ShortSlice.Read();
        Find(new BatchWhileBusy(Second), 0, perSecond: 2 * BatchWhileBusy.Busy);
        Assert.Equal(SchedulerAttributes.Batch, Policy());
        Assert.Equal(slice, ShortSlice.Read());
    });

    // A tenth of a second, 1 ms at a time.
    private static long Find(BatchWhileBusy busy, long now, int perSecond)
    {
        for (var i = 0; i < 100; i++)
        {
            busy.Found(perSecond / 1000, now += Second / 1000);
        }

        return now;
    }

    private static uint Policy() => SchedulerAttributes.TryRead(out var attributes) ? attributes.Policy : uint.MaxValue;

    // One of its own, which ends with what was set.
    private static void OnAThread(Action test)
    {
        Exception? failure = null;
        var thread = new Thread(() => failure = Record.Exception(test));
        thread.Start();
        thread.Join();
        Assert.Null(failure);
    }
}
