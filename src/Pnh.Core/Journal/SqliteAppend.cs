using System.Text.Json;
using System.Threading.Tasks.Sources;
using Pnh.Core.Events;
using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>One append in a group: work for the writer and awaitable for its publisher in one object.</summary>
internal sealed class SqliteAppend : SqliteWork, IValueTaskSource<AppendResult>, IThreadPoolWorkItem
{
    private const string Insert = """
        INSERT INTO events(app, id, accepted, expires, id_given, trace, body) VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(app, id) DO NOTHING
        """;

    private const string InsertUnfinished = "INSERT INTO unfinished(seq) VALUES(?)";
    private const string Select = "SELECT seq, accepted, expires, body FROM events WHERE app = ? AND id = ?";

    private static readonly JsonDocumentOptions Json = new() { MaxDepth = Limits.JsonDepth };

    private readonly Event _accepted;
    private readonly TimeSpan _retention;
    private ManualResetValueTaskSourceCore<AppendResult> _waiter = new() { RunContinuationsAsynchronously = true };
    private AppendResult _result;
    private byte[]? _standing;

    /// <param name="accepted">The event.</param>
    /// <param name="retention">A standing record past this and its TTL counts as gone, though it was not swept yet.</param>
    public SqliteAppend(Event accepted, TimeSpan retention)
    {
        _accepted = accepted;
        _retention = retention;
    }

    public ValueTask<AppendResult> Task => new(this, _waiter.Version);

    public override int Bytes => 512 + _accepted.Body.Length;

    public override void Apply(SqliteDatabase database)
    {
        _standing = null;
        if (TryInsert(database))
        {
            _result = AppendResult.Appended;
            return;
        }

        var row = database.Statement(Select).Bind(1, _accepted.App).Bind(2, _accepted.Id);
        row.Read();
        var seq = row.Int64(0);
        var gone = SqliteRetention.IsOver(row.Time(1), row.Time(2), _retention, _accepted.AcceptedAt);
        _result = AppendResult.Duplicate;
        if (!gone && !row.Bytes(3).SequenceEqual(_accepted.Body.Span))
        {
            // Whether it is the same JSON written differently is found out off the writer's thread.
            _standing = row.Bytes(3).ToArray();
        }

        row.Reset();
        if (gone)
        {
            SqliteRetention.Delete(database, seq);
            TryInsert(database);
            _result = AppendResult.Appended;
        }
    }

    public override void Committed()
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

    public override void Failed(Exception reason) => _waiter.SetException(reason);

    void IThreadPoolWorkItem.Execute()
    {
        bool same;
        try
        {
            same = IsSameJson(_standing, _accepted.Body);
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

    private bool TryInsert(SqliteDatabase database)
    {
        database.Statement(Insert)
            .Bind(1, _accepted.App).Bind(2, _accepted.Id).Bind(3, _accepted.AcceptedAt).Bind(4, _accepted.ExpiresAt)
            .Bind(5, _accepted.IdGiven ? 1 : 0).Bind(6, _accepted.TraceParent).Bind(7, _accepted.Body.Span).Execute();
        if (database.Changes == 0)
        {
            return false;
        }

        database.Statement(InsertUnfinished).Bind(1, database.LastRow).Execute();
        return true;
    }

    /// <summary>Equal as values: order of members, white space and number spelling aside.</summary>
    private static bool IsSameJson(ReadOnlyMemory<byte> one, ReadOnlyMemory<byte> other)
    {
        try
        {
            using var first = JsonDocument.Parse(one, Json);
            using var second = JsonDocument.Parse(other, Json);
            return JsonElement.DeepEquals(first.RootElement, second.RootElement);
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            // The latter: half a surrogate pair in an escape. The reader refuses it today, but the journal may hold older bodies.
            return false;
        }
    }
}
