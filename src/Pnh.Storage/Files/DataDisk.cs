namespace Pnh.Storage.Files;

/// <summary>The disk that a data folder is on. Asks the system each time; thread-safe.</summary>
public sealed class DataDisk(string folder)
{
    private const long LeastLeft = 1024L * 1024 * 1024;

    /// <summary>Bytes that are left to the hub's user.</summary>
    public long FreeBytes => Ask(static folder => new DriveInfo(folder).AvailableFreeSpace);

    /// <summary>Bytes of the journal's files, with what is allocated ahead.</summary>
    public long JournalBytes => Ask(static folder => new DirectoryInfo(Path.Combine(folder, "journal")).EnumerateFiles("*", SearchOption.AllDirectories).Sum(static file => file.Length));

    /// <summary>Bytes that the journal may take, as its settings say (null = they do not) or as is usual here; null = there is no bound.</summary>
    /// <param name="said">By the settings.</param>
    /// <param name="segmentBytes">Of one segment.</param>
    public long? Bound(long? said, long segmentBytes) => said ?? UsualBound(segmentBytes);

    /// <summary>
    /// What the journal may take when nobody has said: all but 1 GiB, or a twentieth of the disk where that is more. Two segments at least; null = the disk does not say
    /// how large it is.
    /// </summary>
    /// <param name="segmentBytes">Of one segment.</param>
    public long? UsualBound(long segmentBytes)
    {
        var disk = Ask(static folder => new DriveInfo(folder).TotalSize);
        return disk == 0 ? null : Math.Max(2 * segmentBytes, JournalBytes + FreeBytes - Math.Max(LeastLeft, disk / 20));
    }

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
