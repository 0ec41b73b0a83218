using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using SQLitePCL;

namespace Pnh.Storage.Sqlite;

/// <summary>Whose fault an SQLite error is: decides who hears of it and whether the writer goes on.</summary>
internal enum SqliteFault
{
    /// <summary>The one piece of work broke a constraint or the API: only that work fails.</summary>
    Work,

    /// <summary>Nothing can be written or read now; later it may work again without a restart.</summary>
    Unavailable,

    /// <summary>What is on the disk is no longer known (failed sync, damaged file): refuse until someone looked and restarted.</summary>
    Damaged,
}

/// <summary>What an error of SQLite means to a hub, and what to do. It leaves the storage folders only as <see cref="StoreUnavailableException"/> or <see cref="DataFolderException"/>.</summary>
internal static class SqliteFaults
{
    public static SqliteFault Fault(this SqliteException error) => error.SqliteErrorCode switch
    {
        raw.SQLITE_CORRUPT or raw.SQLITE_NOTADB => SqliteFault.Damaged,

        // After a failed fsync the kernel may have dropped the dirty pages: trying again would report success for lost bytes.
        raw.SQLITE_IOERR when error.SqliteExtendedErrorCode is raw.SQLITE_IOERR_FSYNC or raw.SQLITE_IOERR_DIR_FSYNC => SqliteFault.Damaged,
        raw.SQLITE_IOERR or raw.SQLITE_FULL or raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM or raw.SQLITE_NOMEM
            or raw.SQLITE_BUSY or raw.SQLITE_LOCKED or raw.SQLITE_PROTOCOL or raw.SQLITE_NOLFS => SqliteFault.Unavailable,
        _ => SqliteFault.Work,
    };

    /// <summary>At opening: perhaps only the index of the log could not be made, a file beside the database.</summary>
    public static bool MayBeOfLogIndex(this SqliteException error) => error.SqliteErrorCode is raw.SQLITE_FULL or raw.SQLITE_CANTOPEN
        || error.SqliteExtendedErrorCode is raw.SQLITE_IOERR_SHMOPEN or raw.SQLITE_IOERR_SHMSIZE or raw.SQLITE_IOERR_SHMMAP;

    /// <summary>What happened and what to do, in one line.</summary>
    /// <param name="error">Just met: what was in the way is looked for now.</param>
    /// <param name="path">Of the database.</param>
    public static string Advice(this SqliteException error, string path)
    {
        var file = Path.GetFileName(path);
        var fault = error.Fault();
        return error.SqliteErrorCode switch
        {
            raw.SQLITE_FULL => $"No space left for {file}: free space on the disk of the data folder; the hub goes on by itself.",
            raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM or raw.SQLITE_IOERR
                when fault != SqliteFault.Damaged && FileFault.Advice(FileFault.Probe(Path.GetDirectoryName(Path.GetFullPath(path))!), file) is { } advice =>
                advice + "; the hub goes on by itself.",
            raw.SQLITE_CORRUPT => $"{file} is damaged: stop the hub, keep a copy of the data folder, and restore {file} from a backup.",
            raw.SQLITE_NOTADB => $"{file} is not a PNH database: restore it from a backup or choose another data folder.",
            raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM =>
                $"{file} cannot be opened for writing: give the hub's user the rights to the data folder.",
            raw.SQLITE_BUSY or raw.SQLITE_LOCKED => $"{file} is locked by another program: close whatever has it open.",
            raw.SQLITE_NOMEM => $"No memory left for {file}: give the hub more memory.",
            _ when fault == SqliteFault.Damaged => $"The disk did not confirm what was written to {file}: check the disk, then restart the hub.",
            _ when fault == SqliteFault.Work => $"{file} is not what a hub wrote ({Cause(error)}): stop the hub, keep a copy of the data folder, and restore {file} from a backup.",
            _ => $"The disk failed under {file} ({Cause(error)}): check the disk of the data folder.",
        };
    }

    /// <summary>The same as callers of a store see it.</summary>
    public static StoreUnavailableException ToStoreUnavailable(this SqliteException error, string path) => new(error.Advice(path), error);

    private static string Cause(SqliteException error) => error.Message.TrimEnd('.');
}
