namespace Pnh.Storage.Files;

/// <summary>The disk that a data folder is on. Asks the system each time; thread-safe.</summary>
public sealed class DataDisk(string folder)
{
    /// <summary>Bytes that are left to the hub's user.</summary>
    public long FreeBytes => Ask(static folder => new DriveInfo(folder).AvailableFreeSpace);

    /// <summary>Bytes of the journal's files, with what is allocated ahead.</summary>
    public long JournalBytes => Ask(static folder => new DirectoryInfo(Path.Combine(folder, "journal")).EnumerateFiles("*", SearchOption.AllDirectories).Sum(static file => file.Length));

    // A file may be removed between its listing and its look; a disk that is gone says so elsewhere.
    private long Ask(Func<string, long> ask)
    {
        try
        {
            return ask(folder);
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return 0;
        }
    }
}
