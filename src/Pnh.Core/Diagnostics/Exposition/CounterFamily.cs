using System.Buffers;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>Counters under one name. Adding is for start-up and first use; reading and counting never lock.</summary>
internal sealed class CounterFamily : MetricFamily
{
    private readonly Lock _adding = new();
    private volatile Child[] _children = [];

    public CounterFamily(string name, string help, params string[] labelNames)
        : base(name, "counter", help, labelNames)
    {
    }

    /// <summary>Exports <paramref name="counter"/> under these label values from now on.</summary>
    public void Add(Counter counter, params string[] labelValues)
    {
        var child = new Child(EncodePrefix(Labels(labelValues)), counter);
        lock (_adding)
        {
            _children = [.. _children, child];
        }
    }

    public override void Write(IBufferWriter<byte> output)
    {
        var children = _children;
        if (children.Length == 0)
        {
            return;
        }

        WriteHead(output);
        foreach (var child in children)
        {
            PrometheusText.WriteSample(output, child.Prefix, child.Counter.Value);
        }
    }

    private readonly record struct Child(byte[] Prefix, Counter Counter);
}
