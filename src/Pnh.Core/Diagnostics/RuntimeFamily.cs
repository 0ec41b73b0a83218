using System.Buffers;
using System.Globalization;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// One instrument of the runtime. Tags outside the list of labels are dropped and what falls together is summed. Series are made on first
/// sight, at most <see cref="MaxSeries"/>; what comes after goes to one with <c>other</c> in every label.
/// </summary>
internal sealed class RuntimeFamily : MetricFamily
{
    /// <summary>Series of one instrument; exceptions by type are the most.</summary>
    public const int MaxSeries = 100;

    private const int MaxLabelCharacters = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Series> _series = new(StringComparer.Ordinal);
    private readonly RuntimeKind _kind;

    public RuntimeFamily(string name, RuntimeKind kind, string help)
        : base(name, kind switch { RuntimeKind.Counter => "counter", RuntimeKind.Gauge => "gauge", _ => "histogram" }, help)
    {
        _kind = kind;
    }

    /// <summary>Before observable instruments report: they report all there is, each time.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            foreach (var series in _series.Values)
            {
                series.Value = 0;
            }
        }
    }

    /// <summary>Adds to a counter or gauge, or records a duration in seconds.</summary>
    public void Record(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        lock (_lock)
        {
            var series = Find(tags);
            series.Value += value;
            series.Histogram?.Histogram.Record(TimeSpan.FromSeconds(Math.Clamp(value, 0, TimeSpan.MaxValue.TotalSeconds / 2)));
        }
    }

    public override void Write(IBufferWriter<byte> output)
    {
        lock (_lock)
        {
            if (_series.Count == 0)
            {
                return;
            }

            WriteHead(output);
            foreach (var series in _series.Values)
            {
                if (series.Histogram is { } histogram)
                {
                    histogram.Write(output);
                }
                else
                {
                    PrometheusText.WriteSample(output, series.Prefix, series.Value);
                }
            }
        }
    }

    private Series Find(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var labels = new List<KeyValuePair<string, string>>(tags.Length);
        foreach (var name in RuntimeNames.Labels)
        {
            foreach (var tag in tags)
            {
                if (tag.Key == name && Convert.ToString(tag.Value, CultureInfo.InvariantCulture) is { Length: > 0 } value)
                {
                    labels.Add(new(RuntimeNames.LabelOf(name), value.Length > MaxLabelCharacters ? value[..MaxLabelCharacters] : value));
                }
            }
        }

        return Find(labels) ?? Find([.. labels.Select(label => KeyValuePair.Create(label.Key, MetricFamily.Other))], force: true)!;
    }

    private Series? Find(List<KeyValuePair<string, string>> labels, bool force = false)
    {
        var key = string.Join('\0', labels.Select(label => $"{label.Key}={label.Value}"));
        if (_series.TryGetValue(key, out var series))
        {
            return series;
        }

        if (_series.Count >= MaxSeries && !force)
        {
            return null;
        }

        var histogram = _kind == RuntimeKind.Histogram ? EncodeSeries(new Histogram(Buckets.Connection), [.. labels]) : null;
        series = new Series(EncodePrefix(labels), histogram);
        _series.Add(key, series);
        return series;
    }

    private sealed class Series
    {
        public Series(byte[] prefix, HistogramSeries? histogram)
        {
            Prefix = prefix;
            Histogram = histogram;
        }

        public byte[] Prefix { get; }

        public HistogramSeries? Histogram { get; }

        public double Value { get; set; }
    }
}
