using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Pnh.Storage.Files;

/// <summary>Whose a file or folder is, and what its mode lets others do. Links are not followed. Linux.</summary>
/// <param name="User">User id.</param>
/// <param name="Group">Group id.</param>
/// <param name="Mode">Permission bits.</param>
/// <param name="Kind">What it is.</param>
internal readonly unsafe partial record struct FileOwner(uint User, uint Group, UnixFileMode Mode, FileOwner.Type Kind)
{
    /// <summary>Whose root's files are.</summary>
    public const uint Root = 0;

    private const UnixFileMode Permissions = (UnixFileMode)0b111_111_111;

    // statx(2): its structure is the same on every architecture, unlike that of stat(2).
    private const int CurrentFolder = -100;
    private const int DoNotFollow = 0x100;
    private const int EmptyPath = 0x1000;
    private const uint Wanted = 0x1 | 0x2 | 0x8 | 0x10;
    private const int StatBytes = 256;
    private const int UserAt = 20;
    private const int GroupAt = 24;
    private const int ModeAt = 28;
    private const int TypeBits = 0xF000;
    private const int MostGroups = 65_536;

    /// <summary>As far as it matters here.</summary>
    internal enum Type
    {
        Other,
        Folder = 0x4000,
        Link = 0xA000,
        File = 0x8000,
    }

    /// <summary>The user that this process acts as.</summary>
    public static uint Self => EffectiveUser();

    /// <summary>The groups that this process acts for.</summary>
    public static IReadOnlySet<uint> OwnGroups
    {
        get
        {
            var groups = new uint[MostGroups];
            fixed (uint* first = groups)
            {
                var count = Groups(groups.Length, first);
                return new HashSet<uint>(groups.Take(Math.Max(count, 0)).Append(EffectiveGroup()));
            }
        }
    }

    /// <summary>Null when there is no such file, or when this system does not say.</summary>
    public static FileOwner? Of(string path) => Of(CurrentFolder, path, DoNotFollow);

    /// <summary>The same of what a link leads to.</summary>
    public static FileOwner? OfTarget(string path) => Of(CurrentFolder, path, 0);

    /// <summary>The same of an open file.</summary>
    public static FileOwner? Of(SafeFileHandle file) => Of((int)file.DangerousGetHandle(), string.Empty, EmptyPath);

    /// <summary>Throws <see cref="IOException"/> when one of them is there and no regular file, nor a link to one: a library that opens it would wait for ever, or write to a device.</summary>
    public static void RefuseUnlessFiles(params ReadOnlySpan<string> paths)
    {
        foreach (var path in paths)
        {
            if (OfTarget(path) is { } owner && owner.Kind != Type.File)
            {
                throw new IOException($"{path} is no regular file");
            }
        }
    }

    private static FileOwner? Of(int at, string path, int flags)
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        var found = stackalloc byte[StatBytes];
        try
        {
            return Stat(at, path, flags, Wanted, found) == 0 ? Read(found) : null;
        }
        catch (EntryPointNotFoundException)
        {
            return null; // a C library of before 2018
        }
    }

    private static FileOwner Read(byte* found)
    {
        var mode = *(ushort*)(found + ModeAt);
        var kind = (Type)(mode & TypeBits) is Type.Folder or Type.File or Type.Link ? (Type)(mode & TypeBits) : Type.Other;
        return new FileOwner(*(uint*)(found + UserAt), *(uint*)(found + GroupAt), (UnixFileMode)mode & Permissions, kind);
    }

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Stat(int at, string path, int flags, uint mask, byte* found);

    [LibraryImport("libc", EntryPoint = "geteuid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial uint EffectiveUser();

    [LibraryImport("libc", EntryPoint = "getegid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial uint EffectiveGroup();

    [LibraryImport("libc", EntryPoint = "getgroups")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Groups(int size, uint* list);
}
