using System.Buffers;
using System.Text;

namespace Pnh.Core.Diagnostics;

/// <summary>All series of one metric name. Texts are encoded once, so that a scrape only copies bytes and formats numbers.</summary>
internal abstract class MetricFamily
{
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

    /// <summary>The bytes before a sample's number: <c>name_suffix{label="value",…} </c>.</summary>
    protected byte[] EncodePrefix(string suffix, IReadOnlyList<string> labelValues, string? le = null)
    {
        if (labelValues.Count != _labelNames.Length)
        {
            throw new ArgumentException($"{Name} has {_labelNames.Length} labels, got {labelValues.Count} values.", nameof(labelValues));
        }

        var text = new StringBuilder(Name).Append(suffix);
        var separator = '{';
        for (var i = 0; i < _labelNames.Length; i++)
        {
            text.Append(separator).Append(_labelNames[i]).Append("=\"").Append(PrometheusText.EscapeLabel(labelValues[i])).Append('"');
            separator = ',';
        }

        if (le is not null)
        {
            text.Append(separator).Append("le=\"").Append(le).Append('"');
            separator = ',';
        }

        return Encoding.UTF8.GetBytes(text.Append(separator == '{' ? " " : "} ").ToString());
    }
}
