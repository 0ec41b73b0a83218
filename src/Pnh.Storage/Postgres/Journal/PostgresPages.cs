using Npgsql;
using Pnh.Core.Journal;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>Pages of events, newest first as they were committed: a user's, an app's failures, an app's newest. Each costs its page.</summary>
/// <param name="database">Read by its pool.</param>
/// <param name="time">What is over by it is not told.</param>
/// <param name="retention">For how long a finished event is told.</param>
internal sealed class PostgresPages(PostgresDatabase database, TimeProvider time, TimeSpan retention)
{
    // Events of all apps that a page of one looks at.
    private const int MostRows = 1_024;

    // Notes of an event whose id was free again are left, and the event is not.
    private const string Row = $"SELECT {PostgresEventRow.Columns}, of.no FROM of LEFT JOIN pnh.events e ON e.gen = of.gen AND e.no = of.no LEFT JOIN pnh.open o ON o.cell = 0 AND o.no = of.no ORDER BY of.no DESC";

    private const string OfUser = $"""
        WITH of AS (SELECT DISTINCT gen, no FROM pnh.notes WHERE app = $1 AND user_ = $4 AND user_ <> '' AND no < $2 AND no > 0 ORDER BY no DESC LIMIT $3) {Row}
        """;

    private const string Failed = $"WITH of AS (SELECT DISTINCT gen, no FROM pnh.notes WHERE app = $1 AND failed AND no < $2 AND no > 0 ORDER BY no DESC LIMIT $3) {Row}";

    private const string Recent = $"WITH of AS (SELECT gen, no FROM (SELECT gen, no, app FROM pnh.events WHERE no < $2 ORDER BY no DESC LIMIT $4) all_ WHERE app = $1 ORDER BY no DESC LIMIT $3) {Row}";

    private const string Looked = "SELECT count(*), coalesce(min(no), 0) FROM (SELECT no FROM pnh.events WHERE no < $1 ORDER BY no DESC LIMIT $2) all_";

    /// <summary>As <see cref="IEventJournal.ReadUserAsync"/>.</summary>
    public async Task<UserEventPage> OfUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken)
    {
        var found = await ReadAsync(limit, batch => Add(batch, OfUser, app, before, limit).With(user), cancellationToken).ConfigureAwait(false);
        return await PageAsync(found, user, static milestones => milestones.FindAll(static milestone => MilestoneViews.IsOfUser(milestone.Kind)), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>As <see cref="IEventJournal.ReadFailuresAsync"/>.</summary>
    public async Task<UserEventPage> OfFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken)
    {
        var found = await ReadAsync(limit, batch => Add(batch, Failed, app, before, limit), cancellationToken).ConfigureAwait(false);
        return await PageAsync(found, user: null, static milestones => [.. milestones.Where(IsFailure).TakeLast(MilestoneViews.MostFailures)], cancellationToken).ConfigureAwait(false);
    }

    /// <summary>As <see cref="IEventJournal.ReadRecentAsync"/>.</summary>
    public async Task<UserEventPage> RecentAsync(string app, string? before, int limit, CancellationToken cancellationToken)
    {
        var (looked, last) = await LookAsync(before, cancellationToken).ConfigureAwait(false);
        var (living, next) = await ReadAsync(limit, batch => Add(batch, Recent, app, before, limit).With(MostRows), cancellationToken).ConfigureAwait(false);
        var notes = await PostgresHistories.FindAsync(database, living, user: null, cancellationToken).ConfigureAwait(false);
        var events = living.ConvertAll(row => notes.GetValueOrDefault(row.No) is { Count: > MilestoneViews.MostMilestones }
            ? new EventHistory(row.Event, []) { IsPartial = true }
            : new EventHistory(row.Event, notes.GetValueOrDefault(row.No) ?? []));
        return new UserEventPage(events, next ?? (looked == MostRows ? PostgresCursor.Of(last) : null));
    }

    private static bool IsFailure(Milestone milestone) => milestone.User is not null && MilestoneViews.IsFailure(milestone.Kind, milestone.State);

    private static NpgsqlBatchCommand Add(NpgsqlBatch batch, string sql, string app, string? before, int limit)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        return batch.Add(sql).With(app).With((long?)(before is null ? long.MaxValue : PostgresCursor.Parse(before))).With(limit);
    }

    private async Task<UserEventPage> PageAsync(
        (List<PostgresEventRow> Living, string? Next) found, string? user, Func<List<Milestone>, List<Milestone>> choose, CancellationToken cancellationToken)
    {
        var (living, next) = found;
        var notes = await PostgresHistories.FindAsync(database, living, user, cancellationToken).ConfigureAwait(false);
        var events = living.ConvertAll(row => new EventHistory(row.Event, choose([.. notes.GetValueOrDefault(row.No) ?? []])));
        return new UserEventPage(events.FindAll(static one => one.Milestones.Count > 0), next);
    }

    private Task<(long Count, long Last)> LookAsync(string? before, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add(Looked).With((long?)(before is null ? long.MaxValue : PostgresCursor.Parse(before))).With(MostRows),
        async rows => await rows.ReadAsync(cancellationToken).ConfigureAwait(false) ? (rows.GetInt64(0), rows.GetInt64(1)) : (0, 0),
        cancellationToken);

    // Those that are not over, and where to go on.
    private Task<(List<PostgresEventRow> Living, string? Next)> ReadAsync(int limit, Action<NpgsqlBatch> ask, CancellationToken cancellationToken) => database.ReadAsync(
        ask,
        async rows =>
        {
            var (found, count, last) = (new List<PostgresEventRow>(), 0, 0L);
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                (count, last) = (count + 1, rows.GetInt64(11));
                if (!rows.IsNull(0) && PostgresEventRow.Read(rows) is var row && !row.IsOver(time.GetUtcNow(), retention))
                {
                    found.Add(row);
                }
            }

            return (found, count == limit ? PostgresCursor.Of(last) : null);
        },
        cancellationToken);
}
