using System.Diagnostics;
using System.Net;
using System.Text;
using Pnh.LoadTest.Integrity;
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
    private readonly EventBook _book;
    private readonly byte[] _ids;
    private Recorder? _current;
    private Action<long>? _turn;

    public LoadRun(LoadOptions options)
    {
        _options = options;
        _hub = new ServerProcess(options.HubProcess);
        var run = $"load-{TimeProvider.System.GetUtcNow().ToUnixTimeSeconds()}";
        _ids = Encoding.ASCII.GetBytes(run + "-");
        _book = new EventBook(options.Devices);
        _pool = new PublisherPool(options, _loop, run, _book);
        _loop.Turns.Add(now => _turn?.Invoke(now));
    }

    /// <summary>Sessions closed by the hub since the start.</summary>
    public int Closed => _sessions.Sum(static session => session.Closed);

    /// <summary>What came wrong since the start.</summary>
    public PhaseFaults Faults { get; } = new();

    public void Open()
    {
        var server = new IPEndPoint(IPAddress.Parse(_options.Host), _options.Port);
        var tokens = new ClientToken(_options.App, _options.Secret);
        for (var user = 0; user < _options.Users; user++)
        {
            var (name, token) = (EventRequest.UserName(user), tokens.Of(EventRequest.UserName(user)));
            for (var device = 0; device < _options.Devices; device++)
            {
                _sessions.Add(new LoadSession(_loop, server, name, Setup.DeviceName(device), token, Deliver(user, device)));
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

        // What was taken has ten more seconds to arrive, and what must not come two; what never got a connection is given up.
        _turn = null;
        _pool.Drop();
        _loop.Run(30, () => _pool.IsQuiet);
        _loop.Run(2);
        _loop.Run(8, () => Array.TrueForAll(_book.Faults.Lost, static lost => lost == 0));
        var faults = _book.Begin();
        Faults.Add(faults);
        return new Phase(name, _options.PhaseSeconds, recorder, hub, own.TotalSeconds, most, faults);
    }

    // What an earlier run left in the hub does not count in this one.
    private Delivered Deliver(int user, int device) => (session, id, @class, due) =>
    {
        if (id.StartsWith(_ids))
        {
            _book.Arrive(MessagePayload.Number(id[^EventRequest.NumberDigits..]), @class, user, device, session.Closed > 0);
            _current?.Deliver(@class, due);
        }
    };

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
