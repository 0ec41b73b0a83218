using Pnh.Core.Events;

namespace Pnh.Core.Dispatch;

/// <summary>
/// Fan-outs under way and those that wait: a few run at a time, calls first, then the app with the fewest, and of each line one after the other.
/// Thread-safe.
/// </summary>
/// <param name="run">Serves everybody that is left; must not throw.</param>
internal sealed class FanOutTable(Func<FanOut, Task> run)
{
    /// <summary>Of one app, under way and waiting, before its publishers wait. Each holds its event, 64 kB at most.</summary>
    internal const int MostOfApp = 64;

    private const int Most = 256;

    // Two keep both of two cores busy while one reads; calls never wait behind those.
    private const int MostRunning = 2;
    private const int MostRunningCalls = 4;
    private readonly Lock _gate = new();
    private readonly List<FanOut> _all = [];
    private int _count;
    private int _running;
    private bool _isClosed;
    private TaskCompletionSource? _ended;

    /// <summary>How many there are.</summary>
    internal int Count => Volatile.Read(ref _count);

    internal int CountOf(EventClass @class)
    {
        lock (_gate)
        {
            return _all.Count(fanOut => fanOut.Line.Class == @class);
        }
    }

    /// <summary>True while an earlier event of the line is on its way: the next one goes behind it.</summary>
    internal bool Holds(FanOutLine line)
    {
        if (Count == 0)
        {
            return false;
        }

        lock (_gate)
        {
            return _all.Exists(fanOut => fanOut.Line == line);
        }
    }

    /// <summary>Those of the line that have not ended, in their order.</summary>
    internal IReadOnlyList<FanOut> Of(FanOutLine line)
    {
        if (Count == 0)
        {
            return [];
        }

        lock (_gate)
        {
            return _all.FindAll(fanOut => fanOut.Line == line);
        }
    }

    /// <summary>True when the app has so many that its publishers have to wait.</summary>
    internal bool IsFull(string app)
    {
        if (Count < MostOfApp)
        {
            return false;
        }

        lock (_gate)
        {
            return _all.Count >= Most || _all.Count(fanOut => Is(fanOut, app)) >= MostOfApp;
        }
    }

    /// <summary>Takes it, however many there are: it was accepted.</summary>
    internal void Add(FanOut fanOut)
    {
        lock (_gate)
        {
            _all.Add(fanOut);
            _count = _all.Count;
            Pump();
        }
    }

    /// <summary>The event's fan-out; null = none is under way.</summary>
    internal FanOut? Find(string app, string id)
    {
        if (Count == 0)
        {
            return null;
        }

        lock (_gate)
        {
            return _all.Find(fanOut => Is(fanOut, app) && string.Equals(fanOut.Event.Id, id, StringComparison.Ordinal));
        }
    }

    /// <summary>Nobody more is served of it; it ends at once, also when it had not begun.</summary>
    internal void Stop(FanOut fanOut)
    {
        fanOut.Stop();
        lock (_gate)
        {
            Pump();
        }
    }

    /// <summary>Starts none any more; completes when those that run have ended.</summary>
    internal Task CloseAsync()
    {
        lock (_gate)
        {
            _isClosed = true;
            if (_running == 0)
            {
                return Task.CompletedTask;
            }

            _ended ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _ended.Task;
        }
    }

    // Under the lock.
    private void Pump()
    {
        while (!_isClosed && FindNext() is { } next)
        {
            next.IsRunning = true;
            _running++;
            _ = Task.Run(() => RunAsync(next));
        }
    }

    private async Task RunAsync(FanOut fanOut)
    {
        await run(fanOut).ConfigureAwait(false);
        lock (_gate)
        {
            _running--;
            _all.Remove(fanOut);
            _count = _all.Count;
            Pump();
            if (_running == 0)
            {
                _ended?.TrySetResult();
            }
        }
    }

    private FanOut? FindNext()
    {
        FanOut? next = null;
        foreach (var each in _all)
        {
            if (each.IsRunning)
            {
                continue;
            }

            if (each.IsStopped)
            {
                return each;
            }

            var most = each.Line.Class == EventClass.Call ? MostRunningCalls : MostRunning;
            if (_running < most && !_all.Exists(other => other.IsRunning && other.Line == each.Line) && (next is null || IsBefore(each, next)))
            {
                next = each;
            }
        }

        return next;
    }

    // Of equals the one that came first.
    private bool IsBefore(FanOut a, FanOut b)
    {
        var (isCall, wasCall) = (a.Line.Class == EventClass.Call, b.Line.Class == EventClass.Call);
        return isCall != wasCall ? isCall : RunningOf(a.Line.Topic.App) < RunningOf(b.Line.Topic.App);
    }

    private int RunningOf(string app) => _all.Count(fanOut => fanOut.IsRunning && Is(fanOut, app));

    private static bool Is(FanOut fanOut, string app) => string.Equals(fanOut.Line.Topic.App, app, StringComparison.Ordinal);
}
