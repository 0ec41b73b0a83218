namespace Pnh.Storage.Segments.Format;

/// <summary>
/// The file of the <see cref="Manifest"/>: two slots in blocks of their own, written in turns, so that one is whole whenever a write is cut. Overwriting takes no space
/// and one sync. For one thread.
/// </summary>
internal sealed class ManifestFile : IDisposable
{
    /// <summary>Sorts before the segments: a copy in the order of names has all of what its manifest speaks of.</summary>
    public const string Name = "00000000.manifest";

    private const int SlotBytes = 4_096;

    private ulong _writes;

    private ManifestFile(IJournalFile file, ulong writes) => (File, _writes) = (file, writes);

    /// <summary>As it was written last.</summary>
    public Manifest Current { get; private set; }

    /// <summary>To be synced after a write.</summary>
    public IJournalFile File { get; }

    /// <summary>What is there; null = no file, or nothing readable in it.</summary>
    public static Manifest? Find(IJournalFolder folder)
    {
        if (!folder.List().Contains(Name))
        {
            return null;
        }

        using var file = folder.Open(Name);
        return Newest(file, out _);
    }

    /// <summary>Opens the file; creates and writes it, durably, when it says anything else.</summary>
    public static ManifestFile Start(IJournalFolder folder, in Manifest manifest)
    {
        var isThere = folder.List().Contains(Name);
        var file = isThere ? folder.Open(Name) : folder.Create(Name, 2 * SlotBytes);
        try
        {
            var found = Newest(file, out var writes);
            var started = new ManifestFile(file, writes) { Current = manifest };
            if (found != manifest)
            {
                started.Write(manifest);
                file.Sync();
                folder.Sync();
            }

            return started;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>On stable storage after a sync. Throws <see cref="IOException"/>: then the one before stands, and the next goes to the same place.</summary>
    public void Write(in Manifest manifest)
    {
        Span<byte> bytes = stackalloc byte[Manifest.Bytes];
        var at = Slot(_writes + 1);
        manifest.Write(bytes, at, _writes + 1);
        File.Write(bytes, at);
        _writes++;
        Current = manifest;
    }

    public void Dispose() => File.Dispose();

    private static int Slot(ulong write) => (int)(write % 2) * SlotBytes;

    private static Manifest? Newest(IJournalFile file, out ulong write)
    {
        Span<byte> bytes = stackalloc byte[Manifest.Bytes];
        Manifest? newest = null;
        write = 0;
        for (var at = 0; at < 2 * SlotBytes; at += SlotBytes)
        {
            var read = file.Read(bytes, at);
            if (Manifest.TryRead(bytes[..read], at, out var number, out var manifest) && number > write)
            {
                (newest, write) = (manifest, number);
            }
        }

        return newest;
    }
}
