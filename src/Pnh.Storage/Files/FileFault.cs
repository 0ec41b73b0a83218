using System.Runtime.InteropServices;

namespace Pnh.Storage.Files;

/// <summary>The errors of a file system that an operator can mend, by errno, in words. Thread-safe.</summary>
internal static partial class FileFault
{
    public const int NoSpace = 28;
    private const int TooManyInSystem = 23;
    private const int TooMany = 24;
    private const int ReadOnly = 30;
    private const int Quota = 122;
    private const int MostErrno = 4_095;

    // ERROR_DISK_FULL as an HRESULT.
    private const int WindowsNoSpace = unchecked((int)0x80070070);
    private const int Writable = 2;

    /// <summary>What happened and what to do, in one line; null = nothing more is known than the error's own text.</summary>
    /// <param name="fault">Of a file call; .NET keeps the errno in its HResult.</param>
    /// <param name="what">What could not be used, e.g. <c>the journal</c>.</param>
    public static string? Advice(Exception fault, string what) => Advice(fault.HResult, what);

    /// <summary>The same of an errno.</summary>
    public static string? Advice(int errno, string what) => errno switch
    {
        NoSpace or Quota or WindowsNoSpace => $"No space left for {what}: free space on the disk of the data folder",
        ReadOnly => $"The disk of the data folder is read-only, and {what} cannot be written: mount it writable, or check why the kernel made it read-only",
        TooMany => $"Too many open files, and {what} cannot be opened: raise the hub's limit (ulimit -n, LimitNOFILE= of its unit)",
        TooManyInSystem => $"Too many open files on this machine, and {what} cannot be opened: raise fs.file-max, or find the program that holds them",
        _ => null,
    };

    /// <summary>The error's own text without paths, which strangers may read.</summary>
    public static string Text(Exception fault) =>
        fault.HResult is > 0 and <= MostErrno ? Marshal.GetPInvokeErrorMessage(fault.HResult) : fault.Message.TrimEnd('.');

    /// <summary>
    /// The errno that opening a file of the folder for writing meets now: for a library that keeps it to itself. 0 = none, or not known.
    /// </summary>
    public static int Probe(string folder)
    {
        if (OperatingSystem.IsWindows())
        {
            return 0;
        }

        if (Access(folder, Writable) != 0)
        {
            return Marshal.GetLastPInvokeError();
        }

        var descriptor = Open(folder, 0);
        if (descriptor < 0)
        {
            return Marshal.GetLastPInvokeError();
        }

        _ = Close(descriptor);
        return 0;
    }

    [LibraryImport("libc", EntryPoint = "access", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Access(string path, int mode);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Close(int descriptor);
}
