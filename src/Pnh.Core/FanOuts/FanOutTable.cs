using Pnh.Core.Events;

namespace Pnh.Core.FanOuts;

/// <summary>
/// Fan-outs under way, each a page at a time: first come first served within an app, a page of each app in turn, and of each line one after the other. Calls, the first pages of
/// other fan-outs, and the later pages of long ones have places of their own, so that none of them waits for another kind. Thread-safe.
/// </summary>
/// <param name="serve">Serves a page; false = that was all. Must not throw.</param>
/// <param name="rest">What the fan-out waits for between two pages, the first of which took so long; false = the hub stops. Must not throw.</param>
/// <param name="waited">Gets a fan-out whose first page has not come for <see cref="LongWait"/>, once.</param>
/// <param name="time">The clock.</param>
internal sealed class FanOutTable(Func<FanOut, Task<bool>> serve, Func<FanOut, TimeSpan, Task<bool>> rest, Action<FanOut, TimeSpan> waited, TimeProvider time)
{
    /// <summary>Of one app, under way and waiting, before its publishers wait. Each holds its event, 64 kB at most.</summary>
    internal const int MostOfApp = 64;

    // Of all apps; an app with few is not refused for what others have.
    private const int Most = 256;
    private const int Few = 8;

    // Two of a kind keep both of two cores busy while one reads.
    private const int Places = 2;

    internal static readonly TimeSpan LongWait = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly List<FanOut> _all = [];
    private readonly Dictionary<string, long> _turns = new(StringComparer.Ordinal);
    private readonly int[] _taken = new int[FanOut.Paces];
    private long _turn;
    private int _count;
    private int _busy;
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

    /// <summary>Seconds since the oldest of the class came; 0 = there is none.</summary>
    internal double AgeOf(EventClass @class)
    {
        lock (_gate)
        {
            return _all.Find(fanOut => fanOut.Line.Class == @class) is { } oldest ? time.GetElapsedTime(oldest.AddedAt).TotalSeconds : 0;
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
            return _all.Count(fanOut => Is(fanOut, app)) >= (_all.Count < Most ? MostOfApp : Few);
        }
    }

    /// <summary>Takes it, however many there are: it was accepted.</summary>
    internal void Add(FanOut fanOut)
    {
        lock (_gate)
        {
            fanOut.IsHead = !_all.Exists(other => other.Line == fanOut.Line);
            fanOut.AddedAt = time.GetTimestamp();
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

    /// <summary>Begins no page any more; completes when those under way have ended.</summary>
    internal Task CloseAsync()
    {
        lock (_gate)
        {
            _isClosed = true;
            if (_busy == 0)
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
        for (var i = 0; i < _all.Count; i++)
        {
            if (_all[i] is { Pages: 0, IsBusy: false, IsWaitTold: false } waiting && time.GetElapsedTime(waiting.AddedAt) is var wait && wait >= LongWait)
            {
                waiting.IsWaitTold = true;
                waited(waiting, wait);
            }
        }

        while (!_isClosed && FindNext() is { } next)
        {
            next.IsBusy = true;
            _busy++;
            _taken[(int)next.Pace]++;
            _turns[next.Line.Topic.App] = ++_turn;
            _ = Task.Run(() => RunAsync(next, next.Pace));
        }
    }

    private async Task RunAsync(FanOut fanOut, FanOutPace pace)
    {
        var since = time.GetTimestamp();
        var goesOn = await serve(fanOut).ConfigureAwait(false);
        fanOut.Pages++;
        if (pace != FanOutPace.Long)
        {
            // Others have the place while it waits for the journal.
            Leave(pace);
        }

        goesOn = goesOn && await rest(fanOut, time.GetElapsedTime(since)).ConfigureAwait(false);
        lock (_gate)
        {
            fanOut.IsBusy = false;
            _busy--;
            if (!goesOn)
            {
                Remove(fanOut);
            }
        }

        if (pace == FanOutPace.Long)
        {
            Leave(pace);
        }
        else
        {
            Leave(pace: null);
        }
    }

    private void Leave(FanOutPace? pace)
    {
        lock (_gate)
        {
            if (pace is { } taken)
            {
                _taken[(int)taken]--;
            }

            Pump();
            if (_busy == 0)
            {
                _ended?.TrySetResult();
            }
        }
    }

    private void Remove(FanOut ended)
    {
        _all.Remove(ended);
        _count = _all.Count;
        if (ended.IsHead)
        {
            _all.Find(fanOut => fanOut.Line == ended.Line)?.IsHead = true;
        }

        if (!_all.Exists(fanOut => Is(fanOut, ended.Line.Topic.App)))
        {
            _turns.Remove(ended.Line.Topic.App);
        }
    }

    // The app whose last page is longest ago; of that the one that came first.
    private FanOut? FindNext()
    {
        FanOut? next = null;
        var least = long.MaxValue;
        foreach (var each in _all)
        {
            if (each.IsBusy)
            {
                continue;
            }

            if (each.IsStopped)
            {
                return each;
            }

            if ((each.IsHead || each.Event.ExpiresAt <= time.GetUtcNow()) && _taken[(int)each.Pace] < Places
                && _turns.GetValueOrDefault(each.Line.Topic.App) is var turn && turn < least)
            {
                (next, least) = (each, turn);
            }
        }

        return next;
    }

    private static bool Is(FanOut fanOut, string app) => string.Equals(fanOut.Line.Topic.App, app, StringComparison.Ordinal);
}
