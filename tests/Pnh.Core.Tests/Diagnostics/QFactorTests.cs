using Pnh.Core.Diagnostics;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class QFactorTests
{
    /// <summary>The worked example of the doc comment.</summary>
    [Fact]
    public void Value_WorkedExample_Is2000()
    {
        var q = new QFactor();
        q.Add(TimeSpan.Zero, 10_000, TimeSpan.FromSeconds(40));
        q.Add(TimeSpan.FromSeconds(60), 16_000, TimeSpan.FromSeconds(43));
        Assert.Equal(2_000, q.Value, 6);
    }

    [Fact]
    public void Value_NoSampleOrOne_IsZero()
    {
        var q = new QFactor();
        Assert.Equal(0, q.Value);
        q.Add(TimeSpan.Zero, 500, TimeSpan.FromSeconds(2));
        Assert.Equal(0, q.Value);
    }

    [Fact]
    public void Value_NoCpuUsed_IsZero()
    {
        var q = new QFactor();
        q.Add(TimeSpan.Zero, 0, TimeSpan.FromSeconds(1));
        q.Add(TimeSpan.FromSeconds(1), 100, TimeSpan.FromSeconds(1));
        Assert.Equal(0, q.Value);
    }

    [Fact]
    public void Value_LessThanAMinute_UsesWhatThereIs()
    {
        var q = new QFactor();
        q.Add(TimeSpan.FromSeconds(5), 0, TimeSpan.FromSeconds(1));
        q.Add(TimeSpan.FromSeconds(6), 300, TimeSpan.FromSeconds(1.5));
        Assert.Equal((600, 0.5), (Math.Round(q.Value, 6), Math.Round(q.Cores, 6)));
    }

    [Fact]
    public void Value_LoadLongerThanTheRing_CountsTheLastMinuteOnly()
    {
        // 300 s at 100 served and 0.1 CPU seconds a second, then 60 s at 10 and 0.1: Q falls from 1,000 to 100 and holds nothing older.
        var q = new QFactor();
        long served = 0;
        var cpu = TimeSpan.Zero;
        for (var second = 0; second <= 360; second++)
        {
            q.Add(TimeSpan.FromSeconds(second), served, cpu);
            if (second == 300)
            {
                Assert.Equal(1_000, q.Value, 6);
            }

            served += second < 300 ? 100 : 10;
            cpu += TimeSpan.FromSeconds(0.1);
        }

        Assert.Equal(100, q.Value, 6);
    }

    [Fact]
    public void Value_SamplerWasLate_StartsAtTheLastSampleBeforeTheWindow()
    {
        var q = new QFactor();
        q.Add(TimeSpan.Zero, 0, TimeSpan.Zero);
        q.Add(TimeSpan.FromSeconds(10), 100, TimeSpan.FromSeconds(1));
        q.Add(TimeSpan.FromSeconds(75), 1_100, TimeSpan.FromSeconds(2));
        Assert.Equal(1_000, q.Value, 6);
    }
}
