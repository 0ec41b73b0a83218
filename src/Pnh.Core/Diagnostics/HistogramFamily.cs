using System.Buffers;

namespace Pnh.Core.Diagnostics;

/// <summary>Histograms of durations under one name, in seconds. Adding is for start-up and first use; reading and recording never lock.</summary>
internal sealed class HistogramFamily : MetricFamily
{
    private readonly Lock _adding = new();
    private readonly double[] _bounds;
    private volatile Child[] _children = [];

    public HistogramFamily(string name, string help, ReadOnlySpan<double> bounds, params string[] labelNames)
        : base(name, "histogram", help, labelNames)
    {
        _bounds = bounds.ToArray();
    }

    /// <summary>A new histogram, exported under these label values from now on.</summary>
    public Histogram Add(params string[] labelValues)
    {
        var histogram = new Histogram(_bounds);
        var buckets = new byte[histogram.BucketCount][];
        for (var i = 0; i < buckets.Length; i++)
        {
            buckets[i] = EncodePrefix("_bucket", labelValues, PrometheusText.Format(i < _bounds.Length ? _bounds[i] : double.PositiveInfinity));
        }

        var child = new Child(buckets, EncodePrefix("_sum", labelValues), EncodePrefix("_count", labelValues), histogram);
        lock (_adding)
        {
            _children = [.. _children, child];
        }

        return histogram;
    }

    public override void Write(IBufferWriter<byte> output)
    {
        var children = _children;
        if (children.Length == 0)
        {
            return;
        }

        WriteHead(output);
        Span<long> counts = stackalloc long[_bounds.Length + 1];
        foreach (var child in children)
        {
            // The sum first and the count from the same reading as the buckets: a scrape in the middle of a record stays consistent.
            var sum = child.Histogram.SumSeconds;
            var total = child.Histogram.Read(counts);
            long cumulated = 0;
            for (var i = 0; i < counts.Length; i++)
            {
                cumulated += counts[i];
                PrometheusText.WriteSample(output, child.Buckets[i], cumulated);
            }

            PrometheusText.WriteSample(output, child.Sum, sum);
            PrometheusText.WriteSample(output, child.Count, total);
        }
    }

    private readonly record struct Child(byte[][] Buckets, byte[] Sum, byte[] Count, Histogram Histogram);
}
