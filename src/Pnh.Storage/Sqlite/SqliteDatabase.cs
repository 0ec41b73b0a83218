using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Data.Sqlite;
using Pnh.Storage.Files;
using SQLitePCL;

namespace Pnh.Storage.Sqlite;

/// <summary>
/// One connection of Microsoft.Data.Sqlite to one database file: settings proven at open, statements prepared once. Not thread-safe: one thread at a time, by the
/// writer's thread or the reader pool (so SQLite's own mutexes are off).
/// </summary>
internal sealed class SqliteDatabase : IDisposable
{
    private const int BusySeconds = 5;

    // Keyed by reference: SQL texts are constants, so finding a statement costs no string hash.
    private readonly Dictionary<object, SqliteStatement> _statements = new(ReferenceEqualityComparer.Instance);
    private readonly SqliteConnection _connection;
    private readonly sqlite3 _handle;

    static SqliteDatabase()
    {
        Batteries_V2.Init();

        // A connection is used by one thread at a time, and nobody reads SQLite's memory statistics: no mutexes for either. Both are set before the first connection.
        _ = raw.sqlite3_config(raw.SQLITE_CONFIG_MULTITHREAD);
        _ = raw.sqlite3_config(raw.SQLITE_CONFIG_MEMSTATUS, 0);
    }

    private SqliteDatabase(SqliteConnection connection, string path)
    {
        _connection = connection;
        _handle = connection.Handle!;
        FilePath = path;
    }

    public string FilePath { get; }

    /// <summary>Rows touched by the last insert, update or delete.</summary>
    public int Changes => raw.sqlite3_changes(_handle);

    /// <summary>Row id of the last insert.</summary>
    public long LastRow => raw.sqlite3_last_insert_rowid(_handle);

    /// <summary>True between BEGIN and COMMIT or ROLLBACK.</summary>
    public bool InTransaction => raw.sqlite3_get_autocommit(_handle) == 0;

    /// <summary>The only connection that may write; creates the file with mode 0600 (SQLite gives its side files the same).</summary>
    /// <param name="path">The file.</param>
    /// <param name="vfs">SQLite's name of a way to reach files; null = the usual one.</param>
    public static SqliteDatabase OpenWriter(string path, string? vfs = null)
    {
        if (!File.Exists(path))
        {
            using var created = new FileStream(path, DataFolder.PrivateFile(FileMode.OpenOrCreate));
        }

        var database = Open(path, SqliteOpenMode.ReadWrite, vfs);
        try
        {
            database.Execute("PRAGMA trusted_schema=OFF");
            database.Execute("PRAGMA foreign_keys=ON");
            database.Execute("PRAGMA temp_store=MEMORY");
            database.Execute("PRAGMA cache_size=-65536");

            // What is deleted is overwritten: addresses and names shall not stay in pages that are free.
            database.Execute("PRAGMA secure_delete=ON");

            // Checkpoints are the writer's own work, after its waiters were told; never inside a commit.
            database.Execute("PRAGMA wal_autocheckpoint=0");
            database.Demand("PRAGMA journal_mode=WAL", "PRAGMA journal_mode", "wal");

            // In WAL mode only FULL syncs every commit; some builds start with NORMAL, so it is read back.
            database.Demand("PRAGMA synchronous=FULL", "PRAGMA synchronous", "2");
            return database;
        }
        catch
        {
            database.Dispose();
            throw;
        }
    }

    /// <summary>A connection that cannot write; the writer must have opened the file before.</summary>
    public static SqliteDatabase OpenReader(string path, string? vfs)
    {
        var database = Open(path, SqliteOpenMode.ReadOnly, vfs);
        try
        {
            database.Execute("PRAGMA cache_size=-16384");
            return database;
        }
        catch
        {
            database.Dispose();
            throw;
        }
    }

    /// <summary>The prepared statement of a constant SQL text, prepared on first use.</summary>
    public SqliteStatement Statement(string sql)
    {
        if (!_statements.TryGetValue(sql, out var statement))
        {
            _statements[sql] = statement = Prepare(sql);
        }

        return statement;
    }

    /// <summary>Runs one statement that is not worth keeping.</summary>
    public void Execute(string sql)
    {
        using var command = Command(sql);
        _ = command.ExecuteNonQuery();
    }

    /// <summary>First column of the first row as text; null when there is none.</summary>
    public string? Scalar(string sql)
    {
        using var command = Command(sql);
        return command.ExecuteScalar() is { } value ? Convert.ToString(value, CultureInfo.InvariantCulture) : null;
    }

    /// <summary>Ends an open transaction and every statement under way, whatever state a fault left them in.</summary>
    public void Rollback()
    {
        ResetStatements();
        if (InTransaction)
        {
            Execute("ROLLBACK");
        }
    }

    /// <summary>Ends statements that an exception left between two rows.</summary>
    public void ResetStatements()
    {
        foreach (var statement in _statements.Values)
        {
            statement.Reset();
        }
    }

    /// <summary>Pages written to the log since the last call.</summary>
    public int TakePagesWritten()
    {
        Check(raw.sqlite3_db_status(_handle, raw.SQLITE_DBSTATUS_CACHE_WRITE, out var pages, out _, 1));
        return pages;
    }

    /// <summary>Moves the log into the database file without waiting for readers; pages that are left.</summary>
    public int Checkpoint()
    {
        Check(raw.sqlite3_wal_checkpoint_v2(_handle, "main", raw.SQLITE_CHECKPOINT_PASSIVE, out var pages, out var moved));
        return Math.Max(0, pages - moved);
    }

    /// <summary>The same, and empties the log, which else keeps what was written until it is overwritten. False = a reader was in the way.</summary>
    public bool TryEmptyLog() => raw.sqlite3_wal_checkpoint_v2(_handle, "main", raw.SQLITE_CHECKPOINT_TRUNCATE, out _, out _) == raw.SQLITE_OK;

    public void Dispose()
    {
        foreach (var statement in _statements.Values)
        {
            statement.Dispose();
        }

        _connection.Dispose();
    }

    /// <summary>Throws unless <paramref name="code"/> says that all went well.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Check(int code)
    {
        if (code is not (raw.SQLITE_OK or raw.SQLITE_DONE or raw.SQLITE_ROW))
        {
            SqliteException.ThrowExceptionForRC(code, _handle);
        }
    }

    private static SqliteDatabase Open(string path, SqliteOpenMode mode, string? vfs)
    {
        FileOwner.RefuseUnlessFiles(path, $"{path}-wal", $"{path}-shm", $"{path}-journal");
        var connection = new SqliteConnection(new SqliteConnectionStringBuilder
        {
            Cache = SqliteCacheMode.Private,
            DataSource = path,
            DefaultTimeout = BusySeconds,
            Mode = mode,
            Pooling = false,
            Vfs = vfs,
        }.ToString());
        try
        {
            connection.Open();
            var database = new SqliteDatabase(connection, path);
            database.Check(raw.sqlite3_busy_timeout(database._handle, BusySeconds * 1000));
            return database;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private SqliteStatement Prepare(string sql)
    {
        Check(raw.sqlite3_prepare_v3(_handle, sql, raw.SQLITE_PREPARE_PERSISTENT, out var statement));
        return new SqliteStatement(this, statement);
    }

    private SqliteCommand Command(string sql)
    {
        var command = _connection.CreateCommand();
        command.CommandText = sql;
        return command;
    }

    private void Demand(string set, string get, string wanted)
    {
        Execute(set);
        if (Scalar(get) is var found && found != wanted)
        {
            throw new SqliteException($"'{set}' was not obeyed (it stayed '{found}')", raw.SQLITE_IOERR);
        }
    }
}
