using Pnh.Core.Diagnostics;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class StripedDurationsTests
{
    [Fact]
    public void Record_AtAndAroundBounds_CountsTheBoundAsInside()
    {
        var durations = new StripedDurations([0.001, 0.01]);
        foreach (var milliseconds in new[] { -5.0, 0, 1, 1.0001, 10, 11 })
        {
            durations.Record(TimeSpan.FromMilliseconds(milliseconds));
        }

        var buckets = new long[durations.BucketCount];
        Assert.Equal(6, durations.Read(buckets));
        Assert.Equal([3, 2, 1], buckets);
        Assert.Equal((3, 10_000), durations.Read(0));
        Assert.Equal((2, 110_001), durations.Read(1));
        Assert.Equal((1, 110_000), durations.Read(2));
    }

    [Fact]
    public void Constructor_BoundsNotRising_Throws() => Assert.Throws<ArgumentException>(() => new StripedDurations([0.1, 0.1]));

    [Fact]
    public void RecentQuantile_OldValuesLeaveTheWindow_CountsOnlyTheLastMinute()
    {
        var durations = new StripedDurations([0.001, 0.01, 0.1, 1]);
        var quantile = new RecentQuantile(durations);
        quantile.Sample();
        Assert.Null(quantile.Read(0.99));

        durations.Record(TimeSpan.FromMilliseconds(500));
        Assert.InRange(quantile.Read(0.99)!.Value, 0.1, 1);
        for (var second = 0; second < 61; second++)
        {
            quantile.Sample();
        }

        Assert.Null(quantile.Read(0.99));
        for (var i = 0; i < 100; i++)
        {
            durations.Record(TimeSpan.FromMilliseconds(5));
        }

        // 99 of 100 lie 99 % of the way from 1 ms to 10 ms.
        Assert.Equal(0.001 + (0.009 * 0.99), quantile.Read(0.99)!.Value, 9);
    }

    [Fact]
    public void RecentQuantile_BeyondTheLastBound_SaysTheLastBound()
    {
        var durations = new StripedDurations([0.001, 1]);
        var quantile = new RecentQuantile(durations);
        quantile.Sample();
        durations.Record(TimeSpan.FromSeconds(50));
        Assert.Equal(1, quantile.Read(0.5));
    }
}
