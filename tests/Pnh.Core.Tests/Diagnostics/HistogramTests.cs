using Pnh.Core.Diagnostics;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class HistogramTests
{
    [Fact]
    public void Record_AtAndAroundBounds_CountsTheBoundAsInside()
    {
        var histogram = new Histogram([0.001, 0.01]);
        foreach (var milliseconds in new[] { -5.0, 0, 1, 1.0001, 10, 11 })
        {
            histogram.Record(TimeSpan.FromMilliseconds(milliseconds));
        }

        var buckets = new long[histogram.BucketCount];
        Assert.Equal(6, histogram.Read(buckets));
        Assert.Equal([3, 2, 1], buckets);
        Assert.Equal(0.0230001, histogram.SumSeconds, 9);
    }

    [Fact]
    public void Constructor_BoundsNotRising_Throws() => Assert.Throws<ArgumentException>(() => new Histogram([0.1, 0.1]));

    [Fact]
    public void RecentQuantile_OldValuesLeaveTheWindow_CountsOnlyTheLastMinute()
    {
        var histogram = new Histogram([0.001, 0.01, 0.1, 1]);
        var quantile = new RecentQuantile(histogram);
        quantile.Sample();
        Assert.Null(quantile.Read(0.99));

        histogram.Record(TimeSpan.FromMilliseconds(500));
        Assert.InRange(quantile.Read(0.99)!.Value, 0.1, 1);
        for (var second = 0; second < 61; second++)
        {
            quantile.Sample();
        }

        Assert.Null(quantile.Read(0.99));
        for (var i = 0; i < 100; i++)
        {
            histogram.Record(TimeSpan.FromMilliseconds(5));
        }

        // 99 of 100 lie 99 % of the way from 1 ms to 10 ms.
        Assert.Equal(0.001 + (0.009 * 0.99), quantile.Read(0.99)!.Value, 9);
    }

    [Fact]
    public void RecentQuantile_BeyondTheLastBound_SaysTheLastBound()
    {
        var histogram = new Histogram([0.001, 1]);
        var quantile = new RecentQuantile(histogram);
        quantile.Sample();
        histogram.Record(TimeSpan.FromSeconds(50));
        Assert.Equal(1, quantile.Read(0.5));
    }
}
