using System.Diagnostics;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// All connections, in turn: each stands for a publisher of its own. What is due goes to the next idle one; when none is idle it waits here, and its clock runs: latency counts from when it was due. Thread-safe.
/// </summary>
internal sealed class PublisherPool : IDisposable
{
    /// <summary>A publisher that gets no connection for so long gives up, as a real one would. Far above the 200 ms that a call may take.</summary>
    private static readonly long Patience = Stopwatch.Frequency;

    private readonly Lock _lock = new();
    private readonly Queue<PublisherConnection> _idle = new();
    private readonly Queue<Due> _waiting = new();
    private readonly List<PublisherConnection> _all = [];
    private readonly EventRequest[] _requests;
    private readonly LoadOptions _options;
    private long _number;

    public PublisherPool(LoadOptions options, string run)
    {
        _options = options;
        _requests = [.. Mix.Classes.Select(name => new EventRequest(options, run, name))];
    }

    /// <summary>Requests that found no idle connection yet.</summary>
    public int Waiting
    {
        get
        {
            lock (_lock)
            {
                return _waiting.Count;
            }
        }
    }

    /// <summary>True when every connection is idle.</summary>
    public bool IsQuiet
    {
        get
        {
            lock (_lock)
            {
                return _waiting.Count == 0 && _idle.Count == _all.Count;
            }
        }
    }

    public async Task OpenAsync()
    {
        var bytes = _requests.Max(static request => request.Length);
        for (var i = 0; i < _options.Connections; i++)
        {
            var connection = new PublisherConnection(_options, bytes);
            await connection.ConnectAsync();
            _all.Add(connection);
            _idle.Enqueue(connection);
        }
    }

    /// <summary>Sends it, or lets it wait for a connection.</summary>
    /// <param name="recorder">Of the phase.</param>
    /// <param name="class">Position in the mix.</param>
    /// <param name="user">For whom.</param>
    /// <param name="due">When it is due.</param>
    /// <param name="obey">A publisher that was refused its class keeps it back as long as Retry-After says: the event is not sent at all then.</param>
    public void Post(Recorder recorder, int @class, int user, long due, bool obey)
    {
        PublisherConnection? connection;
        var now = Stopwatch.GetTimestamp();
        recorder.Schedule(due, now);
        lock (_lock)
        {
            if (!_idle.TryDequeue(out connection))
            {
                _waiting.Enqueue(new Due(recorder, @class, user, due, obey));
                return;
            }

            if (obey && connection.Holds(@class, now))
            {
                _idle.Enqueue(connection);
                recorder.HoldBack();
                return;
            }
        }

        _ = RunAsync(connection, new Due(recorder, @class, user, due, obey));
    }

    /// <summary>As fast as <paramref name="connections"/> connections take it, each one event after the other, until the recorder's end.</summary>
    public async Task SaturateAsync(Recorder recorder, int connections, Func<(int Class, int User)> next)
    {
        async Task LoopAsync(PublisherConnection connection)
        {
            while (Stopwatch.GetTimestamp() is var due && due < recorder.Until)
            {
                var (@class, user) = next();
                recorder.Schedule(due, due);
                await SendAsync(connection, new Due(recorder, @class, user, due, Obey: false));
            }
        }

        // Each loop begins on the pool: one that always completes at once would keep the others from starting.
        await Task.WhenAll(_all.Take(connections).Select(connection => Task.Run(() => LoopAsync(connection))));
    }

    /// <summary>Forgets what still waits, at the end of a phase that the hub could not follow.</summary>
    public void Drop()
    {
        lock (_lock)
        {
            _waiting.Clear();
        }
    }

    public void Dispose() => _all.ForEach(static connection => connection.Dispose());

    private async Task RunAsync(PublisherConnection connection, Due due)
    {
        while (true)
        {
            await SendAsync(connection, due);
            lock (_lock)
            {
                if (!TryTakeWaiting(connection, out due))
                {
                    _idle.Enqueue(connection);
                    return;
                }
            }
        }
    }

    private bool TryTakeWaiting(PublisherConnection connection, out Due due)
    {
        var now = Stopwatch.GetTimestamp();
        while (_waiting.TryDequeue(out due))
        {
            if (now - due.Time >= Patience)
            {
                due.Recorder.GiveUp();
            }
            else if (due.Obey && connection.Holds(due.Class, now))
            {
                due.Recorder.HoldBack();
            }
            else
            {
                return true;
            }
        }

        return false;
    }

    private async Task SendAsync(PublisherConnection connection, Due due)
    {
        var (status, retryAfter, written) =
            await connection.SendAsync(_requests[due.Class], Interlocked.Increment(ref _number), due.User, due.Time);
        due.Recorder.Answer(due.Class, due.Time, written, status, retryAfter >= 0);
        if (retryAfter > 0)
        {
            connection.Hold(due.Class, retryAfter);
        }
    }

    private readonly record struct Due(Recorder Recorder, int Class, int User, long Time, bool Obey);
}
