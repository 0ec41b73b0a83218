using System.Runtime.InteropServices;

namespace Pnh.Storage.Files;

/// <summary>Syncs a folder, without which a new or renamed file can be gone after a power cut; .NET has no call for it.</summary>
internal static partial class FolderSync
{
    /// <summary>Throws <see cref="IOException"/> when the disk does not confirm.</summary>
    public static void Flush(string folder)
    {
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        var descriptor = Open(folder, 0);
        try
        {
            if (descriptor < 0 || Sync(descriptor) != 0)
            {
                var error = Marshal.GetLastPInvokeError();
                throw new IOException($"{folder} could not be synced (errno {error})", error);
            }
        }
        finally
        {
            if (descriptor >= 0)
            {
                _ = Close(descriptor);
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Sync(int descriptor);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Close(int descriptor);
}
