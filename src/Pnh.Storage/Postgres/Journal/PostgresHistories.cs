using Npgsql;
using Pnh.Core.Journal;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>What was noted of events, read back.</summary>
internal static class PostgresHistories
{
    /// <summary>Adds the statement whose rows <see cref="ReadAsync"/> reads.</summary>
    /// <param name="batch">Gets it.</param>
    /// <param name="gen">The event's partition.</param>
    /// <param name="no">The event's number.</param>
    /// <param name="user">What was noted of this user alone; null = everything.</param>
    /// <param name="before">Up to, not with, the note of this number.</param>
    public static void AddNotes(NpgsqlBatch batch, long gen, long no, string? user, long before = long.MaxValue)
    {
        if (user is null)
        {
            batch.Add("SELECT bytes FROM pnh.notes WHERE gen = $1 AND no = $2 AND n < $3").With((long?)gen).With((long?)no).With((long?)before);
        }
        else
        {
            batch.Add("SELECT bytes FROM pnh.notes WHERE gen = $1 AND no = $2 AND n < $3 AND user_ = $4").With((long?)gen).With((long?)no).With((long?)before).With(user);
        }
    }

    /// <summary>All milestones of the rows, in the order in which they were noted.</summary>
    public static async Task<IReadOnlyList<Milestone>> ReadAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        var notes = new List<PostgresNote>();
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            PostgresNoteRow.Read(rows.Bytes(0), notes);
        }

        return PostgresNoteRow.InOrder(notes);
    }

    /// <summary>Of several events, by their numbers; of a user alone, or (null) all.</summary>
    public static Task<Dictionary<long, IReadOnlyList<Milestone>>> FindAsync(PostgresDatabase database, IReadOnlyList<PostgresEventRow> events, string? user, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add("SELECT x.no, x.bytes FROM unnest($1, $2) AS e(gen, no) JOIN pnh.notes x ON x.gen = e.gen AND x.no = e.no AND ($3::text IS NULL OR x.user_ = $3)")
            .With([.. events.Select(static one => one.Gen)]).With([.. events.Select(static one => one.No)]).With(user),
        async rows =>
        {
            var found = new Dictionary<long, List<PostgresNote>>();
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                if (!found.TryGetValue(rows.GetInt64(0), out var notes))
                {
                    found[rows.GetInt64(0)] = notes = [];
                }

                PostgresNoteRow.Read(rows.Bytes(1), notes);
            }

            return found.ToDictionary(static one => one.Key, static one => PostgresNoteRow.InOrder(one.Value));
        },
        cancellationToken);
}
