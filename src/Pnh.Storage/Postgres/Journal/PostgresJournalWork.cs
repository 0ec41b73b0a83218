using Pnh.Core.Journal;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>What waits for a commit, and is told of it.</summary>
internal abstract class PostgresJournalWork
{
    /// <summary>When it came, among all work and notes: a note that came before an event is not of it, though it has its id.</summary>
    public long Turn { get; set; }

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

/// <summary>Takes an event back: for one user, or (null) for all.</summary>
internal sealed class PostgresWithdraw(string app, string id, string? user, string reason, DateTimeOffset at) : PostgresJournalWork
{
    private readonly TaskCompletionSource<WithdrawResult> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public string App => app;

    public string Id => id;

    public string? User => user;

    public string Reason => reason;

    public DateTimeOffset At => at;

    /// <summary>After the commit.</summary>
    public Task<WithdrawResult> Answer => _answer.Task;

    /// <summary>What became of it.</summary>
    public void Done(in WithdrawResult result) => _answer.TrySetResult(result);

    public override void Fail(Exception fault) => _answer.TrySetException(fault);
}
