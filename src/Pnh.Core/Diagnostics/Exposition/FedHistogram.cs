using System.Diagnostics;
using Prometheus;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>A histogram of the library and the durations that it follows. One collect at a time.</summary>
internal sealed class FedHistogram(Histogram.Child histogram, StripedDurations durations)
{
    private static readonly Exemplar.LabelKey TraceId = Exemplar.Key("trace_id");
    private static readonly Exemplar.LabelKey SpanId = Exemplar.Key("span_id");
    private readonly (long Count, long Ticks)[] _fed = new (long, long)[durations.BucketCount];

    /// <summary>
    /// Observes what came since the last time. The library takes values, not sums: each bucket's new ones count with their mean, which lies in the bucket too, so that the counts are
    /// exact, and so is the sum, but for what is being recorded at that moment.
    /// </summary>
    public void Collect()
    {
        for (var bucket = 0; bucket < _fed.Length; bucket++)
        {
            var (count, ticks) = durations.Read(bucket);
            var fresh = count - _fed[bucket].Count;
            if (fresh == 0)
            {
                continue;
            }

            // One that is being recorded may be in the sum and not in the count: what is out of the range then is made up for the next time.
            var (least, most) = durations.RangeOf(bucket);
            var sum = (long)Int128.Clamp(ticks - _fed[bucket].Ticks, (Int128)least * fresh, (Int128)most * fresh);
            _fed[bucket] = (count, _fed[bucket].Ticks + sum);
            if (durations.TakeTraced(bucket) is { } traced && ExemplarOf(traced.TraceParent) is { } exemplar
                && sum - traced.Ticks is var rest && rest >= (Int128)least * (fresh - 1) && rest <= (Int128)most * (fresh - 1))
            {
                histogram.Observe(SecondsOf(traced.Ticks), exemplar);
                (sum, fresh) = (rest, fresh - 1);
            }

            if (fresh > 0)
            {
                histogram.Observe(SecondsOf((double)sum / fresh), fresh);
            }
        }
    }

    private static double SecondsOf(double ticks) => ticks / TimeSpan.TicksPerSecond;

    // What a publisher sent as its trace is held to the form before it stands on the page.
    private static Exemplar? ExemplarOf(string traceParent) => ActivityContext.TryParse(traceParent, traceState: null, out var trace)
        ? Exemplar.From(TraceId.WithValue(trace.TraceId.ToHexString()), SpanId.WithValue(trace.SpanId.ToHexString()))
        : null;
}
