namespace Pnh.TestKit;

/// <summary>
/// A clock that moves only when told to. Wall clock and monotonic clock move together; timers fire inside <see cref="Advance"/>, in due
/// order, on the caller's thread, with the clock standing at their due time. Thread-safe.
/// </summary>
public sealed class FakeTimeProvider : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<FakeTimer> _timers = [];
    private DateTimeOffset _now;

    /// <summary>Starts at a fixed moment, 2026-01-01T00:00:00Z, so that tests print the same everywhere.</summary>
    public FakeTimeProvider()
        : this(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    public FakeTimeProvider(DateTimeOffset start)
    {
        Start = start;
        _now = start;
    }

    /// <summary>Where the clock started.</summary>
    public DateTimeOffset Start { get; }

    /// <summary>Timers that are set and have not fired for good: lets a test wait until the code under test is asleep.</summary>
    public int PendingTimers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count;
            }
        }
    }

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
        {
            return _now;
        }
    }

    public override long GetTimestamp() => (GetUtcNow() - Start).Ticks;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new FakeTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves the clock on and fires what becomes due on the way.</summary>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        var target = GetUtcNow() + by;
        while (TakeDue(target) is { } due)
        {
            due.Fire();
        }

        lock (_gate)
        {
            _now = target > _now ? target : _now;
        }
    }

    /// <summary>Waits, in real time and at most <paramref name="limit"/> (default 10 s), until <paramref name="count"/> timers are pending.</summary>
    public async Task WaitForTimersAsync(int count, TimeSpan? limit = null)
    {
        var start = System.GetTimestamp();
        while (PendingTimers < count)
        {
            if (System.GetElapsedTime(start) > (limit ?? TimeSpan.FromSeconds(10)))
            {
                throw new TimeoutException($"{PendingTimers} timers are pending, {count} were awaited.");
            }

            await Task.Delay(5);
        }
    }

    private FakeTimer? TakeDue(DateTimeOffset target)
    {
        lock (_gate)
        {
            FakeTimer? first = null;
            foreach (var timer in _timers)
            {
                if (timer.Due <= target && (first is null || timer.Due < first.Due))
                {
                    first = timer;
                }
            }

            if (first is null)
            {
                return null;
            }

            _now = first.Due > _now ? first.Due : _now;
            if (first.Period > TimeSpan.Zero)
            {
                first.Due += first.Period;
            }
            else
            {
                _timers.Remove(first);
            }

            return first;
        }
    }

    private sealed class FakeTimer(FakeTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        public DateTimeOffset Due { get; set; }

        public TimeSpan Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
                Period = period == Timeout.InfiniteTimeSpan ? TimeSpan.Zero : period;
                if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    Due = clock._now + dueTime;
                    clock._timers.Add(this);
                }
            }

            return true;
        }

        public void Dispose()
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
