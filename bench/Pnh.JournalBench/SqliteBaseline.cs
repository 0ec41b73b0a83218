using Pnh.Core.Events;
using Pnh.Storage.Sqlite;

namespace Pnh.JournalBench;

/// <summary>What the hub had before: the same promises on SQLite, one transaction per group, in the hub's own writer.</summary>
internal sealed class SqliteBaseline : IEngine
{
    private static readonly SqliteSchema Schema = new(
    [
        """
        CREATE TABLE events(seq INTEGER PRIMARY KEY, app TEXT NOT NULL, id TEXT NOT NULL, accepted INTEGER NOT NULL, expires INTEGER NOT NULL,
          id_given INTEGER NOT NULL, trace TEXT, body BLOB NOT NULL, UNIQUE(app, id))
        """,
        "CREATE TABLE unfinished(seq INTEGER PRIMARY KEY)",
        """
        CREATE TABLE settled(seq INTEGER NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, at INTEGER NOT NULL,
          PRIMARY KEY(seq, user, device)) WITHOUT ROWID
        """,
    ]);

    private readonly SqliteEngine _engine;
    private long _commits;

    public SqliteBaseline(string folder) =>
        _engine = SqliteEngine.Open(Path.Combine(folder, "baseline.db"), Schema, TimeProvider.System, _ => _commits++);

    public string Name => "SQLite";

    public long Commits => Interlocked.Read(ref _commits);

    public async ValueTask AppendAsync(Event accepted)
    {
        var work = new Append(accepted);
        _engine.Writer.Enqueue(work);
        await work.Task;
    }

    public void End(Event accepted) => _engine.Writer.Enqueue(new Ending(accepted), lazy: true);

    public ValueTask DisposeAsync() => _engine.DisposeAsync();

    private sealed class Append(Event accepted) : SqliteWork
    {
        private readonly TaskCompletionSource _waiter = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Task => _waiter.Task;

        public override void Apply(SqliteDatabase database)
        {
            database.Statement("INSERT INTO events(app, id, accepted, expires, id_given, trace, body) VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(app, id) DO NOTHING")
                .Bind(1, accepted.App).Bind(2, accepted.Id).Bind(3, accepted.AcceptedAt).Bind(4, accepted.ExpiresAt)
                .Bind(5, 1).Bind(6, accepted.TraceParent).Bind(7, accepted.Body.Span).Execute();
            database.Statement("INSERT INTO unfinished(seq) VALUES(?)").Bind(1, database.LastRow).Execute();
        }

        public override void Committed() => _waiter.SetResult();

        public override void Failed(Exception reason) => _waiter.SetException(reason);
    }

    private sealed class Ending(Event accepted) : SqliteWork
    {
        public override void Apply(SqliteDatabase database)
        {
            database.Statement(
                "INSERT OR REPLACE INTO settled(seq, user, device, state, reason, at) SELECT seq, ?3, ?4, ?5, ?6, ?7 FROM events WHERE app = ?1 AND id = ?2")
                .Bind(1, accepted.App).Bind(2, accepted.Id).Bind(3, "user-000001").Bind(4, "phone-1").Bind(5, "acked").Bind(6, (string?)null).Bind(7, accepted.AcceptedAt)
                .Execute();
            database.Statement("DELETE FROM unfinished WHERE seq = (SELECT seq FROM events WHERE app = ?1 AND id = ?2)")
                .Bind(1, accepted.App).Bind(2, accepted.Id).Execute();
        }

        public override void Committed()
        {
        }

        public override void Failed(Exception reason)
        {
        }
    }
}
