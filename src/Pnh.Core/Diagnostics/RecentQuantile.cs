using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// A quantile of what some histograms of equal buckets recorded in the last 60 s: the difference of two readings, interpolated inside the
/// bucket as PromQL's <c>histogram_quantile</c> does. For the console; Prometheus computes its own. One thread at a time.
/// </summary>
internal sealed class RecentQuantile
{
    private const int Window = 60;

    private readonly StripedDurations[] _histograms;
    private readonly long[][] _ring;
    private readonly long[] _scratch;
    private int _count;

    public RecentQuantile(params StripedDurations[] histograms)
    {
        _histograms = histograms;
        _scratch = new long[histograms[0].BucketCount];
        _ring = new long[Window + 1][];
        for (var i = 0; i < _ring.Length; i++)
        {
            _ring[i] = new long[_scratch.Length];
        }
    }

    /// <summary>Keeps a reading; once a second.</summary>
    public void Sample() => ReadInto(_ring[_count++ % _ring.Length]);

    /// <summary>The quantile in seconds (the last finite bound when it lies beyond); null when nothing was recorded in the window.</summary>
    /// <param name="quantile">0 to 1.</param>
    public double? Read(double quantile)
    {
        Span<long> now = stackalloc long[_scratch.Length];
        ReadInto(now);
        if (_count > 0)
        {
            var start = _ring[_count < _ring.Length ? 0 : _count % _ring.Length];
            for (var i = 0; i < now.Length; i++)
            {
                now[i] -= start[i];
            }
        }

        return Interpolate(now, _histograms[0].Bounds, quantile);
    }

    private static double? Interpolate(ReadOnlySpan<long> buckets, ReadOnlySpan<double> bounds, double quantile)
    {
        long total = 0;
        foreach (var bucket in buckets)
        {
            total += bucket;
        }

        if (total == 0)
        {
            return null;
        }

        var rank = quantile * total;
        long below = 0;
        for (var i = 0; i < bounds.Length; i++)
        {
            if (buckets[i] > 0 && below + buckets[i] >= rank)
            {
                var floor = i == 0 ? 0 : bounds[i - 1];
                return floor + ((bounds[i] - floor) * Math.Max(0, rank - below) / buckets[i]);
            }

            below += buckets[i];
        }

        return bounds[^1];
    }

    private void ReadInto(Span<long> sums)
    {
        sums.Clear();
        foreach (var histogram in _histograms)
        {
            histogram.Read(_scratch);
            for (var i = 0; i < sums.Length; i++)
            {
                sums[i] += _scratch[i];
            }
        }
    }
}
