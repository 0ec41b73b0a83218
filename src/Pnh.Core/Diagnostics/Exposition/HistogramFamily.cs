using System.Buffers;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>Histograms of durations under one name, in seconds. Adding is for start-up and first use; reading and recording never lock.</summary>
internal sealed class HistogramFamily : MetricFamily
{
    private readonly Lock _adding = new();
    private readonly double[] _bounds;
    private volatile HistogramSeries[] _series = [];

    public HistogramFamily(string name, string help, ReadOnlySpan<double> bounds, params string[] labelNames)
        : base(name, "histogram", help, labelNames)
    {
        _bounds = bounds.ToArray();
    }

    /// <summary>A new histogram, exported under these label values from now on.</summary>
    public Histogram Add(params string[] labelValues)
    {
        var series = EncodeSeries(new Histogram(_bounds), Labels(labelValues));
        lock (_adding)
        {
            _series = [.. _series, series];
        }

        return series.Histogram;
    }

    public override void Write(IBufferWriter<byte> output)
    {
        var all = _series;
        if (all.Length == 0)
        {
            return;
        }

        WriteHead(output);
        foreach (var series in all)
        {
            series.Write(output);
        }
    }
}
