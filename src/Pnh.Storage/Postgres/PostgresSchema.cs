using System.Globalization;
using Npgsql;
using Pnh.Storage.Files;

namespace Pnh.Storage.Postgres;

/// <summary>
/// The tables of schema <c>pnh</c>. Texts compare by their UTF-8 bytes (collation C); times are 100 ns ticks since year 1, UTC; the database's own clock is never asked. Steps only add, so that a database
/// may be brought along while nodes of the version before still read it.
/// </summary>
internal static class PostgresSchema
{
    /// <summary>PostgreSQL 14: the oldest that is tried.</summary>
    public const int OldestServer = 14;

    // A number that is nobody else's, so that two nodes that start at once do not both bring it along: "pnh" and 0.
    private const long Lock = 0x706e68_00;
    private const string Key = "schema";

    private static readonly string[][] Steps =
    [
        [
            """
            CREATE TABLE pnh.devices(
                app text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL,
                platform smallint NOT NULL, locale text COLLATE "C", version text COLLATE "C", registered bigint NOT NULL,
                PRIMARY KEY(app, user_, device))
            """,

            // An address is found by a hash: values of browsers are longer than an index takes. "installation" is of FCM alone, whose tokens belong to a FID.
            """
            CREATE TABLE pnh.addresses(
                app text COLLATE "C" NOT NULL, hash bytea NOT NULL, installation bytea,
                user_ text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL, position integer NOT NULL,
                channel text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, registered bigint NOT NULL,
                PRIMARY KEY(app, hash),
                FOREIGN KEY(app, user_, device) REFERENCES pnh.devices ON DELETE CASCADE)
            """,
            "CREATE INDEX addresses_of_device ON pnh.addresses(app, user_, device)",
            "CREATE INDEX addresses_of_installation ON pnh.addresses(app, installation)",
            """
            CREATE TABLE pnh.settings(
                app text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL, muted_classes text[] NOT NULL, muted_topics text[] NOT NULL, drops boolean NOT NULL,
                quiet_from bigint, quiet_to bigint, quiet_zone text COLLATE "C", do_not_disturb_until bigint,
                PRIMARY KEY(app, user_))
            """,
            """
            CREATE TABLE pnh.members(
                app text COLLATE "C" NOT NULL, topic text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL,
                PRIMARY KEY(app, topic, user_))
            """,
            "CREATE INDEX members_of_user ON pnh.members(app, user_, topic)",
            "CREATE TABLE pnh.keys(hash bytea PRIMARY KEY, app text COLLATE \"C\" NOT NULL, scopes text[] NOT NULL, created bigint NOT NULL)",

            // Users whose last device was deleted, by a keyed hash, and when.
            "CREATE TABLE pnh.gone(hash bytea PRIMARY KEY, at bigint NOT NULL)",
            "CREATE INDEX gone_at ON pnh.gone(at)",
            """
            CREATE TABLE pnh.removed(
                app text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
                at bigint NOT NULL, reason text COLLATE "C",
                PRIMARY KEY(app, user_, device, channel, kind))
            """,
            "CREATE INDEX removed_at ON pnh.removed(at)",

            // Addresses that get no pushes for now.
            """
            CREATE TABLE pnh.resting(
                app text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
                value text COLLATE "C" NOT NULL, account text COLLATE "C" NOT NULL, reason text COLLATE "C", at bigint NOT NULL,
                PRIMARY KEY(app, user_, device, channel, kind),
                FOREIGN KEY(app, user_, device) REFERENCES pnh.devices ON DELETE CASCADE)
            """,
        ],
        [
            // There is one cell, number 0: what a later hub would need to be active for some apps alone.
            "CREATE TABLE pnh.cell(cell integer PRIMARY KEY, term bigint NOT NULL)",
            "INSERT INTO pnh.cell(cell, term) VALUES(0, 0)",

            // A partition is named by when it may go ("gen", minutes since 2026). Its keys are its own, so that no index has "gen" in front.
            """
            CREATE TABLE pnh.events(
                gen bigint NOT NULL, no bigint NOT NULL, app text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, class smallint NOT NULL, given boolean NOT NULL,
                accepted bigint NOT NULL, expires bigint NOT NULL, trace text COLLATE "C", body bytea NOT NULL) PARTITION BY LIST(gen)
            """,
            "ALTER TABLE pnh.events ALTER COLUMN body SET STORAGE EXTERNAL",

            // 0 = under way, 1 = only mail of it is left, until "ends". An event that is in it no more is finished.
            "CREATE TABLE pnh.open(cell integer NOT NULL, no bigint NOT NULL, gen bigint NOT NULL, state smallint NOT NULL, ends bigint NOT NULL, PRIMARY KEY(cell, no))",
            "CREATE INDEX open_under_way ON pnh.open(no) WHERE state = 0",
            "CREATE INDEX open_ends ON pnh.open(ends) WHERE state = 1",

            // What was noted, a row for an event and a user in one commit; user_ = '' = for the whole event. An address note is of event 0.
            """
            CREATE TABLE pnh.notes(
                gen bigint NOT NULL, no bigint NOT NULL, n bigint NOT NULL, app text COLLATE "C" NOT NULL, user_ text COLLATE "C" NOT NULL, feeds boolean NOT NULL, failed boolean NOT NULL,
                bytes bytea NOT NULL) PARTITION BY LIST(gen)
            """,
            "ALTER TABLE pnh.notes ALTER COLUMN bytes SET STORAGE EXTERNAL",
            """
            CREATE TABLE pnh.mail(
                gen bigint NOT NULL, no bigint NOT NULL, user_ text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL, app text COLLATE "C" NOT NULL, class smallint NOT NULL, ends bigint NOT NULL,
                collapse text COLLATE "C", settled boolean NOT NULL, alone boolean NOT NULL) PARTITION BY LIST(gen)
            """,
            "CREATE TABLE pnh.taken_back(gen bigint NOT NULL, no bigint NOT NULL, user_ text COLLATE \"C\" NOT NULL) PARTITION BY LIST(gen)",
        ],
    ];

    /// <summary>Brings the database along. Throws <see cref="DataFolderException"/> with what to do when it is too old, or of a newer version.</summary>
    public static async Task BringAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        if (connection.PostgreSqlVersion.Major < OldestServer)
        {
            throw new DataFolderException($"PostgreSQL {connection.PostgreSqlVersion.Major} is too old: {OldestServer} or newer is needed.");
        }

        await using var transaction = await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        await RunAsync(connection, $"SELECT pg_advisory_xact_lock({Lock})", cancellationToken).ConfigureAwait(false);
        await RunAsync(connection, "CREATE SCHEMA IF NOT EXISTS pnh", cancellationToken).ConfigureAwait(false);
        await RunAsync(connection, "CREATE TABLE IF NOT EXISTS pnh.meta(key text COLLATE \"C\" PRIMARY KEY, value text COLLATE \"C\" NOT NULL)", cancellationToken).ConfigureAwait(false);
        var known = await PostgresMeta.FindAsync(connection, Key, cancellationToken).ConfigureAwait(false) is { } text ? int.Parse(text, CultureInfo.InvariantCulture) : 0;
        if (known > Steps.Length)
        {
            throw new DataFolderException($"The database is of a newer pnh (its schema is {known}, this version knows {Steps.Length}): start that version, or a newer one.");
        }

        foreach (var statement in Steps.Skip(known).SelectMany(static step => step))
        {
            await RunAsync(connection, statement, cancellationToken).ConfigureAwait(false);
        }

        await PostgresMeta.PutAsync(connection, Key, Steps.Length.ToString(CultureInfo.InvariantCulture), cancellationToken).ConfigureAwait(false);
        await transaction.CommitAsync(cancellationToken).ConfigureAwait(false);
    }

    private static async Task RunAsync(NpgsqlConnection connection, string sql, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(sql, connection);
        await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
    }
}
