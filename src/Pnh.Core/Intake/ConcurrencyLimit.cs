namespace Pnh.Core.Intake;

/// <summary>
/// How many events may be inside the hub at once. While the cores keep up it is <see cref="Most"/>; when work queues for them it falls until the queue is short again.
/// The queueing delay is how long work waits for a core; while the hub keeps the cores busy, also how much longer than the quickest the answers take. When it stands over
/// <see cref="Target"/> for two intervals the limit falls in proportion to it; when events are refused and it is short again, the limit grows by an eighth.
/// Thread-safe, does not wait; observed by one caller.
/// </summary>
/// <remarks>
/// A delay that stands over an interval is CoDel's sign of a bad queue (RFC 8289, section 3). A limit that follows the ratio of the delay that is wanted and the one that is
/// measured, over the quickest answer as the time without a queue, is the gradient limit of Netflix's concurrency-limits. A slow disk is no overload: it makes the
/// quickest answer slow too, and leaves the cores free.
/// </remarks>
/// <param name="time">The clock.</param>
/// <param name="cpuTime">CPU time of the process until now.</param>
public sealed class ConcurrencyLimit(TimeProvider time, Func<TimeSpan> cpuTime)
{
    /// <summary>Longest queueing delay that may stand: CoDel's number, and half of the 10 ms in which a refusal must be answered.</summary>
    internal static readonly TimeSpan Target = TimeSpan.FromMilliseconds(5);

    /// <summary>Longest wait for a core with which an upload goes on at full speed; above it a batch of 256 takes 25 ms at least.</summary>
    internal static readonly TimeSpan Courtesy = TimeSpan.FromMilliseconds(2);

    /// <summary>How often the limit is set: CoDel's number.</summary>
    internal static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    /// <summary>So long after the last refusal everything is as before: the longest Retry-After, after which those who obey come back, and a second.</summary>
    internal static readonly TimeSpan Hold = TimeSpan.FromSeconds(5);

    /// <summary>The quickest answer is that of the last one to two of these.</summary>
    internal static readonly TimeSpan Memory = TimeSpan.FromSeconds(10);

    /// <summary>With that many inside a journal flush takes 10 ms and more, and each core has 100 ms of work.</summary>
    internal const int Most = 8_192;

    /// <summary>The limit of a core is never less: 6 ms of work. Bulk has a quarter of it at least, so 64 events inside are never too many.</summary>
    internal const int LeastOfCore = 256;

    internal static readonly int Least = LeastOfCore * Environment.ProcessorCount;

    // Half of the cores, since each loop serves two; a single core is full only when it is nearly full.
    private static readonly double BusyCores = Math.Max(Environment.ProcessorCount / 2.0, 0.75);

    private const double MostFall = 0.5;
    private const double LeastFall = 0.875;
    private int _events = Most;
    private long _waitTicks;
    private long _from = time.GetTimestamp();
    private TimeSpan _cpu = cpuTime();
    private TimeSpan _shortestWait = TimeSpan.MaxValue;
    private TimeSpan _lastDelay;
    private bool _hasRefused;
    private long _refusedAt;
    private bool _isOverloaded;
    private long _answerTicks;
    private long _answers;
    private long _quickest = long.MaxValue;
    private long _quickestBefore = long.MaxValue;
    private long _memoryFrom = time.GetTimestamp();

    /// <summary>Most events that may be inside now.</summary>
    public int Events => Volatile.Read(ref _events);

    /// <summary>True while it is less than <see cref="Most"/>.</summary>
    public bool IsNarrow => Events < Most;

    /// <summary>True when events were refused in the last interval, or the delay was too long in it.</summary>
    public bool IsOverloaded => Volatile.Read(ref _isOverloaded);

    /// <summary>How long work waited for a core at the last look.</summary>
    public TimeSpan Wait => new(Volatile.Read(ref _waitTicks));

    /// <summary>An event was refused because so many were inside.</summary>
    internal void Refused() => Volatile.Write(ref _hasRefused, true);

    /// <summary>A durable event that came alone was answered so long after it had come.</summary>
    public void Answered(TimeSpan sinceArrived)
    {
        Interlocked.Add(ref _answerTicks, sinceArrived.Ticks);
        Interlocked.Increment(ref _answers);

        // A race that loses one of many does not matter.
        if (sinceArrived.Ticks < Volatile.Read(ref _quickest))
        {
            Volatile.Write(ref _quickest, sinceArrived.Ticks);
        }
    }

    /// <summary>
    /// Takes a measurement of how long work waits for a core. For one caller, some 10 times a second, and 100 times while the limit is narrow or the wait is over
    /// <see cref="Courtesy"/>; a wait that still goes on is a measurement each time.
    /// </summary>
    public void Observe(TimeSpan wait)
    {
        Volatile.Write(ref _waitTicks, wait.Ticks);
        _shortestWait = wait < _shortestWait ? wait : _shortestWait;
        var elapsed = time.GetElapsedTime(_from);
        if (elapsed >= Interval)
        {
            Set(elapsed);
        }
    }

    /// <summary>
    /// For the reader of a long upload, whose sender can wait: completes when the hub is not overloaded, or when <paramref name="patience"/> is over; after one look's time
    /// while work waits for a core, so that a call does not wait for the upload. Synchronous when there is nothing to wait for.
    /// </summary>
    public ValueTask WaitAsync(TimeSpan patience, CancellationToken cancellationToken) =>
        IsOverloaded || Wait > Courtesy ? WaitForCalmAsync(patience, cancellationToken) : ValueTask.CompletedTask;

    private void Set(TimeSpan elapsed)
    {
        var cpu = cpuTime();
        var isBusy = cpu - _cpu >= elapsed * BusyCores;
        var (behind, inside) = TakeAnswers(elapsed);
        var delay = _shortestWait + (isBusy ? behind : TimeSpan.Zero);
        var standing = delay < _lastDelay ? delay : _lastDelay;
        var hasRefused = Volatile.Read(ref _hasRefused);
        var isTooLong = standing > Target;
        if (isTooLong || hasRefused)
        {
            _refusedAt = time.GetTimestamp();
        }

        Volatile.Write(ref _events, isTooLong ? Narrower(standing, inside) : Wider(hasRefused && delay < Target / 2));
        Volatile.Write(ref _isOverloaded, IsNarrow && (hasRefused || isTooLong));
        Volatile.Write(ref _hasRefused, false);
        (_from, _cpu, _lastDelay, _shortestWait) = (time.GetTimestamp(), cpu, delay, TimeSpan.MaxValue);
    }

    // From what is inside: of a limit that nobody reached the first halves would change nothing.
    private int Narrower(TimeSpan delay, double inside) =>
        Math.Max(Least, (int)(Math.Min(_events, inside) * Math.Clamp(Target / delay, MostFall, LeastFall)));

    private int Wider(bool mayGrow) => time.GetElapsedTime(_refusedAt) >= Hold ? Most : mayGrow ? Math.Min(Most, _events + (_events / 8)) : _events;

    // How much longer than the quickest the answers of this interval took, and how many events were inside on average (Little's law). Their mean: a crowd of which
    // each waits for its own answer leaves the cores idle for an instant in each round, so the wait for a core alone does not see it.
    private (TimeSpan Behind, double Inside) TakeAnswers(TimeSpan elapsed)
    {
        var (ticks, answers) = (Interlocked.Exchange(ref _answerTicks, 0), Interlocked.Exchange(ref _answers, 0));
        var quickest = Math.Min(Volatile.Read(ref _quickest), _quickestBefore);
        if (time.GetElapsedTime(_memoryFrom) >= Memory)
        {
            _memoryFrom = time.GetTimestamp();
            _quickestBefore = Interlocked.Exchange(ref _quickest, long.MaxValue);
        }

        return answers == 0 ? default : (new TimeSpan(Math.Max(0, (ticks / answers) - quickest)), (double)ticks / elapsed.Ticks);
    }

    private async ValueTask WaitForCalmAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        var since = time.GetTimestamp();
        do
        {
            await Task.Delay(Interval / 4, time, cancellationToken).ConfigureAwait(false);
        }
        while (IsOverloaded && time.GetElapsedTime(since) < patience);
    }
}
