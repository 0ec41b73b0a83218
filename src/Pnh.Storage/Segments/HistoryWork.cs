using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Reads;

namespace Pnh.Storage.Segments;

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

    // What a full disk keeps from being written: it was noted before this read.
    private List<Milestone> _unwritten = [];

    /// <param name="reader">Reads after the commit, on a pool thread.</param>
    /// <param name="ofUser">The same, of one user.</param>
    /// <param name="app">Whose event.</param>
    /// <param name="id">Which.</param>
    /// <param name="hash">Of both.</param>
    /// <param name="user">Whose part of the history; null = everybody's.</param>
    /// <param name="withdrawal">Written unless it stands, for whatever reason; an erasure unless an erasure stands. Null = only read.</param>
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
        if (HasToWrite(writer, out var entry, out var @class))
        {
            var withdrawal = _withdrawal.GetValueOrDefault();
            writer.Index.Withdraw(_root, withdrawal);
            writer.Write(entry, withdrawal with { Class = @class });
        }
    }

    public override bool TryAnswer(JournalWriter writer)
    {
        if (HasToWrite(writer, out _, out _))
        {
            return false;
        }

        _unwritten = _status == WithdrawStatus.Withdrawn ? writer.Unwritten(_app, _id, _user) : [];
        return true;
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
            if (history is not null && _unwritten.Count > 0)
            {
                history = history with { Milestones = [.. history.Milestones, .. _unwritten] };
            }

            _waiter.SetResult(new WithdrawResult(WithdrawStatus.Withdrawn, history));
        }
        catch (Exception fault)
        {
            _waiter.SetException(fault);
        }
    }

    /// <summary>Finds the event. True = the withdrawal does not stand yet.</summary>
    private bool HasToWrite(JournalWriter writer, out IndexEntry entry, out EventClass @class)
    {
        (_status, @class) = (WithdrawStatus.Unknown, default);
        if (!writer.TryFind(_hash, _app, _id, out entry))
        {
            return false;
        }

        var record = writer.Read(entry.Root);
        if (writer.IsOver(entry, record, _now))
        {
            return false;
        }

        (_root, _head, @class) = (entry.Root, entry.Head, record.Class);
        var isStanding = _withdrawal is { } withdrawal && writer.Index.IsWithdrawn(_root, withdrawal.User);
        _status = isStanding ? WithdrawStatus.Already : WithdrawStatus.Withdrawn;
        return _withdrawal is { } asked && (!isStanding || (asked.IsErasure && !writer.Index.IsErased(_root, asked.User!)));
    }
}
