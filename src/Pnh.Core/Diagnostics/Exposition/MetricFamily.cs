using System.Buffers;
using System.Text;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>All series of one metric name. Texts are encoded once, so that a scrape only copies bytes and formats numbers.</summary>
internal abstract class MetricFamily
{
    /// <summary>The label value for everything beyond a bound: unknown apps, too many channels or queues.</summary>
    internal const string Other = "other";

    private readonly byte[] _head;
    private readonly string[] _labelNames;

    protected MetricFamily(string name, string type, string help, params string[] labelNames)
    {
        PrometheusText.CheckName(name);
        foreach (var label in labelNames)
        {
            PrometheusText.CheckName(label);
        }

        Name = name;
        _labelNames = labelNames;
        _head = Encoding.UTF8.GetBytes($"# HELP {name} {PrometheusText.EscapeHelp(help)}\n# TYPE {name} {type}\n");
    }

    /// <summary>As exported.</summary>
    public string Name { get; }

    /// <summary>Writes HELP, TYPE and the samples; nothing at all while there is no sample.</summary>
    public abstract void Write(IBufferWriter<byte> output);

    protected void WriteHead(IBufferWriter<byte> output) => output.Write(_head);

    /// <summary>The values joined with the family's label names.</summary>
    protected KeyValuePair<string, string>[] Labels(string[] values) => values.Length == _labelNames.Length
        ? [.. _labelNames.Zip(values, KeyValuePair.Create)]
        : throw new ArgumentException($"{Name} has {_labelNames.Length} labels, got {values.Length} values.", nameof(values));

    /// <summary>The bytes before a sample's number: <c>name_suffix{label="value",…} </c>.</summary>
    protected byte[] EncodePrefix(IEnumerable<KeyValuePair<string, string>> labels, string suffix = "")
    {
        var text = new StringBuilder(Name).Append(suffix);
        var separator = '{';
        foreach (var (name, value) in labels)
        {
            text.Append(separator).Append(name).Append("=\"").Append(PrometheusText.EscapeLabel(value)).Append('"');
            separator = ',';
        }

        return Encoding.UTF8.GetBytes(text.Append(separator == '{' ? " " : "} ").ToString());
    }

    /// <summary>A histogram of this family with the beginnings of all its lines.</summary>
    protected HistogramSeries EncodeSeries(Histogram histogram, KeyValuePair<string, string>[] labels)
    {
        var bounds = histogram.Bounds;
        var buckets = new byte[histogram.BucketCount][];
        for (var i = 0; i < buckets.Length; i++)
        {
            var le = PrometheusText.Format(i < bounds.Length ? bounds[i] : double.PositiveInfinity);
            buckets[i] = EncodePrefix([.. labels, KeyValuePair.Create("le", le)], "_bucket");
        }

        return new HistogramSeries(histogram, buckets, EncodePrefix(labels, "_sum"), EncodePrefix(labels, "_count"));
    }
}
