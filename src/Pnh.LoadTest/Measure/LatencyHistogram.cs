using System.Diagnostics;
using System.Numerics;

namespace Pnh.LoadTest.Measure;

/// <summary>Times in steps of 1.6 %: 64 steps per power of two. Negative counts as zero. Adding allocates nothing.</summary>
internal sealed class LatencyHistogram
{
    private const int Steps = 64;
    private readonly long[] _counts = new long[Steps * 59];
    private long _sum;

    public long Count { get; private set; }

    public double MaxMilliseconds { get; private set; }

    public double MeanMilliseconds => Count == 0 ? double.NaN : 1000.0 * _sum / Count / Stopwatch.Frequency;

    /// <param name="ticks">Of Stopwatch.</param>
    public void Add(long ticks)
    {
        ticks = Math.Max(0, ticks);
        _counts[Position(ticks)]++;
        Count++;
        _sum += ticks;
        MaxMilliseconds = Math.Max(MaxMilliseconds, 1000.0 * ticks / Stopwatch.Frequency);
    }

    /// <summary>Milliseconds below which that part of the times lies; NaN without any.</summary>
    public double At(double quantile)
    {
        if (Count == 0)
        {
            return double.NaN;
        }

        var wanted = Math.Max(1, (long)Math.Ceiling(quantile * Count));
        var position = -1;
        while (wanted > 0)
        {
            wanted -= _counts[++position];
        }

        return Math.Min(MaxMilliseconds, 1000.0 * Value(position) / Stopwatch.Frequency);
    }

    /// <summary>Everything in it, to be added to another one.</summary>
    public HistogramData Data => new(
        [.. _counts.Select(static (count, position) => (count, position)).Where(static pair => pair.count > 0).SelectMany(static pair => new[] { pair.position, pair.count })],
        _sum,
        MaxMilliseconds);

    /// <summary>Takes in what another one held.</summary>
    public void Add(HistogramData data)
    {
        for (var i = 0; i < data.Counts.Length; i += 2)
        {
            _counts[data.Counts[i]] += data.Counts[i + 1];
            Count += data.Counts[i + 1];
        }

        _sum += data.Sum;
        MaxMilliseconds = Math.Max(MaxMilliseconds, data.MaxMilliseconds);
    }

    // The first 64 values exactly, then the upper 6 bits below the highest.
    private static int Position(long value)
    {
        var shift = Math.Max(0, 63 - BitOperations.LeadingZeroCount((ulong)value) - 6);
        return (int)((shift * Steps) + (value >> shift));
    }

    // The highest value of a position.
    private static long Value(int position)
    {
        var shift = Math.Max(0, (position / Steps) - 1);
        return ((position - (shift * (long)Steps) + 1) << shift) - 1;
    }
}

/// <summary>A histogram on its way to another process: position and count, in turn.</summary>
internal sealed record HistogramData(long[] Counts, long Sum, double MaxMilliseconds);
