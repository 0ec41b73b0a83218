using System.Buffers;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// The metrics of one process. An instance, not a static: two hubs in one test process do not count each other's traffic. Thread-safe.
/// </summary>
public sealed class MetricRegistry
{
    /// <summary>Content type of what <see cref="Write"/> writes.</summary>
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    private readonly Lock _lock = new();
    private readonly Lock _scraping = new();
    private readonly SortedDictionary<string, MetricFamily> _families = new(StringComparer.Ordinal);
    private readonly List<Action> _beforeWrite = [];
    private readonly StripedCells _failed = new(1);

    /// <summary>Only with the count of callbacks that failed in a scrape.</summary>
    public MetricRegistry()
    {
        Counters("pnh_scrape_failures_total", "Metric callbacks that threw during a scrape; their sample is missing.")
            .Add(new Counter(_failed, 0));
    }

    /// <summary>Writes all families, sorted by name, in the Prometheus text format 0.0.4. Does not flush.</summary>
    public void Write(IBufferWriter<byte> output)
    {
        ArgumentNullException.ThrowIfNull(output);
        // One scrape at a time: readings of the runtime are made for a scrape, and a second one would tear them.
        lock (_scraping)
        {
            foreach (var action in Copy(_beforeWrite))
            {
                Guard(action);
            }

            foreach (var family in Copy(_families.Values))
            {
                family.Write(output);
            }
        }
    }

    internal CounterFamily Counters(string name, string help, params string[] labelNames) =>
        Add(new CounterFamily(name, help, labelNames));

    internal HistogramFamily Histograms(string name, string help, ReadOnlySpan<double> bounds, params string[] labelNames) =>
        Add(new HistogramFamily(name, help, bounds, labelNames));

    internal CallbackFamily Gauges(string name, string help, Fold fold = Fold.Sum, params string[] labelNames) =>
        Add(new CallbackFamily(name, "gauge", help, fold, CountFailure, labelNames));

    /// <summary>A counter that someone else keeps (the kernel, the runtime).</summary>
    internal CallbackFamily CounterCallbacks(string name, string help, params string[] labelNames) =>
        Add(new CallbackFamily(name, "counter", help, Fold.Sum, CountFailure, labelNames));

    /// <summary>Throws when the name is taken: two owners of one name would be two truths.</summary>
    internal T Add<T>(T family)
        where T : MetricFamily
    {
        lock (_lock)
        {
            if (!_families.TryAdd(family.Name, family))
            {
                throw new ArgumentException($"The metric {family.Name} exists already.", nameof(family));
            }
        }

        return family;
    }

    /// <summary>Runs before every scrape, outside all locks; an exception is counted, not passed on.</summary>
    internal void BeforeWrite(Action action)
    {
        lock (_lock)
        {
            _beforeWrite.Add(action);
        }
    }

    /// <summary>Callbacks run outside the lock: they may add families.</summary>
    private T[] Copy<T>(IReadOnlyCollection<T> source)
    {
        lock (_lock)
        {
            return [.. source];
        }
    }

    private void Guard(Action action)
    {
        try
        {
            action();
        }
        catch (Exception)
        {
            CountFailure();
        }
    }

    private void CountFailure() => _failed.Add(0, 1);
}
