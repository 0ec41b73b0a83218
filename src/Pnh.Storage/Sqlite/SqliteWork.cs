namespace Pnh.Storage.Sqlite;

/// <summary>
/// One piece of writing in a group. <see cref="Apply"/> may run twice (a group is replayed without the work that broke it), so it
/// keeps nothing from an earlier run; after it exactly one of <see cref="Committed"/> and <see cref="Failed"/>. All on the writer's thread,
/// so completions must run their continuations elsewhere.
/// </summary>
internal abstract class SqliteWork
{
    /// <summary>Bytes it keeps alive while it waits, about.</summary>
    public virtual int Bytes => 256;

    /// <summary>Set by the writer when this work alone failed.</summary>
    internal Exception? Failure { get; set; }

    /// <summary>Writes, inside the group's transaction.</summary>
    public abstract void Apply(SqliteDatabase database);

    /// <summary>It is on stable storage.</summary>
    public abstract void Committed();

    /// <summary>Nothing of it was written.</summary>
    public abstract void Failed(Exception reason);
}

/// <summary>Work with a result for one waiter.</summary>
internal sealed class SqliteWork<T> : SqliteWork
{
    private readonly TaskCompletionSource<T> _waiter = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Func<SqliteDatabase, T> _apply;
    private readonly Action? _committed;
    private T _result = default!;

    /// <param name="apply">Writes and says what came of it.</param>
    /// <param name="committed">Runs after the commit and before the waiting caller has its answer; must not throw.</param>
    public SqliteWork(Func<SqliteDatabase, T> apply, Action? committed)
    {
        _apply = apply;
        _committed = committed;
    }

    public Task<T> Task => _waiter.Task;

    public override void Apply(SqliteDatabase database) => _result = _apply(database);

    public override void Committed()
    {
        _committed?.Invoke();
        _waiter.SetResult(_result);
    }

    public override void Failed(Exception reason) => _waiter.SetException(reason);
}
