using Npgsql;
using NpgsqlTypes;

namespace Pnh.Storage.Postgres;

/// <summary>Statements with their parameters, one round trip. For one thread.</summary>
internal static class PostgresBatch
{
    /// <summary>Adds a statement, whose parameters follow.</summary>
    public static NpgsqlBatchCommand Add(this NpgsqlBatch batch, string sql)
    {
        var command = new NpgsqlBatchCommand(sql);
        batch.BatchCommands.Add(command);
        return command;
    }

    /// <summary>PostgreSQL has no U+0000 in a text: it is left out. Ids are checked before; what is left is words of clients and providers.</summary>
    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, string? text) => command.With<object>(
        text is null ? DBNull.Value : text.Contains('\0', StringComparison.Ordinal) ? text.Replace("\0", "", StringComparison.Ordinal) : text, NpgsqlDbType.Text);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, long? number) => command.With<object>(number is { } given ? given : DBNull.Value, NpgsqlDbType.Bigint);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, short? number) => command.With<object>(number is { } given ? given : DBNull.Value, NpgsqlDbType.Smallint);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, int number) => command.With(number, NpgsqlDbType.Integer);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, bool flag) => command.With(flag, NpgsqlDbType.Boolean);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, DateTimeOffset time) => command.With((long?)time.UtcTicks);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, DateTimeOffset? time) => command.With(time?.UtcTicks);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, byte[]? bytes) => command.With<object>(bytes is null ? DBNull.Value : bytes, NpgsqlDbType.Bytea);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, IEnumerable<string> texts) =>
        command.With(texts.Select(static text => text.Replace("\0", "", StringComparison.Ordinal)).ToArray(), NpgsqlDbType.Array | NpgsqlDbType.Text);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, byte[][] bytes) => command.With(bytes, NpgsqlDbType.Array | NpgsqlDbType.Bytea);

    public static NpgsqlBatchCommand With(this NpgsqlBatchCommand command, long[] numbers) => command.With(numbers, NpgsqlDbType.Array | NpgsqlDbType.Bigint);

    /// <summary>A column of many rows, for <c>unnest</c>.</summary>
    public static NpgsqlBatchCommand Column<TRow, T>(this NpgsqlBatchCommand command, NpgsqlDbType type, IReadOnlyList<TRow> rows, Func<TRow, T> of)
    {
        var values = new T[rows.Count];
        for (var i = 0; i < values.Length; i++)
        {
            values[i] = of(rows[i]);
        }

        command.Parameters.Add(new NpgsqlParameter { Value = values, NpgsqlDbType = NpgsqlDbType.Array | type });
        return command;
    }

    private static NpgsqlBatchCommand With<T>(this NpgsqlBatchCommand command, T value, NpgsqlDbType type)
    {
        command.Parameters.Add(new NpgsqlParameter { Value = value, NpgsqlDbType = type });
        return command;
    }

    /// <summary>A time of a column; null where it has none.</summary>
    public static DateTimeOffset? TimeOrNull(this NpgsqlDataReader row, int column) => row.IsDBNull(column) ? null : row.Time(column);

    public static DateTimeOffset Time(this NpgsqlDataReader row, int column) => new(row.GetInt64(column), TimeSpan.Zero);

    /// <summary>A row is in memory whole before its columns are read, so none of these waits.</summary>
    public static bool IsNull(this NpgsqlDataReader row, int column) => row.IsDBNull(column);

    public static byte[] Bytes(this NpgsqlDataReader row, int column) => row.GetFieldValue<byte[]>(column);

    public static string[] Texts(this NpgsqlDataReader row, int column) => row.GetFieldValue<string[]>(column);

    public static string? TextOrNull(this NpgsqlDataReader row, int column) => row.IsDBNull(column) ? null : row.GetString(column);
}
