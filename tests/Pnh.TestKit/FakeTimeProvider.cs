namespace Pnh.TestKit;

/// <summary>
/// The library's clock, which moves only when told to, with a count of the timers that are set. Starts at 2026-01-01T00:00:00Z, so that tests print the same everywhere. Thread-safe.
/// </summary>
public sealed class FakeTimeProvider(DateTimeOffset start) : Microsoft.Extensions.Time.Testing.FakeTimeProvider(start)
{
    private int _pending;

    public FakeTimeProvider()
        : this(new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>Timers that are set and have not fired for good: lets a test wait until the code under test is asleep.</summary>
    public int PendingTimers => Volatile.Read(ref _pending);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new CountedTimer(this, callback, state);
        timer.Start(base.CreateTimer(CountedTimer.Fire, timer, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
        timer.Change(dueTime, period);
        return timer;
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

    private sealed class CountedTimer(FakeTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        private ITimer? _timer;
        private bool _isPeriodic;
        private int _isPending;

        public static void Fire(object? timer) => ((CountedTimer)timer!).Fire();

        public void Start(ITimer timer) => _timer = timer;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _isPeriodic = period > TimeSpan.Zero;
            Mark(dueTime != Timeout.InfiniteTimeSpan);
            return _timer!.Change(dueTime, period == TimeSpan.Zero ? Timeout.InfiniteTimeSpan : period);
        }

        public void Dispose()
        {
            Mark(false);
            _timer!.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Fire()
        {
            Mark(_isPeriodic);
            callback(state);
        }

        private void Mark(bool isPending)
        {
            var was = Interlocked.Exchange(ref _isPending, isPending ? 1 : 0);
            Interlocked.Add(ref clock._pending, (isPending ? 1 : 0) - was);
        }
    }
}
