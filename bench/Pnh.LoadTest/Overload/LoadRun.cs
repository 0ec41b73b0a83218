using System.Diagnostics;
using System.Net;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Overload;

/// <summary>The phases, one after the other, on one hub.</summary>
internal sealed class LoadRun : IDisposable
{
    private readonly LoadOptions _options;
    private readonly ServerProcess _hub;
    private readonly Loop _loop = new();
    private readonly Random _random = new(20_261_121);
    private readonly List<LoadSession> _sessions = [];
    private readonly PublisherPool _pool;
    private Recorder? _current;
    private Action<long>? _turn;

    public LoadRun(LoadOptions options)
    {
        _options = options;
        _hub = new ServerProcess(options.HubProcess);
        _pool = new PublisherPool(options, _loop, $"load-{TimeProvider.System.GetUtcNow().ToUnixTimeSeconds()}");
        _loop.Turns.Add(now => _turn?.Invoke(now));
    }

    /// <summary>Sessions closed by the hub since the start.</summary>
    public int Closed => _sessions.Sum(static session => session.Closed);

    public void Open()
    {
        var server = new IPEndPoint(IPAddress.Parse(_options.Host), _options.Port);
        var tokens = new ClientToken(_options.App, _options.Secret);
        for (var user = 0; user < _options.Users; user++)
        {
            var (name, token) = (EventRequest.UserName(user), tokens.Of(EventRequest.UserName(user)));
            for (var device = 0; device < _options.Devices; device++)
            {
                _sessions.Add(new LoadSession(_loop, server, name, Setup.DeviceName(device), token, (@class, due) => _current?.Deliver(@class, due)));
                if (_sessions.Count % 50 == 0)
                {
                    Until(() => _sessions.TrueForAll(static session => session.IsWelcome), "sessions");
                }
            }
        }

        Until(() => _sessions.TrueForAll(static session => session.IsWelcome) && _pool.Stands, "connections");
    }

    /// <summary>Closed loop: as much as the hub takes from so many publishers.</summary>
    public Phase Saturate(string name, int publishers) => Measure(name, recorder => _pool.Saturate(publishers, () => Next(recorder)));

    /// <summary>Open loop: events are due at random times (Poisson) of this rate, whatever the hub does; <paramref name="obey"/>: but for what its Retry-After asks.</summary>
    public Phase Offer(string name, double rate, bool obey) => Measure(name, recorder =>
    {
        var due = rate > 0 ? Stopwatch.GetTimestamp() : double.PositiveInfinity;
        _turn = now =>
        {
            for (; due <= now && due < recorder.Until; due += -Math.Log(1 - _random.NextDouble()) / rate * Stopwatch.Frequency)
            {
                _pool.Post(new Due(recorder, Mix.Pick(_random.NextDouble()), _random.Next(_options.Users), (long)due, obey), now);
            }
        };
    });

    public void Dispose() => _loop.Dispose();

    private Phase Measure(string name, Action<Recorder> load)
    {
        var from = Stopwatch.GetTimestamp() + Ticks(_options.WarmSeconds);
        var recorder = _current = new Recorder(from, from + Ticks(_options.PhaseSeconds));
        load(recorder);
        _loop.Run(_options.WarmSeconds);
        _pool.Watch();
        var (hub, own) = (_hub.CpuSeconds, Environment.CpuUsage.TotalTime);
        _loop.Run(_options.PhaseSeconds);
        hub = _hub.CpuSeconds - hub;
        own = Environment.CpuUsage.TotalTime - own;
        var most = _pool.MostWaiting;

        // What was taken has two more seconds to arrive; what never got a connection is given up.
        _turn = null;
        _pool.Drop();
        _loop.Run(30, () => _pool.IsQuiet);
        _loop.Run(2);
        return new Phase(name, _options.PhaseSeconds, recorder, hub, own.TotalSeconds, most, _options.Devices);
    }

    private Due? Next(Recorder recorder) =>
        Stopwatch.GetTimestamp() is var now && now < recorder.Until
            ? new Due(recorder, Mix.Pick(_random.NextDouble()), _random.Next(_options.Users), now, Obey: false)
            : null;

    private void Until(Func<bool> isDone, string what)
    {
        if (!_loop.Run(30, isDone))
        {
            throw new InvalidOperationException($"not all {what} stand after 30 s");
        }
    }

    private static long Ticks(double seconds) => (long)(seconds * Stopwatch.Frequency);
}
