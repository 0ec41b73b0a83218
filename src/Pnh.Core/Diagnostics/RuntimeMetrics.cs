using System.Diagnostics.Metrics;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The process, the garbage collector, the thread pool, Kestrel and the HTTP client, on the page of the hub's own metrics: <c>process_*</c>,
/// and .NET's built-in meters by allow-list (https://learn.microsoft.com/dotnet/core/diagnostics/built-in-metrics-runtime). Meters belong to
/// the process, so two hubs in one process both see them. Thread-safe.
/// </summary>
public sealed class RuntimeMetrics : IDisposable
{
    private readonly MetricRegistry _registry;
    private readonly Dictionary<string, RuntimeFamily> _families = new(StringComparer.Ordinal);
    private readonly List<RuntimeFamily> _observed = [];
    private readonly Lock _lock = new();
    private readonly Lock _collecting = new();
    private readonly MeterListener _listener = new();
    private bool _disposed;

    /// <summary>Starts to listen, and adds everything to the registry; throws when another one was added to it.</summary>
    public RuntimeMetrics(MetricRegistry registry)
    {
        ArgumentNullException.ThrowIfNull(registry);
        _registry = registry;
        ProcessMetrics.AddTo(registry);
        _listener.InstrumentPublished = Publish;
        _listener.SetMeasurementEventCallback<long>(static (_, value, tags, family) => Record(value, tags, family));
        _listener.SetMeasurementEventCallback<int>(static (_, value, tags, family) => Record(value, tags, family));
        _listener.SetMeasurementEventCallback<double>(static (_, value, tags, family) => Record(value, tags, family));
        _listener.Start();
        registry.BeforeWrite(Collect);
    }

    /// <summary>Stops listening; what was counted stays on the page.</summary>
    public void Dispose()
    {
        lock (_collecting)
        {
            _disposed = true;
            _listener.Dispose();
        }
    }

    private static void Record(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? family) =>
        ((RuntimeFamily)family!).Record(value, tags);

    /// <summary>Several meters of one name (a Kestrel per host) share one family.</summary>
    private void Publish(Instrument instrument, MeterListener listener)
    {
        if (!RuntimeNames.IsExported(instrument) || RuntimeNames.KindOf(instrument) is not { } kind)
        {
            return;
        }

        RuntimeFamily? family;
        lock (_lock)
        {
            var name = RuntimeNames.NameOf(instrument, kind);
            if (!_families.TryGetValue(name, out family))
            {
                family = _registry.Add(new RuntimeFamily(name, kind, instrument.Description ?? instrument.Name));
                _families.Add(name, family);
                if (instrument.IsObservable)
                {
                    _observed.Add(family);
                }
            }
        }

        listener.EnableMeasurementEvents(instrument, family);
    }

    private void Collect()
    {
        // One scrape at a time, or two would add their readings up.
        lock (_collecting)
        {
            if (_disposed)
            {
                return;
            }

            lock (_lock)
            {
                _observed.ForEach(static family => family.Clear());
            }

            _listener.RecordObservableInstruments();
        }
    }
}
