using Pnh.Core.Diagnostics.Exposition;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The process, the garbage collector, the thread pool, Kestrel and the HTTP client, on the page of the hub's own metrics: <c>process_*</c>,
/// and .NET's built-in meters (https://learn.microsoft.com/dotnet/core/diagnostics/built-in-metrics-runtime) through the library's adapter. Meters belong to
/// the process, so two hubs in one process both see them. Thread-safe.
/// </summary>
public sealed class RuntimeMetrics : IDisposable
{
    private readonly IDisposable _adapter;

    /// <summary>Starts to listen, and adds everything to the registry.</summary>
    public RuntimeMetrics(CollectorRegistry registry)
    {
        ProcessMetrics.AddTo(new CollectFeed(registry));
        _adapter = MeterAdapter.StartListening(new MeterAdapterOptions
        {
            Registry = registry,
            MetricFactory = Metrics.WithCustomRegistry(registry),
            InstrumentFilterPredicate = RuntimeMeters.IsExported,
            ResolveHistogramBuckets = static _ => Buckets.Connection.ToArray(),
        });
    }

    /// <summary>Stops listening; what was counted stays on the page for a while.</summary>
    public void Dispose() => _adapter.Dispose();
}
