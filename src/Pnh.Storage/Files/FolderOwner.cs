using System.Runtime.InteropServices;

namespace Pnh.Storage.Files;

/// <summary>Whose a folder is, and who else may write to it. Linux; elsewhere only the mode is known.</summary>
internal static unsafe partial class FolderOwner
{
    private const UnixFileMode OthersWrite = UnixFileMode.OtherWrite;
    private const UnixFileMode GroupWrite = UnixFileMode.GroupWrite;
    private const uint Root = 0;

    // statx(2): its structure is the same on every architecture, unlike that of stat(2).
    private const int CurrentFolder = -100;
    private const uint WithOwner = 0x8;
    private const int StatBytes = 256;
    private const int OwnerAt = 20;

    /// <summary>
    /// Why what is in the folder is not the hub's alone, as the end of a sentence; null = it is. Root may own it, and its group may then write: so an orchestrator
    /// hands out a volume, and the hub could not change it.
    /// </summary>
    public static string? FindStranger(string folder)
    {
        if (OperatingSystem.IsWindows())
        {
            return null;
        }

        var mode = File.GetUnixFileMode(folder);
        var owner = Find(folder);
        if (owner is { } other && other != Root && other != EffectiveUser())
        {
            return $"belongs to another user (uid {other})";
        }

        return (mode & OthersWrite) != 0 ? "can be written by every user of this machine"
            : (mode & GroupWrite) != 0 && (owner != Root || EffectiveUser() == Root) ? "can be written by its group"
            : null;
    }

    /// <summary>The user id; null = not known here.</summary>
    private static uint? Find(string folder)
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        var found = stackalloc byte[StatBytes];
        try
        {
            return Stat(CurrentFolder, folder, 0, WithOwner, found) == 0 ? *(uint*)(found + OwnerAt) : null;
        }
        catch (EntryPointNotFoundException)
        {
            return null; // a C library of before 2018
        }
    }

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Stat(int at, string path, int flags, uint mask, byte* found);

    [LibraryImport("libc", EntryPoint = "geteuid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial uint EffectiveUser();
}
