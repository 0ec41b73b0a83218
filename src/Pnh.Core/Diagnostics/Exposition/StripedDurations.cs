namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// Durations counted by bucket, for the hot path. Counts and sums are striped per core; a sum is kept in 100 ns ticks so that it is a plain
/// add, exact, and lasts for 29,000 years of waiting. Thread-safe, allocates nothing after construction but one object per bucket and collect for a traced duration.
/// </summary>
internal sealed class StripedDurations
{
    private readonly StripedCells _cells;
    private readonly long[] _boundTicks;
    private readonly double[] _bounds;
    private readonly TracedDuration?[] _traced;

    /// <summary>Empty.</summary>
    /// <param name="bounds">Upper bounds in seconds, rising; the bucket to infinity is added.</param>
    public StripedDurations(ReadOnlySpan<double> bounds)
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

        _cells = new StripedCells(2 * BucketCount);
        _traced = new TracedDuration?[BucketCount];
    }

    /// <summary>Upper bounds in seconds, without infinity.</summary>
    public ReadOnlySpan<double> Bounds => _bounds;

    /// <summary>Buckets including the one to infinity: the length that <see cref="Read(Span{long})"/> needs.</summary>
    public int BucketCount => _bounds.Length + 1;

    /// <summary>Counts one duration; a negative one (clocks of two machines) counts as zero.</summary>
    /// <param name="duration">How long it took.</param>
    /// <param name="traceParent">The trace that it belongs to (https://www.w3.org/TR/trace-context/#traceparent-header); null = none. The first of a bucket is kept until it is taken.</param>
    public void Record(TimeSpan duration, string? traceParent = null)
    {
        var ticks = Math.Max(0, duration.Ticks);
        var bucket = 0;
        while (bucket < _boundTicks.Length && ticks > _boundTicks[bucket])
        {
            bucket++;
        }

        // The sum first: who reads the count first finds the sum of all that it counted.
        _cells.Add(BucketCount + bucket, ticks);
        _cells.Add(bucket, 1);
        if (traceParent is not null && Volatile.Read(ref _traced[bucket]) is null)
        {
            Volatile.Write(ref _traced[bucket], new TracedDuration(traceParent, ticks));
        }
    }

    /// <summary>How many the bucket has (not cumulated), and their sum in ticks, which may be ahead of the count.</summary>
    public (long Count, long Ticks) Read(int bucket)
    {
        var count = _cells.Read(bucket);
        return (count, _cells.Read(BucketCount + bucket));
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

    /// <summary>The smallest and the greatest duration of the bucket, in ticks.</summary>
    public (long Least, long Most) RangeOf(int bucket) =>
        (bucket == 0 ? 0 : _boundTicks[bucket - 1] + 1, bucket < _boundTicks.Length ? _boundTicks[bucket] : long.MaxValue);

    /// <summary>The traced duration that was kept for the bucket, and room for the next; null = none came.</summary>
    public TracedDuration? TakeTraced(int bucket) => Interlocked.Exchange(ref _traced[bucket], null);
}

/// <summary>A duration of a request that somebody traces.</summary>
/// <param name="TraceParent">As the publisher sent it.</param>
/// <param name="Ticks">How long it took, in 100 ns.</param>
internal sealed record TracedDuration(string TraceParent, long Ticks);
