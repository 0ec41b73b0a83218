using Pnh.Storage.Files;

namespace Pnh.Storage.Backups;

/// <summary>Files that are copied, each on stable storage, for the owner's eyes alone. Faults are <see cref="IOException"/>. Not thread-safe.</summary>
internal sealed class Copied(Action<long> told, CancellationToken cancellationToken)
{
    private readonly byte[] _piece = new byte[1024 * 1024];

    public int Files { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The files of a folder, in the order of their names, without folders in it.</summary>
    public void Folder(string from, string to)
    {
        Make(to);
        foreach (var file in Directory.EnumerateFiles(from).Order(StringComparer.Ordinal))
        {
            Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }

        FolderSync.Flush(to);
    }

    /// <summary>All files directly in the folder but those; what is a folder there is the journal's, or is made again.</summary>
    public void Rest(string from, string to, IReadOnlyCollection<string> but)
    {
        foreach (var file in Directory.EnumerateFiles(from).Where(file => !but.Contains(Path.GetFileName(file))))
        {
            Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }

        FolderSync.Flush(to);
    }

    /// <summary>Counts one that is there, and syncs it.</summary>
    public void Take(string file)
    {
        using var handle = File.OpenHandle(file, FileMode.Open, FileAccess.ReadWrite);
        RandomAccess.FlushToDisk(handle);
        Files++;
        Bytes += RandomAccess.GetLength(handle);
    }

    private static void Make(string folder)
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(folder);
        }
        else
        {
            Directory.CreateDirectory(folder, FolderRights.OwnerFolder);
        }
    }

    private void Copy(string from, string to)
    {
        using (var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0))
        using (var target = new FileStream(to, DataFolder.PrivateFile(FileMode.CreateNew)))
        {
            for (int read; (read = source.Read(_piece)) > 0; told(read))
            {
                cancellationToken.ThrowIfCancellationRequested();
                target.Write(_piece, 0, read);
            }
        }

        Take(to);
    }
}
