using System.Runtime.InteropServices;
using Npgsql;
using NpgsqlTypes;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>An event that waits for its commit.</summary>
internal sealed class PostgresAppend(Event accepted, long gen) : PostgresJournalWork
{
    private readonly TaskCompletionSource<AppendResult> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>The event.</summary>
    public Event Event => accepted;

    /// <summary>Its partition.</summary>
    public long Gen => gen;

    /// <summary>The number that it gets, or has got in an attempt before.</summary>
    public long No { get; set; }

    /// <summary>After the commit.</summary>
    public Task<AppendResult> Answer => _answer.Task;

    /// <summary>It is committed, new.</summary>
    public void Appended() => _answer.TrySetResult(AppendResult.Appended);

    /// <summary>An event with its id stands.</summary>
    public void Known(StoredEvent standing)
    {
        var body = accepted.Body;
        var isSame = standing.Body.Span.SequenceEqual(body.Span)
            || SameEvent.Is(standing.Body, standing.ExpiresAt - standing.AcceptedAt, body, accepted.ExpiresAt - accepted.AcceptedAt);
        _answer.TrySetResult(isSame ? AppendResult.Duplicate : AppendResult.Conflict);
    }

    /// <summary>It is not written.</summary>
    public override void Fail(Exception fault) => _answer.TrySetException(fault);

    /// <summary>
    /// Adds one statement for all of these: it inserts those whose id is nowhere, and gives back their numbers. An id is looked for in every partition, but only an id that a publisher gave.
    /// </summary>
    /// <param name="batch">Gets it.</param>
    /// <param name="gen">The partition of all of them.</param>
    /// <param name="areGiven">Whether publishers gave their ids.</param>
    /// <param name="appends">At least one.</param>
    public static void Add(NpgsqlBatch batch, long gen, bool areGiven, IReadOnlyList<PostgresAppend> appends)
    {
        var table = PostgresPartitions.TableOf("pnh.events", gen);
        var unlessKnown = areGiven ? "WHERE NOT EXISTS (SELECT 1 FROM pnh.events e WHERE e.app = n.app AND e.id = n.id)" : "";
        var command = batch.Add($"""
            WITH written AS (
                INSERT INTO {table}(gen, no, app, id, class, given, accepted, expires, trace, body)
                SELECT $1, n.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10) AS n(no, app, id, class, given, accepted, expires, trace, body)
                {unlessKnown}
                RETURNING no, expires),
            opened AS (INSERT INTO pnh.open(cell, no, gen, state, ends) SELECT 0, no, $1, 0, expires FROM written)
            SELECT no FROM written
            """);
        command.With(gen);
        command.Column(NpgsqlDbType.Bigint, appends, static one => one.No);
        command.Column(NpgsqlDbType.Text, appends, static one => one.Event.App);
        command.Column(NpgsqlDbType.Text, appends, static one => one.Event.Id);
        command.Column(NpgsqlDbType.Smallint, appends, static one => (short)one.Event.Class);
        command.Column(NpgsqlDbType.Boolean, appends, static one => one.Event.IdGiven);
        command.Column(NpgsqlDbType.Bigint, appends, static one => one.Event.AcceptedAt.UtcTicks);
        command.Column(NpgsqlDbType.Bigint, appends, static one => one.Event.ExpiresAt.UtcTicks);
        command.Column(NpgsqlDbType.Text, appends, static one => one.Event.TraceParent);
        command.Column(NpgsqlDbType.Bytea, appends, static one => BytesOf(one.Event.Body));
    }

    /// <summary>Runs the batch, whose first statements are these, and adds the numbers that they wrote.</summary>
    public static async Task ReadAsync(NpgsqlBatch batch, int statements, HashSet<long> written)
    {
        await using var rows = await batch.ExecuteReaderAsync().ConfigureAwait(false);
        for (var i = 0; i < statements; i++)
        {
            while (await rows.ReadAsync().ConfigureAwait(false))
            {
                written.Add(rows.GetInt64(0));
            }

            await rows.NextResultAsync().ConfigureAwait(false);
        }
    }

    // The array behind it, where it is all of that.
    private static byte[] BytesOf(ReadOnlyMemory<byte> body) =>
        MemoryMarshal.TryGetArray(body, out var whole) && whole.Offset == 0 && whole.Count == whole.Array!.Length ? whole.Array : body.ToArray();
}
