using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Pnh.Storage.Segments.Format;

/// <summary>The two calls that .NET does not have. Linux only: elsewhere the caller does with what .NET has.</summary>
internal static partial class Libc
{
    /// <summary>Syncs the bytes and what is needed to read them back, not the times. 0 = done.</summary>
    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int SyncData(SafeFileHandle file);

    /// <summary>Allocates space and sets the length, so that no later write can lack space or change the length. 0 = done, else the error.</summary>
    [LibraryImport("libc", EntryPoint = "posix_fallocate")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Allocate(SafeFileHandle file, long offset, long bytes);
}
