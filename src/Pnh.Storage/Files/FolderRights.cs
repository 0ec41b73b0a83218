using System.Runtime.Versioning;

namespace Pnh.Storage.Files;

/// <summary>
/// Who may read and write the data folder. What the hub owns is narrowed to the hub; a folder of root's is how an orchestrator hands out a volume, and is taken as it is; what is
/// somebody else's is refused. Linux; elsewhere nothing is looked at.
/// </summary>
internal static class FolderRights
{
    /// <summary>Of each file that the hub makes: 0600.</summary>
    internal const UnixFileMode OwnerFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Of each folder: 0700.</summary>
    internal const UnixFileMode OwnerFolder = OwnerFile | UnixFileMode.UserExecute;

    private const UnixFileMode ForOthers = (UnixFileMode)0b111_111;

    /// <summary>What the hub makes in the folder. A volume may hold more (<c>lost+found</c>), which is not the hub's.</summary>
    internal static IReadOnlyList<string> Names { get; } =
    [
        "console.sessions", "demo.hs256", "demo.key", "gone.key", "hub.clock", "hub.incarnation", "hub.lock", "hub.pid", "journal", "link-passes.key", "operator.secret", "registry.db", "registry.db-shm", "registry.db-wal", "sandbox",
    ];

    /// <summary>What of it the hub makes again when it is gone.</summary>
    private static readonly string[] MadeAgain = ["hub.clock", "hub.incarnation", "hub.lock", "hub.pid", Path.Combine("journal", "users")];

    /// <summary>
    /// Narrows folder and files, and removes what stands in the place of a file that can be made again and is none. Gives lines for the log: what was removed, and who else may write to the
    /// folder. Throws <see cref="DataFolderException"/> when the folder, or a file of the hub's in it, is not the hub's to trust.
    /// </summary>
    public static IReadOnlyList<string> Secure(string folder)
    {
        if (!OperatingSystem.IsLinux() || FileOwner.Of(folder) is not { } owner)
        {
            return [];
        }

        if (owner.User != FileOwner.Self && owner.User != FileOwner.Root)
        {
            throw new DataFolderException(
                $"The data folder {folder} belongs to another user (uid {owner.User}), who could read or replace what the hub keeps: give it to the hub's user alone (chown, chmod 700), "
                + "or set Pnh:Data to a new folder in it, which the hub makes.");
        }

        if (owner.User == FileOwner.Self)
        {
            owner = Narrow(folder, owner, OwnerFolder);
        }

        List<string> lines = [];
        foreach (var name in MadeAgain)
        {
            Remove(Path.Combine(folder, name), lines, mayLink: !name.Contains(Path.DirectorySeparatorChar, StringComparison.Ordinal));
        }

        foreach (var name in Names)
        {
            SecureEntry(Path.Combine(folder, name));
        }

        if (Writers(owner) is { } writers)
        {
            lines.Add($"The data folder {folder} can be written by {writers}, who could remove or replace what the hub keeps: give the hub a folder of its own in it (Pnh:Data), or chmod it.");
        }

        return lines;
    }

    /// <summary>Removes it, or of a folder each entry, unless it is a regular file.</summary>
    [SupportedOSPlatform("linux")]
    private static void Remove(string path, List<string> lines, bool mayLink)
    {
        var kind = FileOwner.Of(path)?.Kind;
        if (kind == FileOwner.Type.Folder)
        {
            foreach (var entry in Directory.EnumerateFileSystemEntries(path))
            {
                Remove(entry, lines, mayLink: false);
            }
        }
        else if (kind == FileOwner.Type.Other || (kind == FileOwner.Type.Link && !(mayLink && FileOwner.OfTarget(path)?.Kind != FileOwner.Type.Other)))
        {
            File.Delete(path);
            lines.Add($"{path} was no file of the hub's, but a link, a pipe or the like: it is removed, and made again.");
        }
    }

    /// <summary>An entry of the data folder: a link of the hub's user is that user's choice, as long as it leads to a file or a folder.</summary>
    [SupportedOSPlatform("linux")]
    private static void SecureEntry(string path)
    {
        if (FileOwner.Of(path) is not { Kind: FileOwner.Type.Link } link)
        {
            SecureFile(path);
            return;
        }

        RefuseOthers(path, link);
        if (FileOwner.OfTarget(path)?.Kind == FileOwner.Type.Other)
        {
            throw NotRegular(path);
        }
    }

    private static void RefuseOthers(string path, in FileOwner owner)
    {
        if (owner.User != FileOwner.Self)
        {
            throw new DataFolderException(
                $"{path} belongs to another user (uid {owner.User}), so the hub does not trust what it says: give it to the hub's user (chown), or remove it.");
        }
    }

    private static DataFolderException NotRegular(string path) =>
        new($"{path} is neither a file nor a folder, where the hub keeps one: remove it, or restore the data folder from a backup.");

    [SupportedOSPlatform("linux")]
    private static void SecureFile(string path)
    {
        if (FileOwner.Of(path) is not { } owner)
        {
            return;
        }

        RefuseOthers(path, owner);
        if (owner.Kind is not (FileOwner.Type.File or FileOwner.Type.Folder))
        {
            throw NotRegular(path);
        }

        owner = Narrow(path, owner, owner.Kind == FileOwner.Type.Folder ? OwnerFolder : OwnerFile);
        if (Writers(owner) is { } writers)
        {
            throw new DataFolderException($"{path} can be written by {writers}, and its mode cannot be changed: keep the data folder on a file system that knows modes.");
        }

        if (owner.Kind == FileOwner.Type.Folder)
        {
            foreach (var entry in Directory.EnumerateFileSystemEntries(path))
            {
                SecureFile(entry);
            }
        }
    }

    /// <summary>As it is afterwards: not every file system keeps a mode.</summary>
    [SupportedOSPlatform("linux")]
    private static FileOwner Narrow(string path, in FileOwner owner, UnixFileMode wanted)
    {
        if ((owner.Mode & ForOthers) == 0)
        {
            return owner;
        }

        try
        {
            File.SetUnixFileMode(path, owner.Mode & wanted);
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return owner;
        }

        return FileOwner.Of(path) ?? owner;
    }

    // A group of the hub's own is how an orchestrator lets the hub write (fsGroup).
    private static string? Writers(in FileOwner owner) =>
        (owner.Mode & UnixFileMode.OtherWrite) != 0 ? "every user of this machine"
        : (owner.Mode & UnixFileMode.GroupWrite) != 0 && (owner.User == FileOwner.Self || !FileOwner.OwnGroups.Contains(owner.Group)) ? $"a group (gid {owner.Group})"
        : null;
}
