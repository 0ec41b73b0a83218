using System.Buffers;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>How several callbacks with the same labels become one sample.</summary>
internal enum Fold
{
    Sum,
    Max,
}

/// <summary>
/// Values that are asked for on scrape: gauges, and counters that someone else keeps. Callbacks must be quick, must not wait, and may be
/// called from any thread. One that throws is left out of the scrape and counted, never the end of it.
/// </summary>
internal sealed class CallbackFamily : MetricFamily
{
    /// <summary>
    /// Label sets per family; what comes after is folded into one with <c>other</c> in every label. Not where a label is an app or an account: those are
    /// configured.
    /// </summary>
    public const int MaxSeries = 100;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Series> _series = new(StringComparer.Ordinal);
    private readonly Fold _fold;
    private readonly Action? _failed;
    private readonly int _maxSeries;

    public CallbackFamily(string name, string type, string help, Fold fold, Action? failed, params string[] labelNames)
        : base(name, type, help, labelNames)
    {
        _fold = fold;
        _failed = failed;

        // What is configured bounds itself, and its counters beside it have no bound: folded into "other" from the 34th app on (three classes each), the
        // ledger's gauge would not add up with them.
        _maxSeries = labelNames.Any(static name => name is "app" or "account") ? int.MaxValue : MaxSeries;
    }

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
                    labelValues = [.. Enumerable.Repeat(MetricFamily.Other, labelValues.Length)];
                    key = string.Join('\0', labelValues);
                }

                if (!_series.TryGetValue(key, out series))
                {
                    series = new Series(EncodePrefix(Labels(labelValues)));
                    _series.Add(key, series);
                }
            }

            series.Callbacks = [.. series.Callbacks, read];
            return new Registration(this, key, read);
        }
    }

    public override void Write(IBufferWriter<byte> output)
    {
        (byte[] Prefix, Func<double>[] Callbacks)[] series;
        lock (_lock)
        {
            series = [.. _series.Values.Select(s => (s.Prefix, s.Callbacks))];
        }

        var headWritten = false;
        foreach (var (prefix, callbacks) in series)
        {
            if (!TryFold(callbacks, out var value))
            {
                continue;
            }

            if (!headWritten)
            {
                WriteHead(output);
                headWritten = true;
            }

            PrometheusText.WriteSample(output, prefix, value);
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
                value = !any ? read : _fold == Fold.Sum ? value + read : Math.Max(value, read);
                any = true;
            }
            catch (Exception)
            {
                _failed?.Invoke();
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
            }
        }
    }

    private sealed class Series
    {
        public Series(byte[] prefix) => Prefix = prefix;

        public byte[] Prefix { get; }

        public Func<double>[] Callbacks { get; set; } = [];
    }

    private sealed class Registration : IDisposable
    {
        private readonly CallbackFamily _owner;
        private readonly string _key;
        private Func<double>? _read;

        public Registration(CallbackFamily owner, string key, Func<double> read)
        {
            _owner = owner;
            _key = key;
            _read = read;
        }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _read, null) is { } read)
            {
                _owner.Remove(_key, read);
            }
        }
    }
}
