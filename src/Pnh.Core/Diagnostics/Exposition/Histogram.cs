namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// A histogram of durations with fixed buckets. Counts and sum are striped per core; the sum is kept in 100 ns ticks so that it is a plain
/// add, exact, and lasts for 29,000 years of waiting.
/// </summary>
internal sealed class Histogram
{
    private readonly StripedCells _cells;
    private readonly long[] _boundTicks;
    private readonly double[] _bounds;

    /// <summary>Empty.</summary>
    /// <param name="bounds">Upper bounds in seconds, rising; the bucket to infinity is added.</param>
    public Histogram(ReadOnlySpan<double> bounds)
    {
        _bounds = bounds.ToArray();
        _boundTicks = new long[bounds.Length];
        for (var i = 0; i < bounds.Length; i++)
        {
            _boundTicks[i] = (long)Math.Round(bounds[i] * TimeSpan.TicksPerSecond);
            if (i > 0 && _boundTicks[i] <= _boundTicks[i - 1])
            {
                throw new ArgumentException("Bucket bounds must rise.", nameof(bounds));
            }
        }

        _cells = new StripedCells(bounds.Length + 2);
    }

    /// <summary>Upper bounds in seconds, without infinity.</summary>
    public ReadOnlySpan<double> Bounds => _bounds;

    /// <summary>Buckets including the one to infinity: the length that <see cref="Read"/> needs.</summary>
    public int BucketCount => _bounds.Length + 1;

    /// <summary>The sum of everything recorded, in seconds.</summary>
    public double SumSeconds => _cells.Read(_bounds.Length + 1) / (double)TimeSpan.TicksPerSecond;

    /// <summary>Counts one duration; a negative one (clocks of two machines) counts as zero.</summary>
    public void Record(TimeSpan duration)
    {
        var ticks = Math.Max(0, duration.Ticks);
        var bucket = 0;
        while (bucket < _boundTicks.Length && ticks > _boundTicks[bucket])
        {
            bucket++;
        }

        _cells.Add(bucket, 1);
        _cells.Add(_boundTicks.Length + 1, ticks);
    }

    /// <summary>Fills in the count of each bucket (not cumulated) and returns their total.</summary>
    public long Read(Span<long> buckets)
    {
        long total = 0;
        for (var i = 0; i < BucketCount; i++)
        {
            buckets[i] = _cells.Read(i);
            total += buckets[i];
        }

        return total;
    }
}
