namespace Pnh.Core.Diagnostics;

/// <summary>
/// Measures how long a queued work item waits for a thread of the pool: the one number that shows starvation (blocking code, too much work)
/// before users do. Start once, dispose once.
/// </summary>
public sealed class ThreadPoolWatchdog : IDisposable
{
    // A hundred probes a second cost some 0.5 ms of CPU and see overload before a refusal is due (10 ms).
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(10);

    private readonly ManualResetEvent _stopping = new(initialState: false);
    private readonly Probe _probe;
    private readonly Action<IThreadPoolWorkItem> _queue;
    private Thread? _thread;

    /// <summary>
    /// Measures into <paramref name="metrics"/>, and tells <paramref name="observe"/> each wait, also one that still goes on; nothing runs
    /// before <see cref="Start"/>.
    /// </summary>
    public ThreadPoolWatchdog(HubMetrics metrics, TimeProvider time, Action<TimeSpan>? observe = null)
        : this(metrics, time, static probe => ThreadPool.UnsafeQueueUserWorkItem(probe, preferLocal: false), observe)
    {
    }

    /// <summary>With another queue than the pool's, so that a test need not starve the pool it runs on.</summary>
    internal ThreadPoolWatchdog(HubMetrics metrics, TimeProvider time, Action<IThreadPoolWorkItem> queue, Action<TimeSpan>? observe = null)
    {
        ArgumentNullException.ThrowIfNull(metrics);
        ArgumentNullException.ThrowIfNull(time);
        _probe = new Probe(metrics, time, observe);
        _queue = queue;
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
        while (!_stopping.WaitOne(Interval))
        {
            // While one waits, its own wait is the measurement; more would only lengthen the queue.
            if (_probe.TryArm())
            {
                _queue(_probe);
            }
            else
            {
                _probe.StillWaits();
            }
        }
    }

    private sealed class Probe : IThreadPoolWorkItem
    {
        private readonly HubMetrics _metrics;
        private readonly TimeProvider _time;
        private readonly Action<TimeSpan>? _observe;
        private long _queuedAt;
        private int _waiting;

        public Probe(HubMetrics metrics, TimeProvider time, Action<TimeSpan>? observe)
        {
            _metrics = metrics;
            _time = time;
            _observe = observe;
        }

        public void StillWaits() => _observe?.Invoke(_time.GetElapsedTime(_queuedAt));

        public bool TryArm()
        {
            if (Volatile.Read(ref _waiting) != 0)
            {
                return false;
            }

            _queuedAt = _time.GetTimestamp();
            Volatile.Write(ref _waiting, 1);
            return true;
        }

        public void Execute()
        {
            var wait = _time.GetElapsedTime(_queuedAt);
            _metrics.ThreadPoolDelay(wait);
            _observe?.Invoke(wait);
            Volatile.Write(ref _waiting, 0);
        }
    }
}
