using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>An event as a row, with its number, which rises with the order of commits.</summary>
/// <param name="No">Its number.</param>
/// <param name="Gen">Its partition.</param>
/// <param name="Event">The event.</param>
/// <param name="Class">The event's class.</param>
/// <param name="IsFinished">True when nothing of it is open.</param>
internal readonly record struct PostgresEventRow(long No, long Gen, StoredEvent Event, EventClass Class, bool IsFinished)
{
    /// <summary>What <see cref="Read"/> reads, of events as <c>e</c> beside their open row as <c>o</c>.</summary>
    public const string Columns = "e.no, e.gen, e.app, e.id, e.given, e.accepted, e.expires, e.trace, e.body, e.class, o.no IS NULL";

    /// <summary>The row on which the reader stands.</summary>
    public static PostgresEventRow Read(NpgsqlDataReader row) => new(
        row.GetInt64(0),
        row.GetInt64(1),
        new StoredEvent(row.GetString(2), row.GetString(3), row.GetBoolean(4), row.Time(5), row.Time(6), row.TextOrNull(7), row.Bytes(8)),
        (EventClass)row.GetInt16(9),
        row.GetBoolean(10));

    /// <summary>All rows of the statement.</summary>
    public static async Task<List<PostgresEventRow>> ReadAllAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        var found = new List<PostgresEventRow>();
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            found.Add(Read(rows));
        }

        return found;
    }

    /// <summary>True when its id is free again, and nothing tells of it any more.</summary>
    public bool IsOver(DateTimeOffset now, TimeSpan retention) => now >= Event.AcceptedAt + retention && (IsFinished || now >= Event.ExpiresAt);
}
