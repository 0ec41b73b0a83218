using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>Reads back what is unfinished.</summary>
internal static class SqliteRecovery
{
    private const string Next = """
        SELECT e.seq, e.app, e.id, e.id_given, e.accepted, e.expires, e.trace, e.body FROM unfinished u JOIN events e ON e.seq = u.seq
        WHERE u.seq > ? AND e.expires > ? ORDER BY u.seq LIMIT ?
        """;

    private const string SelectSettled = "SELECT user, device FROM settled WHERE seq = ?";

    private static readonly IReadOnlySet<(string User, string Device)> NoneSettled = new HashSet<(string User, string Device)>();

    /// <summary>The next unfinished events after a sequence number, with theirs.</summary>
    public static List<(long Seq, UnfinishedEvent Event)> Page(SqliteDatabase database, long after, DateTimeOffset now, int most)
    {
        var page = new List<(long Seq, UnfinishedEvent Event)>();
        var row = database.Statement(Next).Bind(1, after).Bind(2, now).Bind(3, most);
        while (row.Read())
        {
            var seq = row.Int64(0);
            page.Add((seq, new UnfinishedEvent(
                new StoredEvent(row.Text(1), row.Text(2), row.Int32(3) != 0, row.Time(4), row.Time(5), row.TextOrNull(6), row.Bytes(7).ToArray()),
                false,
                [],
                [.. Settled(database, seq).Select(s => new UnfinishedDelivery(s.User, s.Device, true, false, 0, null))])));
        }

        return page;
    }

    private static IReadOnlySet<(string User, string Device)> Settled(SqliteDatabase database, long seq)
    {
        HashSet<(string User, string Device)>? settled = null;
        var rows = database.Statement(SelectSettled).Bind(1, seq);
        while (rows.Read())
        {
            (settled ??= []).Add((rows.Text(0), rows.Text(1)));
        }

        return settled ?? NoneSettled;
    }
}
