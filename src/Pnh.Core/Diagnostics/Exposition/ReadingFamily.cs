using Prometheus;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>How several callbacks with the same labels become one sample.</summary>
internal enum Fold
{
    Sum,
    Max,
}

/// <summary>
/// Values of one name that are asked for when the page is collected: gauges, and counters that someone else keeps. Callbacks must be quick, must not wait, and may be
/// called from any thread. One that throws is left out of the scrape and counted, never the end of it. Thread-safe; one collect at a time.
/// </summary>
/// <param name="labelNames">Of the name.</param>
/// <param name="fold">How callbacks with equal labels become one sample.</param>
/// <param name="open">Makes the library's series for these label values, with what sets it.</param>
/// <param name="failed">Gets each failure of a callback.</param>
internal sealed class ReadingFamily(string[] labelNames, Fold fold, Func<string[], (ChildBase Child, Action<double> Set)> open, Action failed)
{
    /// <summary>
    /// Label sets per family; what comes after is folded into one with <c>other</c> in every label. Not where a label is an app or an account: those are
    /// configured.
    /// </summary>
    public const int MaxSeries = 100;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Series> _series = new(StringComparer.Ordinal);

    // What is configured bounds itself, and its counters beside it have no bound: folded into "other" from the 34th app on (three classes each), the
    // ledger's gauge would not add up with them.
    private readonly int _maxSeries = labelNames.Any(static name => name is "app" or "account") ? int.MaxValue : MaxSeries;

    /// <summary>Exports the callback until the returned object is disposed. Callbacks with equal label values are folded into one sample.</summary>
    public IDisposable Add(Func<double> read, params string[] labelValues)
    {
        lock (_lock)
        {
            var key = string.Join('\0', labelValues);
            if (!_series.TryGetValue(key, out var series))
            {
                if (_series.Count >= _maxSeries && labelValues.Length > 0)
                {
                    labelValues = [.. Enumerable.Repeat(CollectFeed.Other, labelValues.Length)];
                    key = string.Join('\0', labelValues);
                }

                if (!_series.TryGetValue(key, out series))
                {
                    var (child, set) = open(labelValues);
                    series = new Series(child, set);
                    _series.Add(key, series);
                }
            }

            series.Callbacks = [.. series.Callbacks, read];
            return new Registration(this, key, read);
        }
    }

    /// <summary>Asks all callbacks for the caller alone: the label values of each sample, and its value.</summary>
    public IReadOnlyList<(string[] Labels, double Value)> Read()
    {
        KeyValuePair<string, Series>[] all;
        lock (_lock)
        {
            all = [.. _series];
        }

        var found = new List<(string[] Labels, double Value)>(all.Length);
        foreach (var (key, series) in all)
        {
            if (TryFold(series.Callbacks, out var value))
            {
                found.Add((key.Split('\0'), value));
            }
        }

        return found;
    }

    /// <summary>Asks all callbacks.</summary>
    public void Collect()
    {
        Series[] all;
        lock (_lock)
        {
            all = [.. _series.Values];
        }

        foreach (var series in all)
        {
            if (TryFold(series.Callbacks, out var value))
            {
                series.Set(value);
            }
            else
            {
                series.Child.Unpublish();
            }
        }
    }

    private bool TryFold(Func<double>[] callbacks, out double value)
    {
        value = 0;
        var any = false;
        foreach (var callback in callbacks)
        {
            try
            {
                var read = callback();
                value = !any ? read : fold == Fold.Sum ? value + read : Math.Max(value, read);
                any = true;
            }
            catch (Exception)
            {
                failed();
            }
        }

        return any;
    }

    private void Remove(string key, Func<double> read)
    {
        lock (_lock)
        {
            if (!_series.TryGetValue(key, out var series))
            {
                return;
            }

            var at = Array.IndexOf(series.Callbacks, read);
            if (at < 0)
            {
                return;
            }

            series.Callbacks = [.. series.Callbacks[..at], .. series.Callbacks[(at + 1)..]];
            if (series.Callbacks.Length == 0)
            {
                _series.Remove(key);
                series.Child.Remove();
            }
        }
    }

    private sealed class Series(ChildBase child, Action<double> set)
    {
        public ChildBase Child { get; } = child;

        public Action<double> Set { get; } = set;

        public Func<double>[] Callbacks { get; set; } = [];
    }

    private sealed class Registration(ReadingFamily owner, string key, Func<double> read) : IDisposable
    {
        private Func<double>? _read = read;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _read, null) is { } read)
            {
                owner.Remove(key, read);
            }
        }
    }
}
