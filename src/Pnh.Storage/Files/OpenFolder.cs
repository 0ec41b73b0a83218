using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Pnh.Storage.Files;

/// <summary>
/// A folder of which each file is opened as a regular file of the hub's user, without following a link (openat(2)): a link there would have another file read or written, a pipe would
/// hold the hub for ever. Linux; elsewhere files are opened by path. Faults are <see cref="IOException"/> with the errno as HResult. Thread-safe.
/// </summary>
internal sealed partial class OpenFolder
{
    private const int ReadWrite = 2;
    private const int Create = 0x40;
    private const int Exclusive = 0x80;
    private const int DoNotBlock = 0x800;
    private const int CloseOnExec = 0x80000;
    private const int Interrupted = 4;
    private const int NotFound = 2;

    // These two have other numbers on ARM.
    private static readonly int OnlyFolder = IsArm ? 0x4000 : 0x10000;
    private static readonly int DoNotFollow = IsArm ? 0x8000 : 0x20000;

    private readonly SafeFileHandle? _folder;

    private OpenFolder(string path, SafeFileHandle? folder) => (FullPath, _folder) = (path, folder);

    /// <summary>Where it was when it was opened.</summary>
    public string FullPath { get; }

    private static bool IsArm => RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm;

    /// <summary>An existing folder, which may be a link: that is the choice of the hub's user.</summary>
    public static OpenFolder At(string path)
    {
        if (!OperatingSystem.IsLinux())
        {
            return new OpenFolder(path, null);
        }

        var opened = OpenPath(path, OnlyFolder | CloseOnExec);
        return opened.IsInvalid ? throw Fault(path) : new OpenFolder(path, opened);
    }

    /// <summary>A folder in it, made durably when it is missing: no link.</summary>
    public OpenFolder Inside(string name)
    {
        var path = Path.Combine(FullPath, name);
        if (_folder is not { } folder)
        {
            Directory.CreateDirectory(path);
            return new OpenFolder(path, null);
        }

        var opened = OpenAt(folder, name, OnlyFolder | DoNotFollow | CloseOnExec, 0);
        if (opened.IsInvalid && Marshal.GetLastPInvokeError() == NotFound)
        {
            if (MakeFolderAt(folder, name, (uint)FolderRights.OwnerFolder) != 0)
            {
                throw Fault(path);
            }

            FolderSync.Flush(FullPath);
            opened = OpenAt(folder, name, OnlyFolder | DoNotFollow | CloseOnExec, 0);
        }

        return opened.IsInvalid ? throw Fault(path) : new OpenFolder(path, opened);
    }

    /// <summary>An existing file, to be read and written.</summary>
    public SafeFileHandle OpenFile(string name) => OpenFile(name, isNew: false);

    /// <summary>A new file, of the owner's alone, in place of what has the name.</summary>
    public SafeFileHandle CreateFile(string name)
    {
        Delete(name);
        return OpenFile(name, isNew: true);
    }

    /// <summary>No error when there is none. A link is removed, not what it points to.</summary>
    public void Delete(string name)
    {
        var path = Path.Combine(FullPath, name);
        if (_folder is not { } folder)
        {
            ByPath(path, static path =>
            {
                File.Delete(path);
                return true;
            });
        }
        else if (DeleteAt(folder, name, 0) != 0 && Marshal.GetLastPInvokeError() != NotFound)
        {
            throw Fault(path);
        }
    }

    private SafeFileHandle OpenFile(string name, bool isNew)
    {
        var path = Path.Combine(FullPath, name);
        if (_folder is not { } folder)
        {
            var mode = isNew ? FileMode.CreateNew : FileMode.Open;
            return ByPath(path, path => File.OpenHandle(path, mode, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete));
        }

        SafeFileHandle opened;
        do
        {
            opened = OpenAt(folder, name, ReadWrite | DoNotFollow | DoNotBlock | CloseOnExec | (isNew ? Create | Exclusive : 0), (uint)FolderRights.OwnerFile);
        }
        while (opened.IsInvalid && Marshal.GetLastPInvokeError() == Interrupted);

        if (opened.IsInvalid)
        {
            throw Fault(path);
        }

        if (FileOwner.Of(opened) is { } owner && (owner.Kind != FileOwner.Type.File || owner.User != FileOwner.Self))
        {
            opened.Dispose();
            throw new IOException($"{path} is {(owner.Kind == FileOwner.Type.File ? "another user's file" : "no regular file")}");
        }

        return opened;
    }

    private static T ByPath<T>(string path, Func<string, T> act)
    {
        try
        {
            return act(path);
        }
        catch (UnauthorizedAccessException fault)
        {
            throw new IOException(fault.Message, fault);
        }
    }

    // A link says ELOOP, or ENOTDIR where a folder was wanted; a pipe ENXIO or nothing.
    private static IOException Fault(string path)
    {
        var errno = Marshal.GetLastPInvokeError();
        return new IOException(FileOwner.Of(path) is { Kind: FileOwner.Type.Link } ? $"{path} is a link" : $"{path}: {Marshal.GetPInvokeErrorMessage(errno)}", errno);
    }

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial SafeFileHandle OpenPath(string path, int flags);

    [LibraryImport("libc", EntryPoint = "openat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial SafeFileHandle OpenAt(SafeFileHandle folder, string name, int flags, uint mode);

    [LibraryImport("libc", EntryPoint = "mkdirat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int MakeFolderAt(SafeFileHandle folder, string name, uint mode);

    [LibraryImport("libc", EntryPoint = "unlinkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int DeleteAt(SafeFileHandle folder, string name, int flags);
}
