using System.Globalization;
using System.Text.Json;
using Pnh.Core.Diagnostics;
using Pnh.Storage.Files;

namespace Pnh.Api.WebConsole;

/// <summary>
/// What the console's charts show: a point each ten seconds, of an hour, also over a reload of the page and a restart of the hub. Taken whether somebody watches or not; kept in
/// memory and, each minute and at the stop, in a file of the data folder. A file that cannot be written costs the hour after a restart, nothing else. Thread-safe.
/// </summary>
internal sealed class LastHour : IDisposable
{
    /// <summary>Between two points.</summary>
    public static readonly TimeSpan Step = TimeSpan.FromSeconds(10);

    /// <summary>How far back they go.</summary>
    public static readonly TimeSpan Reach = TimeSpan.FromHours(1);

    private const int WriteEvery = 6;

    private readonly Lock _gate = new();
    private readonly Queue<Point> _points = [];
    private readonly Func<HubTotals> _read;
    private readonly string? _file;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private HubTotals _last;
    private int _unwritten;
    private bool _isDisposed;

    /// <param name="read">The hub's counters.</param>
    /// <param name="file">Where the hour is kept; null = in memory alone.</param>
    /// <param name="time">The clock.</param>
    public LastHour(Func<HubTotals> read, string? file, TimeProvider time)
    {
        (_read, _file, _time) = (read, file, time);
        _last = read();
        ReadFile();
        _timer = time.CreateTimer(static hour => ((LastHour)hour!).Take(), this, Step, Step);
    }

    /// <summary>
    /// One object: <c>step</c> in seconds, and <c>points</c>, oldest first, each an array of Unix seconds, Q-factor, cores used, live sessions, events accepted a second, attempts at
    /// deliveries a second, p99 from accept to frame in seconds. Null = not known. Where the hub did not run there is no point.
    /// </summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("step", Step.TotalSeconds);
        json.WriteStartArray("points");
        lock (_gate)
        {
            foreach (var point in _points)
            {
                json.WriteStartArray();
                json.WriteNumberValue(point.At.ToUnixTimeSeconds());
                foreach (var value in point.Values)
                {
                    WriteNumber(json, value);
                }

                json.WriteEndArray();
            }
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>Takes no further points, and writes those that there are.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        lock (_gate)
        {
            if (!_isDisposed)
            {
                _isDisposed = true;
                WriteFile();
            }
        }
    }

    private static void WriteNumber(Utf8JsonWriter json, double? value)
    {
        if (value is { } known)
        {
            json.WriteNumberValue(Math.Round(known, 6));
        }
        else
        {
            json.WriteNullValue();
        }
    }

    private void Take()
    {
        var totals = _read();
        lock (_gate)
        {
            var seconds = (totals.At - _last.At).TotalSeconds;
            if (_isDisposed || seconds <= 0)
            {
                return;
            }

            Add(new Point(totals.At,
            [
                totals.QFactor > 0 ? totals.QFactor : null, (totals.CpuSeconds - _last.CpuSeconds) / seconds, totals.ActiveSessions + totals.BackgroundSessions,
                (Accepted(totals) - Accepted(_last)) / seconds, (Attempts(totals) - Attempts(_last)) / seconds, totals.AcceptToFrameP99,
            ]));
            _last = totals;
            if (++_unwritten == WriteEvery)
            {
                WriteFile();
            }
        }
    }

    private void Add(Point point)
    {
        _points.Enqueue(point);
        while (_points.Peek().At <= point.At - Reach)
        {
            _points.Dequeue();
        }
    }

    private static double Accepted(HubTotals totals) => totals.Events.Sum(static row => row.Result == EventResult.Accepted ? row.Count : 0);

    private static double Attempts(HubTotals totals) => totals.Deliveries.Sum(static row => row.IsAttempt ? row.Count : 0);

    private void ReadFile()
    {
        try
        {
            var now = _time.GetUtcNow();
            foreach (var line in _file is not null && File.Exists(_file) ? File.ReadAllLines(_file) : [])
            {
                if (Point.TryParse(line, out var point) && point.At > now - Reach && point.At <= now)
                {
                    _points.Enqueue(point);
                }
            }
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // The hour begins anew.
        }
    }

    /// <summary>Under the gate.</summary>
    private void WriteFile()
    {
        _unwritten = 0;
        if (_file is null)
        {
            return;
        }

        try
        {
            ReplacedFile.WriteLines(_file, _points.Select(static point => point.ToString()));
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // It stands in memory.
        }
    }

    /// <summary>A line of the file: Unix seconds, then the values, a dash for one that is not known.</summary>
    private sealed record Point(DateTimeOffset At, IReadOnlyList<double?> Values)
    {
        private const int Count = 6;

        public static bool TryParse(string line, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Point? point)
        {
            point = null;
            var parts = line.Split(' ');
            if (parts.Length != Count + 1 || !long.TryParse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture, out var seconds)
                || seconds > DateTimeOffset.MaxValue.ToUnixTimeSeconds())
            {
                return false;
            }

            var values = new double?[Count];
            for (var i = 0; i < Count; i++)
            {
                if (parts[i + 1] == "-")
                {
                    continue;
                }

                if (!double.TryParse(parts[i + 1], NumberStyles.Float, CultureInfo.InvariantCulture, out var value) || !double.IsFinite(value))
                {
                    return false;
                }

                values[i] = value;
            }

            point = new Point(DateTimeOffset.FromUnixTimeSeconds(seconds), values);
            return true;
        }

        public override string ToString() => string.Join(' ',
            Values.Select(static value => value?.ToString("R", CultureInfo.InvariantCulture) ?? "-").Prepend(At.ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture)));
    }
}
