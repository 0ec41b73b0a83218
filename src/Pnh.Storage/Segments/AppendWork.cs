using System.Threading.Tasks.Sources;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>One append in a group: work for the writer and awaitable for its publisher in one object.</summary>
internal sealed class AppendWork : JournalWork, IValueTaskSource<AppendResult>, IThreadPoolWorkItem
{
    private readonly Event _accepted;
    private readonly ulong _hash;
    // Goes on inside of the answer, which is on the pool already.
    private ManualResetValueTaskSourceCore<AppendResult> _waiter;
    private AppendResult _result;
    private byte[]? _standing;
    private TimeSpan _standingLife;
    private bool _isCarried;

    public AppendWork(Event accepted, ulong hash)
    {
        _accepted = accepted;
        _hash = hash;
        MostBytes = Group.MostBytesOf(accepted);
    }

    public ValueTask<AppendResult> Task => new(this, _waiter.Version);

    public override int MostBytes { get; }

    public override void Prefetch(EventIndex index) => index.Prefetch(_hash);

    public override void Apply(JournalWriter writer)
    {
        var index = writer.Index;
        if (IsKnown(writer, out var replaced))
        {
            return;
        }

        var now = _accepted.AcceptedAt.UtcTicks;
        var root = writer.Group.Event(
            RecordKind.Accepted, _accepted.Class, _accepted.App, _accepted.Id, _accepted.IdGiven, _accepted.AcceptedAt, _accepted.ExpiresAt,
            _accepted.TraceParent, _accepted.Body.Span);
        writer.Saw(now);
        var added = new IndexEntry(_hash, root, root);
        if (replaced.IsEmpty)
        {
            index.Add(added);
        }
        else
        {
            index.Replace(replaced, added);
        }

        _result = AppendResult.Appended;
    }

    public override bool TryAnswer(JournalWriter writer) => IsKnown(writer, out _);

    protected override void Committed()
    {
        if (_standing is null)
        {
            _waiter.SetResult(_result);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    protected override void Failed(Exception reason) => _waiter.SetException(reason);

    void IThreadPoolWorkItem.Execute()
    {
        bool same;
        try
        {
            same = SameEvent.Is(_standing, _standingLife, _accepted.Body, _accepted.ExpiresAt - _accepted.AcceptedAt) || (_isCarried && BodyWithout.IsSame(_standing, _accepted.Body.Span));
        }
        catch (Exception fault)
        {
            // Nobody is above: what gets out of a work item ends the process.
            _waiter.SetException(fault);
            return;
        }

        _waiter.SetResult(same ? AppendResult.Duplicate : AppendResult.Conflict);
    }

    AppendResult IValueTaskSource<AppendResult>.GetResult(short token) => _waiter.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<AppendResult>.GetStatus(short token) => _waiter.GetStatus(token);

    void IValueTaskSource<AppendResult>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _waiter.OnCompleted(continuation, state, token, flags);

    /// <summary>Whether its id stands. Else <paramref name="replaced"/> is the one that had it and is over; empty = none.</summary>
    private bool IsKnown(JournalWriter writer, out IndexEntry replaced)
    {
        replaced = default;
        for (var nth = 0; writer.Index.TryFind(_hash, nth, out var entry); nth++)
        {
            var record = writer.Read(entry.Root);
            if (!Payload.IsEvent(record, _accepted.App, _accepted.Id, out var body))
            {
                continue;
            }

            if (!writer.IsOver(entry, record, _accepted.AcceptedAt.UtcTicks))
            {
                // Whether it is the same JSON written differently is found out off the writer's thread.
                _standing = body.SequenceEqual(_accepted.Body.Span) ? null : body.ToArray();
                var (acceptedAt, expiresAt) = Payload.Times(record);
                _standingLife = TimeSpan.FromTicks(expiresAt - acceptedAt);
                _isCarried = record.Kind == RecordKind.Carried;
                _result = AppendResult.Duplicate;
                return true;
            }

            replaced = entry;
            break;
        }

        return false;
    }
}
