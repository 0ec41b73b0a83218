using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>The feed: by the numbers of notes alone, since one session writes and its commits are in their order.</summary>
internal static class PostgresFeed
{
    private const string After = "SELECT n, bytes FROM pnh.notes WHERE app = $1 AND feeds AND n > $2 ORDER BY n LIMIT $3";

    /// <summary>As <see cref="IEventJournal.ReadFeedAsync"/>.</summary>
    public static Task<FeedPage> ReadAsync(PostgresDatabase database, string app, string? after, int limit, long newest, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var from = after is null ? 0 : PostgresCursor.Parse(after, newest);
        return database.ReadAsync(
            batch => batch.Add(After).With(app).With((long?)from).With(limit),
            async rows =>
            {
                var entries = new List<FeedEntry>();
                var notes = new List<PostgresNote>();
                while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
                {
                    from = rows.GetInt64(0);
                    notes.Clear();
                    PostgresNoteRow.Read(rows.Bytes(1), notes);
                    entries.Add(notes[^1] is { IsAddress: true, Milestone: var shape }
                        ? new FeedEntry(PostgresCursor.Of(from), null, Payload.ToAddress(shape))
                        : new FeedEntry(PostgresCursor.Of(from), notes[^1].Milestone, null));
                }

                return new FeedPage(entries, PostgresCursor.Of(from), IsGap: false, IsEnd: entries.Count < limit);
            },
            cancellationToken);
    }
}
