using Npgsql;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>Takes an event back, once for each user: a row says that it was done, and its note stands in the same transaction.</summary>
internal static class PostgresWithdrawals
{
    private const string Insert = """
        WITH taken AS (
            INSERT INTO pnh.taken_back(gen, no, user_) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM pnh.taken_back WHERE gen = $1 AND no = $2 AND user_ IN ('', $3)) RETURNING 1)
        INSERT INTO pnh.notes(gen, no, n, app, user_, feeds, failed, bytes) SELECT $1, $2, $4, $5, $3, true, false, $6 FROM taken
        """;

    /// <summary>Runs it on the writer's session, behind all notes of before.</summary>
    public static async Task<WithdrawResult> RunAsync(NpgsqlConnection session, PostgresStanding standing, PostgresWithdraw withdrawal, long n)
    {
        if (await standing.FindAsync(session, withdrawal.App, withdrawal.Id).ConfigureAwait(false) is not { } of)
        {
            return new WithdrawResult(WithdrawStatus.Unknown);
        }

        var milestone = new Milestone(withdrawal.App, withdrawal.Id, of.Class, MilestoneKind.Withdrawn, withdrawal.At) { User = withdrawal.User, Reason = withdrawal.Reason };
        var row = new PostgresNoteRow(of.Gen, of.No, withdrawal.App, withdrawal.User ?? "");
        row.Add(new PostgresNote(milestone) { N = n }, new Group());
        await using var batch = session.CreateBatch();
        var insert = batch.Add(Insert).With((long?)of.Gen).With((long?)of.No).With(withdrawal.User ?? "").With((long?)n).With(withdrawal.App).With(row.Bytes);
        await batch.ExecuteNonQueryAsync().ConfigureAwait(false);
        if (insert.RecordsAffected == 0)
        {
            return new WithdrawResult(WithdrawStatus.Already);
        }

        await using var read = session.CreateBatch();
        PostgresHistories.AddNotes(read, of.Gen, of.No, withdrawal.User, before: n);
        await using var rows = await read.ExecuteReaderAsync().ConfigureAwait(false);
        return new WithdrawResult(WithdrawStatus.Withdrawn, new EventHistory(of.Event, await PostgresHistories.ReadAsync(rows, CancellationToken.None).ConfigureAwait(false)));
    }
}
