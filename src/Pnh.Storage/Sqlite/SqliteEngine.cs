using Microsoft.Data.Sqlite;
using Pnh.Storage.Files;

namespace Pnh.Storage.Sqlite;

/// <summary>One database file with its writer and its readers.</summary>
internal sealed class SqliteEngine : IAsyncDisposable
{
    // Keeps the index of the log in memory instead of a file beside it (https://sqlite.org/vfs.html#standard_unix_vfses): no other program can read along.
    private const string WithoutSharedFile = "unix-excl";

    private bool _disposed;

    private SqliteEngine(SqliteWriter writer, SqliteReaders readers)
    {
        Writer = writer;
        Readers = readers;
    }

    public SqliteWriter Writer { get; }

    public SqliteReaders Readers { get; }

    /// <summary>The writer is closed for good: a sync failed or the file is damaged. Only opening it again helps.</summary>
    public bool IsDamaged => Writer.IsDamaged;

    /// <summary>
    /// Opens or creates the file, brings its tables up to date, lets <paramref name="opened"/> read what it needs and starts the writer. Throws <see cref="DataFolderException"/>.
    /// </summary>
    public static SqliteEngine Open(
        string path, SqliteSchema schema, TimeProvider time, Action<TimeSpan>? onSync = null, Func<SqliteDatabase, bool>? tidy = null,
        Action<SqliteDatabase>? opened = null)
    {
        SqliteDatabase? database = null;
        string? vfs = null;
        try
        {
            database = OpenWriter(path, ref vfs);
            schema.Apply(database);
            opened?.Invoke(database);
            _ = database.TakePagesWritten();
            MoveLog(database);
        }
        catch (Exception exception)
        {
            database?.Dispose();
            throw exception switch
            {
                SqliteException fault => new DataFolderException(fault.Advice(path), fault),
                IOException or UnauthorizedAccessException => new DataFolderException(
                    FileFault.Advice(exception, path) is { } advice ? advice + "." : $"{path} cannot be created: {exception.Message.TrimEnd('.')}. Choose a data folder that the hub may write to.", exception),
                _ => exception,
            };
        }

        var writer = new SqliteWriter(database, time, onSync, tidy);
        writer.Start();
        return new SqliteEngine(writer, new SqliteReaders(path, vfs, writer.Close));
    }

    /// <summary>Readers first: closing the last connection is the writer's, which moves the log into the file.</summary>
    public async ValueTask DisposeAsync()
    {
        // A container disposes once per service type, and the readers would wait for their own return for ever.
        if (Interlocked.Exchange(ref _disposed, true))
        {
            return;
        }

        await Readers.DisposeAsync();
        await Writer.DisposeAsync();
    }

    /// <summary>A full disk has no room for the index of the log, 32 kB. What is in the file can be read all the same, and written when there is room.</summary>
    private static SqliteDatabase OpenWriter(string path, ref string? vfs)
    {
        try
        {
            return SqliteDatabase.OpenWriter(path, vfs);
        }
        catch (SqliteException fault) when (fault.MayBeOfLogIndex() && !OperatingSystem.IsWindows())
        {
            vfs = WithoutSharedFile;
            return SqliteDatabase.OpenWriter(path, vfs);
        }
    }

    private static void MoveLog(SqliteDatabase database)
    {
        try
        {
            database.Checkpoint();
        }
        catch (SqliteException fault) when (fault.Fault() == SqliteFault.Unavailable)
        {
            // A full disk takes it later; what is in the log is read from there.
        }
    }
}
