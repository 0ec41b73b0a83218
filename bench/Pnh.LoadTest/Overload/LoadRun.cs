using System.Diagnostics;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Overload;

/// <summary>The phases, one after the other, on one hub.</summary>
internal sealed class LoadRun : IAsyncDisposable
{
    private readonly LoadOptions _options;
    private readonly PublisherPool _pool;
    private readonly ServerProcess _hub;
    private readonly Random _random = new(20_261_121);
    private readonly CancellationTokenSource _end = new();
    private readonly List<LoadSession> _sessions = [];
    private readonly List<Task> _running = [];
    private volatile Recorder? _current;

    public LoadRun(LoadOptions options)
    {
        _options = options;
        _hub = new ServerProcess(options.HubProcess);
        _pool = new PublisherPool(options, $"load-{TimeProvider.System.GetUtcNow().ToUnixTimeSeconds()}");
    }

    /// <summary>Sessions closed by the hub since the start.</summary>
    public int Closed => _sessions.Sum(static session => session.Closed);

    public async Task OpenAsync()
    {
        await Setup.RegisterAsync(_options);
        for (var i = 0; i < _options.Sessions; i++)
        {
            var user = EventRequest.UserName(i);
            var session = new LoadSession(_options, user, Setup.Token(_options, user), (@class, due) => _current?.Deliver(@class, due));
            _sessions.Add(session);
            _running.Add(session.RunAsync(_end.Token));
            await session.Welcomed.Task.WaitAsync(TimeSpan.FromSeconds(10));
        }

        await _pool.OpenAsync();
    }

    /// <summary>Closed loop: as much as the hub takes from so many publishers.</summary>
    public Task<Phase> SaturateAsync(string name, int publishers) =>
        MeasureAsync(name, recorder => _pool.SaturateAsync(recorder, Math.Min(publishers, _options.Connections), Next));

    /// <summary>Open loop: events are due at random times (Poisson) of this rate, whatever the hub does; <paramref name="obey"/>: but for what its Retry-After asks.</summary>
    public Task<Phase> OfferAsync(string name, double rate, bool obey) => MeasureAsync(name, recorder => OfferAsync(recorder, rate, obey));

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await Task.WhenAll(_running);
        _pool.Dispose();
        _end.Dispose();
    }

    private async Task<Phase> MeasureAsync(string name, Func<Recorder, Task> load)
    {
        var from = Stopwatch.GetTimestamp() + Ticks(_options.WarmSeconds);
        var recorder = new Recorder(from, from + Ticks(_options.PhaseSeconds));
        _current = recorder;
        var cpu = ReadCpuAsync(from, recorder.Until);
        var waiting = WatchAsync(recorder.Until);
        await load(recorder);
        var (hub, own) = await cpu;
        var most = await waiting;

        // What was taken has two more seconds to arrive; what never got a connection is given up.
        _pool.Drop();
        for (var end = Stopwatch.GetTimestamp() + Ticks(30); !_pool.IsQuiet && Stopwatch.GetTimestamp() < end;)
        {
            await Task.Delay(50);
        }

        await Task.Delay(2000);
        return new Phase(name, _options.PhaseSeconds, recorder, hub, own, most);
    }

    private async Task OfferAsync(Recorder recorder, double rate, bool obey)
    {
        using var clock = new PeriodicTimer(TimeSpan.FromMilliseconds(1));
        var due = rate > 0 ? Stopwatch.GetTimestamp() : double.PositiveInfinity;
        while (Stopwatch.GetTimestamp() < recorder.Until && await clock.WaitForNextTickAsync())
        {
            for (var now = Stopwatch.GetTimestamp(); due <= now && due < recorder.Until;)
            {
                var (@class, user) = Next();
                _pool.Post(recorder, @class, user, (long)due, obey);
                due += -Math.Log(1 - _random.NextDouble()) / rate * Stopwatch.Frequency;
            }
        }
    }

    private async Task<(double Hub, double Own)> ReadCpuAsync(long from, long until)
    {
        await UntilAsync(from);
        var (hub, own) = (_hub.CpuSeconds, Environment.CpuUsage.TotalTime);
        await UntilAsync(until);
        return (_hub.CpuSeconds - hub, (Environment.CpuUsage.TotalTime - own).TotalSeconds);
    }

    private async Task<int> WatchAsync(long until)
    {
        var most = 0;
        while (Stopwatch.GetTimestamp() < until)
        {
            most = Math.Max(most, _pool.Waiting);
            await Task.Delay(20);
        }

        return most;
    }

    private static async Task UntilAsync(long time)
    {
        if (time - Stopwatch.GetTimestamp() is var left && left > 0)
        {
            await Task.Delay(TimeSpan.FromSeconds((double)left / Stopwatch.Frequency));
        }
    }

    private (int Class, int User) Next()
    {
        lock (_random)
        {
            return (Mix.Pick(_random.NextDouble()), _random.Next(_options.Sessions));
        }
    }

    private static long Ticks(double seconds) => (long)(seconds * Stopwatch.Frequency);
}
