using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;

namespace Pnh.Storage.Backups;

/// <summary>What a copy holds.</summary>
/// <param name="Files">How many files.</param>
/// <param name="Bytes">All together.</param>
/// <param name="Devices">Registrations.</param>
/// <param name="OpenEvents">Events with a delivery to come, or in a mailbox.</param>
public readonly record struct BackupReport(int Files, long Bytes, long Devices, int OpenEvents);

/// <summary>
/// Copies of a data folder. The hub may run meanwhile: of the journal the manifest is copied first, so that the copy has all it speaks of, then the registry, so that it knows every user of the
/// journal's events, by SQLite itself. A copy is read once as a start would read it, and has its name only then. No link in a copy is followed, and no file of it is larger than its list says.
/// </summary>
public static class FolderBackup
{
    private const string Journal = "journal";
    private const string Registry = "registry.db";
    private const string Unfinished = ".unfinished";

    // What a fresh volume holds.
    private const string LostAndFound = "lost+found";

    // What is of the running process, and what a start makes again.
    private static readonly string[] Left =
        [UserHashes.KeyName, "hub.clock", "hub.incarnation", "hub.lock", "hub.pid", Registry, Registry + "-wal", Registry + "-shm", CopyList.Name];

    // The oldest segment may be removed while it is copied.
    private const int Attempts = 5;

    /// <summary>Copies to a folder that does not exist, or is empty. Throws <see cref="DataFolderException"/>.</summary>
    /// <param name="data">The hub's data folder.</param>
    /// <param name="target">The copy.</param>
    /// <param name="journal">As the hub has them: reading a journal removes what is past its retention.</param>
    /// <param name="copied">Told the bytes of each piece.</param>
    /// <param name="cancellationToken">Ends it; nothing is left of the copy.</param>
    public static Task<BackupReport> CopyAsync(string data, string target, JournalOptions journal, Action<long> copied, CancellationToken cancellationToken) =>
        RunAsync(data, target, isRestore: false, journal, copied, cancellationToken);

    /// <summary>Makes the data folder of a copy; it must not exist, or be empty. Throws <see cref="DataFolderException"/>.</summary>
    /// <param name="copy">The copy.</param>
    /// <param name="data">The data folder.</param>
    /// <param name="journal">As above.</param>
    /// <param name="copied">As above.</param>
    /// <param name="cancellationToken">As above.</param>
    public static Task<BackupReport> RestoreAsync(string copy, string data, JournalOptions journal, Action<long> copied, CancellationToken cancellationToken) =>
        RunAsync(copy, data, isRestore: true, journal, copied, cancellationToken);

    private static async Task<BackupReport> RunAsync(string from, string to, bool isRestore, JournalOptions journal, Action<long> told, CancellationToken cancellationToken)
    {
        (from, to) = (Path.TrimEndingDirectorySeparator(Path.GetFullPath(from)), Path.TrimEndingDirectorySeparator(Path.GetFullPath(to)));
        if (!File.Exists(Path.Combine(from, Registry)) || !Directory.Exists(Path.Combine(from, Journal)))
        {
            throw new DataFolderException($"{from} has no {Registry} and no {Journal}: it is no {(isRestore ? "copy of a data folder" : "data folder; give the hub's with --Pnh:Data=…")}");
        }

        var isThere = Directory.Exists(to);
        if (File.Exists(to) || (isThere && Directory.EnumerateFileSystemEntries(to).Any(static entry => Path.GetFileName(entry) != LostAndFound)))
        {
            throw new DataFolderException($"{to} is not empty: move it away first, or give another folder{(isRestore ? " with --Pnh:Data=…" : "")}");
        }

        // A mount point cannot be made by renaming: what is to be in it is made in it.
        var unfinished = isThere ? Path.Combine(to, Unfinished) : to + Unfinished;
        if (Path.Exists(unfinished) || new FileInfo(unfinished).LinkTarget is not null)
        {
            throw new DataFolderException($"{unfinished} is there, perhaps of a copy that was cut: look at it, and remove it first");
        }

        try
        {
            var list = isRestore ? CopyList.Read(from) : null;
            var copied = Copy(from, unfinished, isRestore, list, told, cancellationToken);
            var open = await CountOpenAsync(unfinished, journal, cancellationToken).ConfigureAwait(false);
            if (!isRestore)
            {
                CopyList.Write(unfinished);
            }

            GiveName(unfinished, to, isThere);
            return copied with { OpenEvents = open };
        }
        catch (Exception fault)
        {
            Forget(unfinished);
            if (fault is IOException or UnauthorizedAccessException)
            {
                throw new DataFolderException(FileFault.Advice(fault, unfinished) is { } advice ? advice + "." : $"{from} could not be copied to {unfinished}: {fault.Message}", fault);
            }

            throw;
        }
    }

    private static BackupReport Copy(string from, string to, bool isRestore, CopyList? list, Action<long> told, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                var copied = new Copied(from, list, mayLink: !isRestore, told, cancellationToken);
                copied.Folder(Path.Combine(from, Journal), Path.Combine(to, Journal));
                copied.Check(Path.Combine(from, Registry));
                var devices = SqliteRegistryCopy.Write(Path.Combine(from, Registry), Path.Combine(to, Registry));
                copied.Take(Path.Combine(to, Registry));
                copied.Rest(from, to, Left);
                return new BackupReport(copied.Files, copied.Bytes, devices, OpenEvents: 0);
            }
            catch (FileNotFoundException) when (attempt < Attempts)
            {
                Forget(to);
            }
        }
    }

    /// <summary>As a start reads it: damage is a <see cref="DataFolderException"/>.</summary>
    private static async Task<int> CountOpenAsync(string folder, JournalOptions options, CancellationToken cancellationToken)
    {
        await using var registry = SqliteDeviceStore.Open(folder, TimeProvider.System, cachedUsers: 1, isCopy: true);
        await using var journal = SegmentJournal.Open(folder, TimeProvider.System, options);
        var open = 0;
        await foreach (var _ in journal.RecoverAsync(cancellationToken).ConfigureAwait(false))
        {
            open++;
        }

        return open;
    }

    /// <summary>All of it at once; or, into a folder that is there, the registry last: without it no hub starts on the rest.</summary>
    private static void GiveName(string unfinished, string to, bool isThere)
    {
        if (!isThere)
        {
            Directory.Move(unfinished, to);
            FolderSync.Flush(Path.GetDirectoryName(to)!);
            return;
        }

        foreach (var entry in Directory.EnumerateFileSystemEntries(unfinished).OrderBy(static entry => Path.GetFileName(entry) == Registry).ToList())
        {
            var name = Path.Combine(to, Path.GetFileName(entry));
            if (Directory.Exists(entry))
            {
                Directory.Move(entry, name);
            }
            else
            {
                File.Move(entry, name);
            }
        }

        Directory.Delete(unfinished);
        FolderSync.Flush(to);
    }

    private static void Forget(string folder)
    {
        if (Directory.Exists(folder))
        {
            Directory.Delete(folder, recursive: true);
        }
    }
}
