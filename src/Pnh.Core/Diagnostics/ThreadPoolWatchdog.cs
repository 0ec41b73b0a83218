namespace Pnh.Core.Diagnostics;

/// <summary>
/// Measures how long a queued work item waits for a thread of the pool: the one number that shows starvation (blocking code, too much work)
/// before users do. Start once, dispose once.
/// </summary>
public sealed class ThreadPoolWatchdog : IDisposable
{
    // A probe costs two wake-ups, up to 170 us of CPU on an idle core, and the look itself 100: a hundred a second, which see overload before a refusal is due (10 ms), were
    // half of all that an idle hub took. So that many only while the observer wants them.
    private static readonly TimeSpan Quick = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan Calm = TimeSpan.FromMilliseconds(100);

    // While nothing waits for the pool, the watchdog's own wake-up says how long work waits for a core. A pool whose threads are all blocked is found 0.4 s later.
    private static readonly TimeSpan Prompt = TimeSpan.FromMilliseconds(1);
    private const int LooksForAProbe = 4;

    private readonly ManualResetEvent _stopping = new(initialState: false);
    private readonly Probe _probe;
    private readonly Action<IThreadPoolWorkItem> _queue;
    private readonly Func<long> _waiting;
    private readonly TimeProvider _time;
    private Thread? _thread;

    /// <summary>
    /// Measures into <paramref name="metrics"/>, and tells <paramref name="observe"/> each wait, also one that still goes on; what it returns says whether the next is
    /// wanted in 10 ms instead of 100. While nothing waits for the pool it gets the wait for a core three times of four. Nothing runs before <see cref="Start"/>.
    /// </summary>
    public ThreadPoolWatchdog(HubMetrics metrics, TimeProvider time, Func<TimeSpan, bool>? observe = null)
        : this(metrics, time, static probe => ThreadPool.UnsafeQueueUserWorkItem(probe, preferLocal: false), static () => ThreadPool.PendingWorkItemCount, observe)
    {
    }

    /// <summary>With another queue than the pool's, and how much waits in it, so that a test need not starve the pool it runs on.</summary>
    internal ThreadPoolWatchdog(HubMetrics metrics, TimeProvider time, Action<IThreadPoolWorkItem> queue, Func<long> waiting, Func<TimeSpan, bool>? observe = null)
    {
        ArgumentNullException.ThrowIfNull(metrics);
        ArgumentNullException.ThrowIfNull(time);
        _probe = new Probe(metrics, time, observe);
        _queue = queue;
        _waiting = waiting;
        _time = time;
    }

    /// <summary>Starts the probes. A second call throws.</summary>
    public void Start()
    {
        if (_thread is not null)
        {
            throw new InvalidOperationException("The watchdog runs already.");
        }

        // A thread of its own: a timer's callback would wait for the same pool that it measures.
        _thread = new Thread(Run) { IsBackground = true, Name = "pnh-threadpool-watchdog" };
        _thread.Start();
    }

    /// <summary>Ends the probes; returns when the thread is gone.</summary>
    public void Dispose()
    {
        _stopping.Set();
        _thread?.Join();
        _stopping.Dispose();
    }

    private void Run()
    {
        var looks = 0;
        while (Sleep() is { } late)
        {
            // While one waits, its own wait is the measurement; more would only lengthen the queue.
            if (_probe.IsWaiting)
            {
                _probe.StillWaits();
            }
            else if (++looks < LooksForAProbe && !_probe.IsWanted && late < Prompt && _waiting() == 0)
            {
                _probe.Observe(late); // the pool is not asked
            }
            else
            {
                looks = 0;
                _probe.Arm();
                _queue(_probe);
            }
        }
    }

    // How late it woke up; null = the probes end.
    private TimeSpan? Sleep()
    {
        var time = _probe.IsWanted ? Quick : Calm;
        var from = _time.GetTimestamp();
        if (_stopping.WaitOne(time))
        {
            return null;
        }

        var late = _time.GetElapsedTime(from) - time;
        return late > TimeSpan.Zero ? late : TimeSpan.Zero;
    }

    private sealed class Probe : IThreadPoolWorkItem
    {
        private readonly HubMetrics _metrics;
        private readonly TimeProvider _time;
        private readonly Func<TimeSpan, bool>? _observe;
        private readonly Lock _observing = new();
        private long _queuedAt;
        private int _waiting;
        private volatile bool _isWanted;

        public Probe(HubMetrics metrics, TimeProvider time, Func<TimeSpan, bool>? observe)
        {
            _metrics = metrics;
            _time = time;
            _observe = observe;
        }

        /// <summary>Whether the next look shall be soon.</summary>
        public bool IsWanted => _isWanted;

        /// <summary>True from <see cref="Arm"/> on until the pool came to it.</summary>
        public bool IsWaiting => Volatile.Read(ref _waiting) != 0;

        public void StillWaits() => Observe(_time.GetElapsedTime(_queuedAt));

        public void Arm()
        {
            _queuedAt = _time.GetTimestamp();
            Volatile.Write(ref _waiting, 1);
        }

        public void Execute()
        {
            var wait = _time.GetElapsedTime(_queuedAt);
            _metrics.ThreadPoolDelay(wait);
            Observe(wait);
            Volatile.Write(ref _waiting, 0);
        }

        // The observer keeps books of one caller, and the watchdog may look at the very moment at which the pool comes to the probe.
        public void Observe(TimeSpan wait)
        {
            lock (_observing)
            {
                _isWanted = _observe?.Invoke(wait) == true;
            }
        }
    }
}
