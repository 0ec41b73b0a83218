using System.Globalization;
using System.Security.Cryptography;
using Npgsql;
using Pnh.Core.Stores;
using Pnh.Storage.Files;

namespace Pnh.Storage.Postgres;

/// <summary>What a process writes alone: each has an advisory lock.</summary>
internal enum PostgresLock
{
    /// <summary>Users, devices, members, keys.</summary>
    Registry = 1,

    /// <summary>Events and what became of them.</summary>
    Journal = 2,
}

/// <summary>
/// A database of PostgreSQL: the pool that reads, and sessions that write, each under an advisory lock of its own which nobody else can have. Thread-safe.
/// </summary>
internal sealed class PostgresDatabase : IAsyncDisposable
{
    // "pnh": the first half of an advisory lock's number, as other programs may use the same database.
    private const int LockClass = 0x706e68;

    // A statement that was planned on an empty table keeps its sequential scan; generic plans are made once a session.
    private const string Options = "-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan";

    private static readonly DateTimeOffset Epoch = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private readonly NpgsqlDataSource _writers;

    private PostgresDatabase(string connectionString)
    {
        var settings = new NpgsqlConnectionStringBuilder(connectionString)
        {
            ApplicationName = "pnh",
            Options = Options,
            MaxAutoPrepare = 100,
            AutoPrepareMinUsages = 2,
            CommandTimeout = 30,
        };
        Readers = Build(settings);

        // A pool resets a session that comes back, and drops its locks.
        settings.Pooling = false;
        _writers = Build(settings);
    }

    /// <summary>For reads; connections come back after each.</summary>
    public NpgsqlDataSource Readers { get; }

    /// <summary>Under which users that are gone are hashed; made with the database.</summary>
    public byte[] UserKey { get; private set; } = [];

    /// <summary>
    /// Opens the database and brings its schema along. Throws <see cref="DataFolderException"/> with what to do when it may not be used, and <see cref="StoreUnavailableException"/> when it cannot be reached.
    /// </summary>
    public static async Task<PostgresDatabase> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        var database = new PostgresDatabase(connectionString);
        try
        {
            await using var session = await database._writers.OpenConnectionAsync(cancellationToken).ConfigureAwait(false);
            await CheckAsync(session, cancellationToken).ConfigureAwait(false);
            await PostgresSchema.BringAsync(session, cancellationToken).ConfigureAwait(false);
            database.UserKey = Convert.FromHexString(
                await PostgresMeta.GetOrAddAsync(session, "gone.key", Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(32)), cancellationToken).ConfigureAwait(false));
            return database;
        }
        catch (Exception fault)
        {
            await database.DisposeAsync().ConfigureAwait(false);
            throw PostgresFault.Is(fault) ? PostgresFault.Of(fault) : fault;
        }
    }

    /// <summary>
    /// A session that writes, with its lock, which is proved: a second session is refused it. Throws <see cref="StoreUnavailableException"/> when another process has it, <see cref="DataFolderException"/> when the server
    /// grants it twice.
    /// </summary>
    public async Task<NpgsqlConnection> OpenWriterAsync(PostgresLock what, CancellationToken cancellationToken)
    {
        try
        {
            var session = await _writers.OpenConnectionAsync(cancellationToken).ConfigureAwait(false);
            try
            {
                if (!await TryLockAsync(session, what, cancellationToken).ConfigureAwait(false))
                {
                    throw new StoreUnavailableException("Another pnh writes this database.");
                }

                await using var second = await _writers.OpenConnectionAsync(cancellationToken).ConfigureAwait(false);
                if (!await TryLockAsync(second, what, cancellationToken).ConfigureAwait(false))
                {
                    return session;
                }

                // Unless the first one was ended meanwhile, which shows here.
                await using var first = new NpgsqlCommand("SELECT 1", session);
                await first.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false);
                throw new DataFolderException("This server grants one advisory lock to two sessions: connect to PostgreSQL itself, and not through a pooler in transaction mode.");
            }
            catch
            {
                await session.DisposeAsync().ConfigureAwait(false);
                throw;
            }
        }
        catch (Exception fault) when (PostgresFault.Is(fault))
        {
            throw PostgresFault.Of(fault);
        }
    }

    /// <summary>The journal's session again, in the term that was begun. Throws <see cref="StoreUnavailableException"/> also when another process has begun one since: what it wrote has greater numbers.</summary>
    public async Task<NpgsqlConnection> OpenWriterAsync(long term, CancellationToken cancellationToken)
    {
        var session = await OpenWriterAsync(PostgresLock.Journal, cancellationToken).ConfigureAwait(false);
        try
        {
            await using var command = new NpgsqlCommand("SELECT term FROM pnh.cell WHERE cell = 0", session);
            return await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) is long now && now == term
                ? session
                : throw new StoreUnavailableException("Another pnh has written this database since: start this one again.");
        }
        catch
        {
            await session.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>
    /// A new turn to write: greater than every one before, also after a database was put back, since it counts milliseconds. For who has the journal's lock. Numbers of events count on from its 20 bits.
    /// </summary>
    public static async Task<long> BeginTermAsync(NpgsqlConnection session, DateTimeOffset now, CancellationToken cancellationToken)
    {
        await using var batch = session.CreateBatch();
        batch.Add("UPDATE pnh.cell SET term = greatest(term + 1, $1) WHERE cell = 0 RETURNING term").With((long?)(now - Epoch).TotalMilliseconds);
        return (long)(await batch.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false))!;
    }

    /// <summary>One round trip on a connection of the pool.</summary>
    /// <param name="ask">Adds its statements.</param>
    /// <param name="read">Reads their rows, from the first statement's on.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<T> ReadAsync<T>(Action<NpgsqlBatch> ask, Func<NpgsqlDataReader, Task<T>> read, CancellationToken cancellationToken)
    {
        try
        {
            await using var connection = await Readers.OpenConnectionAsync(cancellationToken).ConfigureAwait(false);
            await using var batch = connection.CreateBatch();
            ask(batch);
            await using var rows = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            return await read(rows).ConfigureAwait(false);
        }
        catch (Exception fault) when (PostgresFault.Is(fault))
        {
            throw PostgresFault.Of(fault);
        }
    }

    /// <summary>The first column of all rows.</summary>
    public static async Task<List<string>> TextsAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        var texts = new List<string>();
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            texts.Add(rows.GetString(0));
        }

        return texts;
    }

    public async ValueTask DisposeAsync()
    {
        await Readers.DisposeAsync().ConfigureAwait(false);
        await _writers.DisposeAsync().ConfigureAwait(false);
    }

    private static NpgsqlDataSource Build(NpgsqlConnectionStringBuilder settings) =>
        new NpgsqlSlimDataSourceBuilder(settings.ConnectionString).EnableArrays().EnableTransportSecurity().Build();

    // A 202 says that the event is on stable storage.
    private static async Task CheckAsync(NpgsqlConnection session, CancellationToken cancellationToken)
    {
        foreach (var setting in (string[])["fsync", "synchronous_commit"])
        {
            await using var command = new NpgsqlCommand($"SHOW {setting}", session);
            if (await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) is "off")
            {
                throw new DataFolderException($"PostgreSQL runs with {setting}=off, so it may lose what it said is written: turn it on.");
            }
        }
    }

    private static async Task<bool> TryLockAsync(NpgsqlConnection session, PostgresLock what, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(string.Create(CultureInfo.InvariantCulture, $"SELECT pg_try_advisory_lock({LockClass}, {(int)what})"), session);
        return (bool)(await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false))!;
    }
}
