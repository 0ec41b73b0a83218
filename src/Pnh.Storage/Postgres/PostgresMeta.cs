using Npgsql;

namespace Pnh.Storage.Postgres;

/// <summary>Single values of the database: its schema, its ids, its secrets.</summary>
internal static class PostgresMeta
{
    /// <summary>Null = there is none of this name.</summary>
    public static async Task<string?> FindAsync(NpgsqlConnection connection, string key, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("SELECT value FROM pnh.meta WHERE key = $1", connection) { Parameters = { new() { Value = key } } };
        return (string?)await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>In the place of the one of before.</summary>
    public static async Task PutAsync(NpgsqlConnection connection, string key, string value, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("INSERT INTO pnh.meta(key, value) VALUES($1, $2) ON CONFLICT(key) DO UPDATE SET value = excluded.value", connection)
        {
            Parameters = { new() { Value = key }, new() { Value = value } },
        };
        await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>The one that stands, which is this one when there was none: of several nodes that begin at once all get the same.</summary>
    public static async Task<string> GetOrAddAsync(NpgsqlConnection connection, string key, string value, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("INSERT INTO pnh.meta(key, value) VALUES($1, $2) ON CONFLICT(key) DO NOTHING", connection)
        {
            Parameters = { new() { Value = key }, new() { Value = value } },
        };
        await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
        return (await FindAsync(connection, key, cancellationToken).ConfigureAwait(false))!;
    }
}
