using System.Runtime.CompilerServices;
using Pnh.Storage.Files;
using SQLitePCL;

namespace Pnh.Storage.Sqlite;

/// <summary>
/// One connection to one database file: settings proven at open, statements prepared once. Not thread-safe: one thread at a time, by the
/// writer's thread or the reader pool (so SQLite's own mutexes are off).
/// </summary>
internal sealed class SqliteDatabase : IDisposable
{
    private const int BusyMilliseconds = 5_000;

    // Keyed by reference: SQL texts are constants, so finding a statement costs no string hash.
    private readonly Dictionary<object, SqliteStatement> _statements = new(ReferenceEqualityComparer.Instance);
    private readonly sqlite3 _handle;

    private SqliteDatabase(sqlite3 handle, string path)
    {
        _handle = handle;
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

        var database = Open(path, raw.SQLITE_OPEN_READWRITE, vfs);
        try
        {
            database.Execute("PRAGMA trusted_schema=OFF");
            database.Execute("PRAGMA foreign_keys=ON");
            database.Execute("PRAGMA temp_store=MEMORY");
            database.Execute("PRAGMA cache_size=-65536");

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
        var database = Open(path, raw.SQLITE_OPEN_READONLY, vfs);
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
        using var statement = Prepare(sql);
        statement.Execute();
    }

    /// <summary>First column of the first row as text; null when there is none.</summary>
    public string? Scalar(string sql)
    {
        using var statement = Prepare(sql);
        return statement.Read() ? statement.Text(0) : null;
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

    public void Dispose()
    {
        foreach (var statement in _statements.Values)
        {
            statement.Dispose();
        }

        _handle.manual_close_v2();
    }

    /// <summary>Throws unless <paramref name="code"/> says that all went well.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Check(int code)
    {
        if (code is not (raw.SQLITE_OK or raw.SQLITE_DONE or raw.SQLITE_ROW))
        {
            Throw();
        }
    }

    private static SqliteDatabase Open(string path, int access, string? vfs)
    {
        _ = NativeSqlite.Version;
        var flags = access | raw.SQLITE_OPEN_NOMUTEX | raw.SQLITE_OPEN_PRIVATECACHE;
        var code = raw.sqlite3_open_v2(path, out var handle, flags, vfs);
        var database = new SqliteDatabase(handle, path);
        try
        {
            database.Check(code);
            database.Check(raw.sqlite3_extended_result_codes(handle, 1));
            database.Check(raw.sqlite3_busy_timeout(handle, BusyMilliseconds));
            return database;
        }
        catch
        {
            database.Dispose();
            throw;
        }
    }

    private SqliteStatement Prepare(string sql)
    {
        Check(raw.sqlite3_prepare_v3(_handle, sql, raw.SQLITE_PREPARE_PERSISTENT, out var statement));
        return new SqliteStatement(this, statement);
    }

    private void Demand(string set, string get, string wanted)
    {
        Execute(set);
        if (Scalar(get) is var found && found != wanted)
        {
            throw new SqliteException(raw.SQLITE_IOERR, $"'{set}' was not obeyed (it stayed '{found}')", FilePath);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Throw() =>
        throw new SqliteException(raw.sqlite3_extended_errcode(_handle), raw.sqlite3_errmsg(_handle).utf8_to_string(), FilePath);
}
