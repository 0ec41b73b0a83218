namespace Pnh.Core.Journal.Segments;

/// <summary>
/// Work that ends with reading an event's history: a read behind the writer, and (with a withdrawal) the one write whose answer tells what was before.
/// </summary>
internal sealed class HistoryWork : JournalWork, IThreadPoolWorkItem
{
    private readonly TaskCompletionSource<WithdrawResult> _waiter = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly HistoryReader _reader;
    private readonly UserHistoryReader _ofUser;
    private readonly string _app;
    private readonly string _id;
    private readonly ulong _hash;
    private readonly string? _user;
    private readonly Milestone? _withdrawal;
    private readonly long _now;
    private WithdrawStatus _status;
    private long _root;
    private long _head;

    /// <param name="reader">Reads after the commit, on a pool thread.</param>
    /// <param name="ofUser">The same, of one user.</param>
    /// <param name="app">Whose event.</param>
    /// <param name="id">Which.</param>
    /// <param name="hash">Of both.</param>
    /// <param name="user">Whose part of the history; null = everybody's.</param>
    /// <param name="withdrawal">Written unless it stands; null = only read.</param>
    /// <param name="now">UTC ticks: what is over counts as gone.</param>
    public HistoryWork(
        HistoryReader reader, UserHistoryReader ofUser, string app, string id, ulong hash, string? user, Milestone? withdrawal, long now)
    {
        (_reader, _ofUser, _app, _id, _hash, _user, _withdrawal, _now) = (reader, ofUser, app, id, hash, user, withdrawal, now);
        MostBytes = withdrawal is { } milestone ? Group.MostBytesOf(milestone) : 0;
    }

    public Task<WithdrawResult> Task => _waiter.Task;

    public override int MostBytes { get; }

    public override void Apply(JournalWriter writer)
    {
        _status = WithdrawStatus.Unknown;
        if (!writer.TryFind(_hash, _app, _id, out var entry))
        {
            return;
        }

        var record = writer.Read(entry.Root);
        if (writer.IsOver(entry, record, _now))
        {
            return;
        }

        (_root, _head) = (entry.Root, entry.Head);
        _status = WithdrawStatus.Withdrawn;
        if (_withdrawal is not { } withdrawal)
        {
            return;
        }

        if (writer.Index.IsWithdrawn(_root, withdrawal.User))
        {
            _status = WithdrawStatus.Already;
            return;
        }

        writer.Index.Withdraw(_root, withdrawal.User);
        writer.Write(entry, withdrawal with { Class = record.Class });
    }

    protected override void Committed()
    {
        if (_status == WithdrawStatus.Withdrawn)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
        else
        {
            _waiter.SetResult(new WithdrawResult(_status));
        }
    }

    protected override void Failed(Exception reason) => _waiter.SetException(reason);

    void IThreadPoolWorkItem.Execute() => _ = ReadAsync();

    private async Task ReadAsync()
    {
        try
        {
            var history = _user is null ? _reader.Read(_root, _head) : await _ofUser.ReadAsync(_root, _head, _user).ConfigureAwait(false);
            _waiter.SetResult(new WithdrawResult(WithdrawStatus.Withdrawn, history));
        }
        catch (Exception fault)
        {
            _waiter.SetException(fault);
        }
    }
}
