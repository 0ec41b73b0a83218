using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;

namespace Pnh.Storage.Sqlite;

/// <summary>
/// The only writer of a database: one thread, one connection, group commit. It takes everything that is queued, writes it in one
/// transaction, syncs once, tells all waiters, and starts again: no delay, so a group is as large as one sync is slow.
/// Queue bounded by items and bytes; what does not fit is refused at once. Thread-safe.
/// </summary>
internal sealed partial class SqliteWriter : IAsyncDisposable
{
    private const int QueueItems = 65_536;
    private const long QueueBytes = 64 * 1024 * 1024;

    // 16 MiB of log: large enough that the two syncs of a checkpoint are rare, small enough that one takes some 10 ms.
    private const int CheckpointPages = 4_096;

    // Cleaning while others wait: half of what a sync takes, and time to delete more than came in meanwhile.
    private static readonly TimeSpan TidyBudget = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LazyDelay = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan IdleDelay = TimeSpan.FromSeconds(1);

    private readonly object _gate = new();
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SqliteDatabase _database;
    private readonly TimeProvider _time;
    private readonly Action<TimeSpan>? _onSync;
    private readonly Func<SqliteDatabase, bool>? _tidy;

    private List<SqliteWork> _queue = [];
    private List<SqliteWork> _group = [];
    private long _queuedBytes;
    private bool _urgent;
    private bool _waiting;
    private bool _stopping;
    private StoreUnavailableException? _damage;
    private StoreUnavailableException? _refusal;
    private int _logPages;
    private long _tidied;
    private bool _untidy;
    private volatile bool _clearsLog;
    private bool _started;
    private int _threadId;

    /// <param name="database">Opened for writing; the writer owns and closes it.</param>
    /// <param name="time">Measures commits.</param>
    /// <param name="onSync">Told how long each commit took, on the writer's thread; must be quick and not throw.</param>
    /// <param name="tidy">A small slice of cleaning, when idle and at least once a second; true = there is more, which then goes on after every group.</param>
    public SqliteWriter(SqliteDatabase database, TimeProvider time, Action<TimeSpan>? onSync, Func<SqliteDatabase, bool>? tidy)
    {
        _database = database;
        _time = time;
        _onSync = onSync;
        _tidy = tidy;
        _tidied = time.GetTimestamp();
    }

    /// <summary>Nothing is written any more, because what is on the disk is not known. Any thread may ask.</summary>
    public bool IsDamaged => Volatile.Read(ref _damage) is not null;

    /// <summary>Why writes are refused now; null = they are taken. Tried again each second. Any thread may ask.</summary>
    public StoreUnavailableException? Refusal => Volatile.Read(ref _damage) ?? Volatile.Read(ref _refusal);

    /// <summary>Closes it for good, as a failed write does: somebody read what cannot be. Any thread.</summary>
    public void Close(StoreUnavailableException damage) => Interlocked.CompareExchange(ref _damage, damage, null);

    /// <summary>When it is idle next, the log is emptied: what was deleted may stand in it. Any thread.</summary>
    public void ClearLog() => _clearsLog = true;

    /// <summary>Starts the thread.</summary>
    public void Start()
    {
        _started = true;
        new Thread(Run) { IsBackground = true, Name = "pnh " + Path.GetFileNameWithoutExtension(_database.FilePath) }.Start();
    }

    /// <summary>Runs <paramref name="apply"/> in the next group; completes when it is on stable storage.</summary>
    public Task<T> WriteAsync<T>(Func<SqliteDatabase, T> apply, Action? committed = null)
    {
        var work = new SqliteWork<T>(apply, committed);
        Enqueue(work);
        return work.Task;
    }

    /// <summary>Queues work for the next group. Lazy work does not start one: it rides with the next, at the latest after 50 ms.</summary>
    public void Enqueue(SqliteWork work, bool lazy = false)
    {
        if (Refuse(work, lazy) is { } refusal)
        {
            work.Failed(refusal);
        }
    }

    /// <summary>Writes what is queued, then stops and closes the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _stopping = true;
            Monitor.Pulse(_gate);
        }

        if (_started)
        {
            await _ended.Task;
        }

        _database.Dispose();
    }

    private StoreUnavailableException? Refuse(SqliteWork work, bool lazy)
    {
        lock (_gate)
        {
            // What the writer's own work still has to say is written before it ends.
            if (_stopping && Environment.CurrentManagedThreadId != _threadId)
            {
                return new StoreUnavailableException("The hub is shutting down: send it again to another node or after the restart.");
            }

            if (_queue.Count >= QueueItems || (_queuedBytes > 0 && _queuedBytes + work.Bytes > QueueBytes))
            {
                return new StoreUnavailableException("More is being written than the disk takes: send slower, or give the data folder a faster disk.");
            }

            _queue.Add(work);
            _queuedBytes += work.Bytes;
            var wake = lazy ? _queue.Count == 1 : !_urgent;
            _urgent |= !lazy;
            if (wake && _waiting)
            {
                Monitor.Pulse(_gate);
            }

            return null;
        }
    }

    private void Run()
    {
        _threadId = Environment.CurrentManagedThreadId;
        while (TakeGroup())
        {
            if (_group.Count > 0)
            {
                CommitGroup();
            }

            else if (Volatile.Read(ref _refusal) is not null)
            {
                TryAgain();
            }

            Tidy(idle: _group.Count == 0);
            _group.Clear();
        }

        if (!_clearsLog || _damage is not null || !_database.TryEmptyLog())
        {
            Checkpoint();
        }

        _ended.SetResult();
    }

    /// <summary>Waits for work; an empty group = idle for a while. False = stopping and everything is written.</summary>
    private bool TakeGroup()
    {
        lock (_gate)
        {
            while (!_urgent && !_stopping)
            {
                _waiting = true;
                var pulsed = Monitor.Wait(_gate, _queue.Count > 0 ? LazyDelay : IdleDelay);
                _waiting = false;
                if (!pulsed)
                {
                    break;
                }
            }

            (_queue, _group) = (_group, _queue);
            _queuedBytes = 0;
            _urgent = false;
            return _group.Count > 0 || !_stopping;
        }
    }

    private void Tidy(bool idle)
    {
        if (_damage is null && _tidy is not null && (idle || _untidy || _time.GetElapsedTime(_tidied) >= IdleDelay))
        {
            _tidied = _time.GetTimestamp();
            RunTidy(idle);
        }

        if (idle && _clearsLog && _damage is null && _database.TryEmptyLog())
        {
            (_clearsLog, _logPages) = (false, 0);
        }
        else if (_logPages >= CheckpointPages || (idle && _logPages > 0))
        {
            Checkpoint();
        }
    }

    private void RunTidy(bool idle)
    {
        try
        {
            do
            {
                // One sync for as many slices as fit the budget.
                var started = _time.GetTimestamp();
                Begin();
                do
                {
                    _untidy = _tidy!(_database);
                }
                while (_untidy && _time.GetElapsedTime(started) < TidyBudget);
                _database.Statement("COMMIT").Execute();
                _logPages += _database.TakePagesWritten();
            }
            while (_untidy && idle && !HasWork());
        }
        catch (Exception exception)
        {
            _ = Recover(exception);
        }
    }

    private bool HasWork()
    {
        lock (_gate)
        {
            return _queue.Count > 0 || _stopping;
        }
    }

    /// <summary>A failure here costs nothing but log size: the log stays and the next checkpoint moves it.</summary>
    private void Checkpoint()
    {
        try
        {
            _logPages = _damage is null ? _database.Checkpoint() : 0;
        }
        catch (SqliteException exception)
        {
            _ = Recover(exception);
        }
    }
}
