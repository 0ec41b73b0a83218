using Pnh.Storage.Files;

namespace Pnh.Storage.Backups;

/// <summary>
/// Files that are copied, each on stable storage, for the owner's eyes alone; regular files, and as many bytes as each had when it was looked at. Faults are <see cref="IOException"/>, of what a
/// copy may not hold <see cref="DataFolderException"/>. Not thread-safe.
/// </summary>
/// <param name="root">The folder that is copied.</param>
/// <param name="list">What it holds; null = it has no list.</param>
/// <param name="mayLink">Whether what stands directly in it may be a link: in a data folder, where that is its user's choice.</param>
/// <param name="told">Told the bytes of each piece.</param>
/// <param name="cancellationToken">Ends it.</param>
internal sealed class Copied(string root, CopyList? list, bool mayLink, Action<long> told, CancellationToken cancellationToken)
{
    private readonly byte[] _piece = new byte[1024 * 1024];

    public int Files { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The files of a folder, in the order of their names, without folders in it.</summary>
    public void Folder(string from, string to)
    {
        if (!mayLink && FileOwner.Of(from) is { Kind: not FileOwner.Type.Folder })
        {
            throw NotPlain(from);
        }

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

    /// <summary>Throws unless the file may be copied.</summary>
    public void Check(string file)
    {
        var isFirst = Path.GetDirectoryName(file) == root;
        if (!(mayLink && isFirst) && FileOwner.Of(file) is { Kind: not FileOwner.Type.File })
        {
            throw NotPlain(file);
        }

        list?.Check(root, file, new FileInfo(file).Length);
    }

    /// <summary>Counts one that is there, and syncs it.</summary>
    public void Take(string file)
    {
        using var handle = File.OpenHandle(file, FileMode.Open, FileAccess.ReadWrite);
        RandomAccess.FlushToDisk(handle);
        Files++;
        Bytes += RandomAccess.GetLength(handle);
    }

    private static DataFolderException NotPlain(string path) => new($"{path} is a link or no regular file: a copy holds files alone, so it is not followed.");

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
        Check(from);
        using (var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0))
        using (var target = new FileStream(to, DataFolder.PrivateFile(FileMode.CreateNew)))
        {
            var left = source.Length;
            for (int read; left > 0 && (read = source.Read(_piece, 0, (int)Math.Min(left, _piece.Length))) > 0; told(read))
            {
                cancellationToken.ThrowIfCancellationRequested();
                target.Write(_piece, 0, read);
                left -= read;
            }
        }

        Take(to);
    }
}
