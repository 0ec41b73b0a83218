using Pnh.Storage.Files;

namespace Pnh.Storage.Segments.Format;

/// <summary>A folder of the file system, readable by its owner alone.</summary>
internal sealed class DiskFolder : IJournalFolder
{
    private const string Aside = "quarantine";

    private DiskFolder(string path) => Name = path;

    public string Name { get; }

    /// <summary>Creates it when missing, durably.</summary>
    public static DiskFolder At(string path)
    {
        if (!Directory.Exists(path))
        {
            Create(path);
        }

        return new DiskFolder(path);
    }

    public IReadOnlyList<string> List() => Array.ConvertAll(Directory.GetFiles(Name), static path => Path.GetFileName(path)!);

    public IJournalFile Create(string name, long bytes)
    {
        var file = new DiskFile(Stream(Path.Combine(Name, name), FileMode.Create));
        try
        {
            file.Allocate(bytes);
            return file;
        }
        catch
        {
            file.Dispose();
            File.Delete(Path.Combine(Name, name));
            throw;
        }
    }

    public IJournalFile Open(string name) => new DiskFile(Stream(Path.Combine(Name, name), FileMode.Open));

    public void Delete(string name)
    {
        try
        {
            File.Delete(Path.Combine(Name, name));
        }
        catch (UnauthorizedAccessException fault)
        {
            throw new IOException(fault.Message, fault);
        }
    }

    public void Sync() => FolderSync.Flush(Name);

    public void Quarantine(string name, ReadOnlySpan<byte> bytes)
    {
        var folder = Path.Combine(Name, Aside);
        if (!Directory.Exists(folder))
        {
            Create(folder);
        }

        using (var stream = Stream(Path.Combine(folder, name), FileMode.Create))
        {
            stream.Write(bytes);
            stream.Flush(flushToDisk: true);
        }

        FolderSync.Flush(folder);
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

    /// <summary>Shared, so that a backup can read beside; the data folder's lock keeps other hubs out.</summary>
    private static FileStream Stream(string path, FileMode mode)
    {
        var options = mode == FileMode.Open
            ? new FileStreamOptions { Mode = mode, Access = FileAccess.ReadWrite }
            : DataFolder.PrivateFile(mode);
        options.Share = FileShare.ReadWrite | FileShare.Delete;
        options.BufferSize = 0;
        try
        {
            return new FileStream(path, options);
        }
        catch (UnauthorizedAccessException fault)
        {
            throw new IOException(fault.Message, fault);
        }
    }
}
