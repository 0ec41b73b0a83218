using System.Globalization;
using Npgsql;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>
/// The partitions of events and of what was noted of them, each named by when it may go: the end of the retention and TTL of all that is in it, in minutes since 2026, rounded up to a quarter of the retention, or to a week where it is more
/// than that ahead. Not by the day of acceptance: an id that is repeated after midnight would be new. For the writer's thread.
/// </summary>
/// <param name="retention">For how long a finished event is told.</param>
internal sealed class PostgresPartitions(TimeSpan retention)
{
    private static readonly DateTimeOffset Epoch = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly TimeSpan Week = TimeSpan.FromDays(7);
    private readonly HashSet<long> _known = [];

    /// <summary>The partition of an event that was accepted then and ends then.</summary>
    public long Of(DateTimeOffset acceptedAt, DateTimeOffset expiresAt)
    {
        var kept = acceptedAt + retention;
        var ends = expiresAt > kept ? expiresAt : kept;
        var width = ends - acceptedAt > retention + (retention / 4) ? Week : retention / 4;
        var minutes = Math.Max(1, (long)width.TotalMinutes);
        return (((long)Math.Ceiling((ends - Epoch).TotalMinutes) + minutes - 1) / minutes) * minutes;
    }

    /// <summary>A table of it: <c>pnh.events</c>, <c>pnh.notes</c>.</summary>
    public static string TableOf(string parent, long gen) => string.Create(CultureInfo.InvariantCulture, $"{parent}_{gen}");

    /// <summary>Which there are.</summary>
    public async Task ReadAsync(NpgsqlConnection session, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'pnh.events'::regclass", session);
        await using var rows = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            _known.Add(long.Parse(rows.GetString(0).AsSpan("events_".Length), CultureInfo.InvariantCulture));
        }
    }

    /// <summary>Makes it, unless it is there.</summary>
    public async Task MakeAsync(NpgsqlConnection session, long gen, CancellationToken cancellationToken)
    {
        if (_known.Contains(gen))
        {
            return;
        }

        // Long readers of the parent hold this back: for a moment, or the write is refused and comes again.
        var value = gen.ToString(CultureInfo.InvariantCulture);
        await using var batch = session.CreateBatch();
        batch.Add("SET LOCAL lock_timeout = '2s'");
        batch.Add($"CREATE TABLE IF NOT EXISTS pnh.events_{value} PARTITION OF pnh.events(PRIMARY KEY(no), UNIQUE(app, id)) FOR VALUES IN ({value})");
        batch.Add($"CREATE TABLE IF NOT EXISTS pnh.notes_{value} PARTITION OF pnh.notes(PRIMARY KEY(no, n)) FOR VALUES IN ({value})");
        batch.Add($"CREATE INDEX IF NOT EXISTS notes_{value}_of_user ON pnh.notes_{value}(app, user_, no) WHERE user_ <> ''");
        batch.Add($"CREATE INDEX IF NOT EXISTS notes_{value}_fed ON pnh.notes_{value}(app, n) WHERE feeds");
        batch.Add($"CREATE INDEX IF NOT EXISTS notes_{value}_failed ON pnh.notes_{value}(app, no) WHERE failed");
        batch.Add($"CREATE TABLE IF NOT EXISTS pnh.mail_{value} PARTITION OF pnh.mail(PRIMARY KEY(no, user_, device)) FOR VALUES IN ({value})");
        batch.Add($"CREATE TABLE IF NOT EXISTS pnh.taken_back_{value} PARTITION OF pnh.taken_back(PRIMARY KEY(no, user_)) FOR VALUES IN ({value})");
        await using var transaction = await session.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        await batch.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
        await transaction.CommitAsync(cancellationToken).ConfigureAwait(false);
        _known.Add(gen);
    }
}
