using Pnh.Storage.Files;

namespace Pnh.Storage.Segments.Format;

/// <summary>A folder of the file system, readable by its owner alone, whose files are regular ones of the hub's user (<see cref="OpenFolder"/>).</summary>
internal sealed class DiskFolder : IJournalFolder
{
    private const string Aside = "quarantine";

    private readonly OpenFolder _folder;

    private DiskFolder(OpenFolder folder) => _folder = folder;

    public string Name => _folder.FullPath;

    /// <summary>Creates it when missing, durably.</summary>
    public static DiskFolder At(string path)
    {
        if (!Directory.Exists(path))
        {
            Create(path);
        }

        return new DiskFolder(OpenFolder.At(path));
    }

    /// <summary>The same of a folder in it.</summary>
    public DiskFolder Inside(string name) => new(_folder.Inside(name));

    public IReadOnlyList<string> List() => Array.ConvertAll(Directory.GetFiles(Name), static path => Path.GetFileName(path)!);

    public IJournalFile Create(string name, long bytes)
    {
        var file = new DiskFile(_folder.CreateFile(name), Path.Combine(Name, name));
        try
        {
            file.Allocate(bytes);
            return file;
        }
        catch
        {
            file.Dispose();
            _folder.Delete(name);
            throw;
        }
    }

    public IJournalFile Open(string name) => new DiskFile(_folder.OpenFile(name), Path.Combine(Name, name));

    public void Delete(string name) => _folder.Delete(name);

    public void Sync() => FolderSync.Flush(Name);

    public void Quarantine(string name, ReadOnlySpan<byte> bytes)
    {
        var aside = _folder.Inside(Aside);
        using (var file = new DiskFile(aside.CreateFile(name), Path.Combine(aside.FullPath, name)))
        {
            file.Write(bytes, 0);
            file.Sync();
        }

        FolderSync.Flush(aside.FullPath);
    }

    private static void Create(string path)
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(path);
        }
        else
        {
            Directory.CreateDirectory(path, FolderRights.OwnerFolder);
        }

        FolderSync.Flush(Path.GetDirectoryName(path)!);
    }
}
