using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>
/// The tables of <c>journal.db</c>. An event's row is never changed: that it is unfinished is a row of its own, so finishing one does not
/// rewrite its body and a restart reads only what is unfinished. Times are 100 ns ticks since year 1, UTC.
/// </summary>
internal static class SqliteJournalSchema
{
    public static SqliteSchema Schema { get; } = new(
        [
            """
            CREATE TABLE events(
                seq INTEGER PRIMARY KEY, app TEXT NOT NULL, id TEXT NOT NULL, accepted INTEGER NOT NULL, expires INTEGER NOT NULL,
                id_given INTEGER NOT NULL, trace TEXT, body BLOB NOT NULL,
                UNIQUE(app, id))
            """,
            "CREATE TABLE unfinished(seq INTEGER PRIMARY KEY)",
            """
            CREATE TABLE settled(
                seq INTEGER NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, at INTEGER NOT NULL,
                PRIMARY KEY(seq, user, device)) WITHOUT ROWID
            """,
        ]);
}
