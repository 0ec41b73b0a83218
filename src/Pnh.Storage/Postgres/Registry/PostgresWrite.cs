using Npgsql;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>
/// One write of the registry, in a group with others: what it decides on is read for all of them in one round trip, decided here, and written for all in a second. It may run again after a rollback.
/// </summary>
internal abstract class PostgresWrite
{
    /// <summary>What it reads or changes, such as a user or an address: two writes with one of these in common are not in one group.</summary>
    public abstract IEnumerable<(string Kind, string Of)> Keys { get; }

    /// <summary>Adds the statements whose rows it decides on; how many. None = it decides nothing.</summary>
    public virtual int Ask(NpgsqlBatch batch) => 0;

    /// <summary>The rows of one of these statements.</summary>
    /// <param name="index">Which, from 0 on.</param>
    /// <param name="rows">Not read yet.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public virtual Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Decides, and adds the statements that write it; none = it is refused, or there is nothing to do.</summary>
    public abstract void Write(NpgsqlBatch batch);

    /// <summary>It is committed, or nothing was written: its caller hears of it.</summary>
    /// <param name="changed">How many rows each of its statements changed.</param>
    public abstract void Complete(IReadOnlyList<int> changed);

    /// <summary>It is not written.</summary>
    public abstract void Fail(Exception fault);
}

/// <summary>The same with an answer.</summary>
internal abstract class PostgresWrite<T> : PostgresWrite
{
    private readonly TaskCompletionSource<T> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>What became of it.</summary>
    public Task<T> Answer => _answer.Task;

    /// <summary>What its caller hears; what is in memory of it is forgotten here.</summary>
    protected abstract T Written(IReadOnlyList<int> changed);

    public sealed override void Complete(IReadOnlyList<int> changed) => _answer.TrySetResult(Written(changed));

    public override void Fail(Exception fault) => _answer.TrySetException(fault);
}

/// <summary>A write that decides nothing.</summary>
/// <param name="keys">What it changes.</param>
/// <param name="write">Adds its statements.</param>
/// <param name="written">From the counts of changed rows to the answer.</param>
internal sealed class PlainWrite<T>(IEnumerable<(string Kind, string Of)> keys, Action<NpgsqlBatch> write, Func<IReadOnlyList<int>, T> written) : PostgresWrite<T>
{
    public override IEnumerable<(string Kind, string Of)> Keys => keys;

    public override void Write(NpgsqlBatch batch) => write(batch);

    protected override T Written(IReadOnlyList<int> changed) => written(changed);
}
