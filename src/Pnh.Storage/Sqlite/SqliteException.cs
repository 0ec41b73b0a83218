using System.Globalization;
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

/// <summary>An SQLite result code as an exception; leaves the storage folder only as <see cref="StoreUnavailableException"/>.</summary>
internal sealed class SqliteException : Exception
{
    private readonly int _errno;

    public SqliteException(int code, string detail, string path)
        : base(string.Create(CultureInfo.InvariantCulture, $"{Path.GetFileName(path)}: {detail} (SQLite {code})"))
    {
        Code = code;
        File = path;

        // Asked at once: what was in the way may be gone when the advice is read.
        _errno = (code & 0xff) is raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM or raw.SQLITE_IOERR
            ? FileFault.Probe(Path.GetDirectoryName(Path.GetFullPath(path))!)
            : 0;
    }

    /// <summary>Extended result code.</summary>
    public int Code { get; }

    /// <summary>Path of the database.</summary>
    public string File { get; }

    /// <summary>At opening: perhaps only the index of the log could not be made, a file beside the database.</summary>
    public bool MayBeOfLogIndex => Code is raw.SQLITE_IOERR_SHMOPEN or raw.SQLITE_IOERR_SHMSIZE or raw.SQLITE_IOERR_SHMMAP or raw.SQLITE_FULL or raw.SQLITE_CANTOPEN;

    public SqliteFault Fault => (Code & 0xff) switch
    {
        raw.SQLITE_CORRUPT or raw.SQLITE_NOTADB => SqliteFault.Damaged,

        // After a failed fsync the kernel may have dropped the dirty pages: trying again would report success for lost bytes.
        raw.SQLITE_IOERR when Code is raw.SQLITE_IOERR_FSYNC or raw.SQLITE_IOERR_DIR_FSYNC => SqliteFault.Damaged,
        raw.SQLITE_IOERR or raw.SQLITE_FULL or raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM or raw.SQLITE_NOMEM
            or raw.SQLITE_BUSY or raw.SQLITE_LOCKED or raw.SQLITE_PROTOCOL or raw.SQLITE_NOLFS => SqliteFault.Unavailable,
        _ => SqliteFault.Work,
    };

    /// <summary>What happened and what to do, in one line.</summary>
    public string Advice()
    {
        var file = Path.GetFileName(File);
        return (Code & 0xff) switch
        {
            raw.SQLITE_FULL => $"No space left for {file}: free space on the disk of the data folder; the hub goes on by itself.",
            _ when Fault != SqliteFault.Damaged && FileFault.Advice(_errno, file) is { } advice => advice + "; the hub goes on by itself.",
            raw.SQLITE_CORRUPT => $"{file} is damaged: stop the hub, keep a copy of the data folder, and restore {file} from a backup.",
            raw.SQLITE_NOTADB => $"{file} is not a PNH database: restore it from a backup or choose another data folder.",
            raw.SQLITE_CANTOPEN or raw.SQLITE_READONLY or raw.SQLITE_PERM =>
                $"{file} cannot be opened for writing: give the hub's user the rights to the data folder.",
            raw.SQLITE_BUSY or raw.SQLITE_LOCKED => $"{file} is locked by another program: close whatever has it open.",
            raw.SQLITE_NOMEM => $"No memory left for {file}: give the hub more memory.",
            _ when Fault == SqliteFault.Damaged => $"The disk did not confirm what was written to {file}: check the disk, then restart the hub.",
            _ when Fault == SqliteFault.Work => $"{file} is not what a hub wrote ({Message}): stop the hub, keep a copy of the data folder, and restore {file} from a backup.",
            _ => $"The disk failed under {Message}: check the disk of the data folder.",
        };
    }

    /// <summary>The same as callers of a store see it.</summary>
    public StoreUnavailableException ToStoreUnavailable() => new(Advice(), this);
}
