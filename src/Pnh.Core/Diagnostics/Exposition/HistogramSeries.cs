using System.Buffers;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>A histogram and the encoded beginnings of its lines.</summary>
internal sealed record HistogramSeries(Histogram Histogram, byte[][] Buckets, byte[] Sum, byte[] Count)
{
    /// <summary>Writes cumulated buckets, sum and count.</summary>
    public void Write(IBufferWriter<byte> output)
    {
        // The sum first, and the count from the same reading as the buckets: a scrape in the middle of a record stays consistent.
        var sum = Histogram.SumSeconds;
        Span<long> counts = stackalloc long[Buckets.Length];
        var total = Histogram.Read(counts);
        long cumulated = 0;
        for (var i = 0; i < counts.Length; i++)
        {
            cumulated += counts[i];
            PrometheusText.WriteSample(output, Buckets[i], cumulated);
        }

        PrometheusText.WriteSample(output, Sum, sum);
        PrometheusText.WriteSample(output, Count, total);
    }
}
