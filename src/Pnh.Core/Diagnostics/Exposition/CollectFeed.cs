using Prometheus;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// The one way from what the hub counts to prometheus-net. A shared counter costs an interlocked loop for each record, so the hot path counts in <see cref="StripedCells"/>;
/// before the registry is collected, this brings the library's counters and histograms up to them, and asks for what others keep. Thread-safe.
/// </summary>
internal sealed class CollectFeed
{
    /// <summary>The label value for everything beyond a bound: unknown apps, too many channels or queues.</summary>
    internal const string Other = "other";

    private readonly MetricFactory _factory;
    private readonly Counter _failures;
    private readonly Lock _adding = new();
    private readonly Lock _collecting = new();
    private readonly List<FedCounter> _counters = [];
    private readonly List<FedHistogram> _histograms = [];
    private readonly List<ReadingFamily> _readings = [];

    /// <summary>Feeds the registry from its next collect on.</summary>
    public CollectFeed(CollectorRegistry registry)
    {
        ArgumentNullException.ThrowIfNull(registry);
        _factory = Metrics.WithCustomRegistry(registry);

        // Else the library would take the trace of the scrape for that of what was counted.
        _factory.ExemplarBehavior = ExemplarBehavior.NoExemplars();
        _failures = _factory.CreateCounter("pnh_scrape_failures_total", "Metric callbacks that threw during a scrape; their sample is missing.");
        registry.AddBeforeCollectCallback(Collect);
    }

    /// <summary>Counters of one name; those of <see cref="Add(Counter.Child, StripedCells, int)"/> are fed.</summary>
    public Counter Counters(string name, string help, params string[] labelNames) => _factory.CreateCounter(name, help, labelNames);

    /// <summary>Keeps the counter at what the cell has.</summary>
    public void Add(Counter.Child counter, StripedCells cells, int index)
    {
        lock (_adding)
        {
            _counters.Add(new FedCounter(counter, cells, index));
        }
    }

    /// <summary>Histograms of durations under one name, in seconds; what the result makes is fed and stays for good.</summary>
    public Func<string[], StripedDurations> Durations(string name, string help, ReadOnlySpan<double> bounds, params string[] labelNames)
    {
        var kept = bounds.ToArray();
        var family = _factory.CreateHistogram(name, help, labelNames, new HistogramConfiguration { Buckets = kept });
        return values =>
        {
            var durations = new StripedDurations(kept);
            lock (_adding)
            {
                _histograms.Add(new FedHistogram(family.WithLabels(values), durations));
            }

            return durations;
        };
    }

    /// <summary>Gauges that are asked for.</summary>
    public ReadingFamily Gauges(string name, string help, Fold fold = Fold.Sum, params string[] labelNames)
    {
        var family = _factory.CreateGauge(name, help, labelNames, new GaugeConfiguration { SuppressInitialValue = true });
        return Add(labelNames, fold, values =>
        {
            var child = family.WithLabels(values);
            return (child, child.Set);
        });
    }

    /// <summary>Counters that someone else keeps (the kernel, the runtime). One that falls keeps its greatest value.</summary>
    public ReadingFamily CounterReadings(string name, string help, params string[] labelNames)
    {
        var family = _factory.CreateCounter(name, help, labelNames, new CounterConfiguration { SuppressInitialValue = true });
        return Add(labelNames, Fold.Sum, values =>
        {
            var child = family.WithLabels(values);
            return (child, child.IncTo);
        });
    }

    private ReadingFamily Add(string[] labelNames, Fold fold, Func<string[], (ChildBase Child, Action<double> Set)> open)
    {
        var family = new ReadingFamily(labelNames, fold, open, () => _failures.Inc());
        lock (_adding)
        {
            _readings.Add(family);
        }

        return family;
    }

    // Callbacks run outside the lock of adding: they may wait for one whose owner adds a series.
    private void Collect()
    {
        lock (_collecting)
        {
            foreach (var (counter, cells, index) in Copy(_counters))
            {
                counter.IncTo(cells.Read(index));
            }

            foreach (var histogram in Copy(_histograms))
            {
                histogram.Collect();
            }

            foreach (var family in Copy(_readings))
            {
                family.Collect();
            }
        }
    }

    private T[] Copy<T>(List<T> source)
    {
        lock (_adding)
        {
            return [.. source];
        }
    }

    private readonly record struct FedCounter(Counter.Child Counter, StripedCells Cells, int Index);
}
