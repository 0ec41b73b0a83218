namespace Pnh.Storage.Postgres;

/// <summary>What waits for a commit, and is told of it.</summary>
internal abstract class PostgresJournalWork
{
    /// <summary>It is not written.</summary>
    public abstract void Fail(Exception fault);
}

/// <summary>Wants to know when all that was noted before is committed.</summary>
internal sealed class PostgresFlush : PostgresJournalWork
{
    private readonly TaskCompletionSource _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>After the commit.</summary>
    public Task Answer => _answer.Task;

    /// <summary>All is committed.</summary>
    public void Done() => _answer.TrySetResult();

    public override void Fail(Exception fault) => _answer.TrySetException(fault);
}

/// <summary>An event is finished, or (with a time) only mail of it is left until then. Nobody waits for it.</summary>
/// <param name="App">The event's app.</param>
/// <param name="Id">The event's id.</param>
/// <param name="RestsUntil">Null = it is finished.</param>
internal readonly record struct PostgresMark(string App, string Id, DateTimeOffset? RestsUntil);
