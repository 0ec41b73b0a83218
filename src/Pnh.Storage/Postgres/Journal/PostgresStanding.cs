using Npgsql;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>Events whose id stands already.</summary>
/// <param name="time">The hub's clock.</param>
/// <param name="retention">For how long a finished event is told.</param>
internal sealed class PostgresStanding(TimeProvider time, TimeSpan retention)
{
    private const string ById = $"SELECT {PostgresEventRow.Columns} FROM pnh.events e LEFT JOIN pnh.open o ON o.cell = 0 AND o.no = e.no WHERE e.app = $1 AND e.id = $2";

    /// <summary>The event; null = there is none, or it is over.</summary>
    public Task<PostgresEventRow?> FindAsync(PostgresDatabase database, string app, string id, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add(ById).With(app).With(id),
        async rows => Living(await PostgresEventRow.ReadAllAsync(rows, cancellationToken).ConfigureAwait(false)),
        cancellationToken);

    /// <summary>The same on the writer's session.</summary>
    public async Task<PostgresEventRow?> FindAsync(NpgsqlConnection session, string app, string id) => Living(await ReadAsync(session, app, id).ConfigureAwait(false));

    /// <summary>Which of these numbers are committed, and open.</summary>
    public static async Task<HashSet<long>> FindAsync(NpgsqlConnection session, List<long> numbers)
    {
        var found = new HashSet<long>();
        if (numbers.Count > 0)
        {
            await using var batch = session.CreateBatch();
            batch.Add("SELECT no FROM pnh.open WHERE cell = 0 AND no = ANY($1)").With(numbers.ToArray());
            await using var rows = await batch.ExecuteReaderAsync().ConfigureAwait(false);
            while (await rows.ReadAsync().ConfigureAwait(false))
            {
                found.Add(rows.GetInt64(0));
            }
        }

        return found;
    }

    /// <summary>Of an event that was not written, since its id stands: tells its publisher, or (true) writes it in the place of one that is over.</summary>
    public async Task<bool> TryReplaceAsync(NpgsqlConnection session, PostgresAppend append)
    {
        var rows = await ReadAsync(session, append.Event.App, append.Event.Id).ConfigureAwait(false);
        if (Living(rows) is { } standing)
        {
            append.Known(standing.Event);
            return false;
        }

        await using var batch = session.CreateBatch();
        foreach (var over in rows)
        {
            batch.Add("DELETE FROM pnh.open WHERE cell = 0 AND no = $1").With((long?)over.No);
            batch.Add("DELETE FROM pnh.events WHERE gen = $1 AND no = $2").With((long?)over.Gen).With((long?)over.No); // its notes stay: the feed still tells of them
        }

        PostgresAppend.Add(batch, append.Gen, areGiven: false, [append]);
        await batch.ExecuteNonQueryAsync().ConfigureAwait(false);
        return true;
    }

    private static async Task<List<PostgresEventRow>> ReadAsync(NpgsqlConnection session, string app, string id)
    {
        await using var batch = session.CreateBatch();
        batch.Add(ById).With(app).With(id);
        await using var rows = await batch.ExecuteReaderAsync().ConfigureAwait(false);
        return await PostgresEventRow.ReadAllAsync(rows, CancellationToken.None).ConfigureAwait(false);
    }

    private PostgresEventRow? Living(List<PostgresEventRow> rows)
    {
        var now = time.GetUtcNow();
        var place = rows.FindIndex(row => !row.IsOver(now, retention));
        return place < 0 ? null : rows[place];
    }
}
