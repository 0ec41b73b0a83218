namespace Pnh.Core.Threads;

/// <summary>
/// Runs tasks that take a core for milliseconds and that nothing urgent waits for, on threads of their own. On threads of the pool, of which there is one a core, an answer to a call would
/// wait behind them. A thread is started when there is work, and ends when there was none for ten seconds. Thread-safe.
/// </summary>
/// <remarks>
/// Beside 64 readers of history a call's p99 was 73 ms (feed), 76 ms (export) and 27 ms (members) with the pool's threads, 2.5 to 4 ms idle.
/// </remarks>
/// <param name="name">Of the threads.</param>
/// <param name="most">Threads at once, 1 or more.</param>
public sealed class BackgroundThreads(string name, int most) : TaskScheduler
{
    private static readonly TimeSpan IdleLimit = TimeSpan.FromSeconds(10);

    [ThreadStatic]
    private static BackgroundThreads? t_of;

    private readonly object _gate = new();
    private readonly Queue<Task> _tasks = new();
    private int _threads;

    // Those that were not yet woken for a task.
    private int _idle;

    /// <inheritdoc/>
    public override int MaximumConcurrencyLevel => most;

    /// <summary>Runs it there, what it awaits included as far as that does not say otherwise.</summary>
    public Task<T> RunAsync<T>(Func<Task<T>> run, CancellationToken cancellationToken) =>
        Task.Factory.StartNew(run, cancellationToken, TaskCreationOptions.DenyChildAttach, this).Unwrap();

    /// <inheritdoc/>
    protected override void QueueTask(Task task)
    {
        lock (_gate)
        {
            _tasks.Enqueue(task);
            if (_idle > 0)
            {
                _idle--;
                Monitor.Pulse(_gate);
            }
            else if (_threads < most)
            {
                _threads++;
                new Thread(Run) { IsBackground = true, Name = name }.Start();
            }
        }
    }

    /// <inheritdoc/>
    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => t_of == this && !taskWasPreviouslyQueued && TryExecuteTask(task);

    /// <inheritdoc/>
    protected override IEnumerable<Task> GetScheduledTasks()
    {
        lock (_gate)
        {
            return [.. _tasks];
        }
    }

    private void Run()
    {
        t_of = this;
        while (Take() is { } task)
        {
            _ = TryExecuteTask(task);
        }
    }

    /// <summary>The next; null = the thread ends.</summary>
    private Task? Take()
    {
        lock (_gate)
        {
            while (_tasks.Count == 0)
            {
                _idle++;
                if (!Monitor.Wait(_gate, IdleLimit))
                {
                    _idle--;
                    _threads--;
                    return null;
                }
            }

            return _tasks.Dequeue();
        }
    }
}
