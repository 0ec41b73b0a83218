using System.Net.Sockets;
using Npgsql;
using Pnh.Core.Stores;

namespace Pnh.Storage.Postgres;

/// <summary>What a fault of PostgreSQL is for the hub. A broken connection shows as any of several exceptions, and what was under way then has an unknown end.</summary>
internal static class PostgresFault
{
    /// <summary>True for what PostgreSQL or the way to it did; a bug of ours is none.</summary>
    public static bool Is(Exception exception) =>
        exception is NpgsqlException or IOException or SocketException or TimeoutException
            or InvalidOperationException { Source: "Npgsql" } or ObjectDisposedException { Source: "Npgsql" };

    /// <summary>True when the session broke, so that nobody knows what became of what was under way: everything but an answer of PostgreSQL's that leaves the session as it is.</summary>
    public static bool IsBroken(Exception exception) => Is(exception) && exception is not PostgresException { InvariantSeverity: "ERROR" };

    /// <summary>True when this one statement cannot be carried out, whatever stands beside it: classes 22 (data) and 23 (integrity) of SQLSTATE, and 54 (limits).</summary>
    public static bool IsOfData(Exception exception) => exception is PostgresException { SqlState: ['2', '2' or '3', ..] or ['5', '4', ..] };

    /// <summary>In words, without a secret: Npgsql's messages name hosts and statements, never passwords.</summary>
    public static StoreUnavailableException Of(Exception exception) => exception as StoreUnavailableException ?? new StoreUnavailableException(TextOf(exception), exception);

    private static string TextOf(Exception exception) => exception switch
    {
        PostgresException { SqlState: PostgresErrorCodes.ReadOnlySqlTransaction } => "PostgreSQL is read-only.",
        PostgresException { SqlState: PostgresErrorCodes.DiskFull } => "PostgreSQL has no space left.",
        PostgresException refused => $"PostgreSQL refused: {refused.MessageText.TrimEnd('.')} ({refused.SqlState}).",
        _ => "PostgreSQL cannot be reached.",
    };
}
