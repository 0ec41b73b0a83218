namespace Pnh.Api.WebConsole;

/// <summary>
/// When the disk of the data folder is full if it goes on as in the last hour: a line through what was free each minute, as the alert <c>PnhDiskFillsUp</c> draws it. Looks whether somebody
/// watches or not. In memory alone: after a start ten minutes pass before it says something. Thread-safe.
/// </summary>
internal sealed class DiskTrend : IDisposable
{
    private const int Most = 61;
    private const int Fewest = 11;
    private static readonly TimeSpan Step = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Queue<(long At, double Free)> _looks = [];
    private readonly Func<double?> _readFree;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;

    /// <param name="readFree">Bytes that are free; null = not known.</param>
    /// <param name="time">The clock.</param>
    public DiskTrend(Func<double?> readFree, TimeProvider time)
    {
        (_readFree, _time) = (readFree, time);
        _timer = time.CreateTimer(static trend => ((DiskTrend)trend!).Look(), this, TimeSpan.Zero, Step);
    }

    /// <summary>How long until nothing is free; null = it does not become less, or nothing can be said yet.</summary>
    public TimeSpan? FullIn()
    {
        lock (_gate)
        {
            return _looks.Count >= Fewest && Slope() is var slope and < 0 ? TimeSpan.FromSeconds(Math.Min(_looks.Last().Free / -slope, TimeSpan.FromDays(365).TotalSeconds)) : null;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        if (_readFree() is not { } free)
        {
            return;
        }

        lock (_gate)
        {
            _looks.Enqueue((_time.GetTimestamp(), free));
            if (_looks.Count > Most)
            {
                _looks.Dequeue();
            }
        }
    }

    // Bytes a second, by least squares. Under the gate.
    private double Slope()
    {
        var seconds = _looks.Select(look => _time.GetElapsedTime(_looks.Peek().At, look.At).TotalSeconds).ToArray();
        var (meanTime, meanFree) = (seconds.Average(), _looks.Average(static look => look.Free));
        var spread = seconds.Sum(second => (second - meanTime) * (second - meanTime));
        return spread > 0 ? seconds.Zip(_looks, (second, look) => (second - meanTime) * (look.Free - meanFree)).Sum() / spread : 0;
    }
}
