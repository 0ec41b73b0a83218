using System.Runtime.InteropServices;

namespace Pnh.Storage.Files;

/// <summary>
/// The kernel's lock on a file of the data folder (flock), held by one process; it ends with the process, however that ends. Its answer is looked at: .NET's own locks pass over a file
/// system without locks, and a setting turns them off.
/// </summary>
internal sealed unsafe class FolderLock : IDisposable
{
    private const string Name = "hub.lock";
    private const int Exclusive = 2;
    private const int DoNotWait = 4;
    private const int Interrupted = 4;
    private const int WouldBlock = 11;
    private const int MacWouldBlock = 35;

    // ERROR_SHARING_VIOLATION as an HRESULT.
    private const int WindowsShared = unchecked((int)0x80070020);

    private readonly FileStream _file;

    private FolderLock(FileStream file) => _file = file;

    /// <summary>Null = another process holds it. Throws <see cref="DataFolderException"/> when the file system has no such lock, and the faults of opening a file.</summary>
    public static FolderLock? TryTake(string folder)
    {
        var options = DataFolder.PrivateFile(FileMode.OpenOrCreate);
        if (!OperatingSystem.IsWindows())
        {
            options.Share = FileShare.ReadWrite;
        }

        FileStream file;
        try
        {
            file = new FileStream(Path.Combine(folder, Name), options);
        }
        catch (IOException fault) when (fault.HResult is WouldBlock or MacWouldBlock or WindowsShared)
        {
            return null;
        }

        var errno = OperatingSystem.IsWindows() ? 0 : Lock((int)file.SafeFileHandle.DangerousGetHandle());
        if (errno == 0)
        {
            return new FolderLock(file);
        }

        file.Dispose();
        return errno is WouldBlock or MacWouldBlock ? null : throw NotSupported(folder, errno);
    }

    public void Dispose() => _file.Dispose();

    /// <summary>0, or the errno. The program's own flock, which is the C library's unless a library was put before it.</summary>
    private static int Lock(int descriptor)
    {
        var flock = (delegate* unmanaged<int, int, int>)NativeLibrary.GetExport(NativeLibrary.GetMainProgramHandle(), "flock");
        while (flock(descriptor, Exclusive | DoNotWait) != 0)
        {
            var errno = Marshal.GetLastSystemError();
            if (errno != Interrupted)
            {
                return errno;
            }
        }

        return 0;
    }

    private static DataFolderException NotSupported(string folder, int errno) => new(
        $"The data folder {folder} cannot be locked ({Marshal.GetPInvokeErrorMessage(errno)}), so nothing would keep a second hub from writing to it{OfFileSystem(folder)}: "
        + "give Pnh:Data a volume whose file system has locks, such as a local disk or a block volume.");

    private static string OfFileSystem(string folder) => MountedFileSystem.Of(folder) is { } found ? $". Its file system is {found.Kind}, mounted at {found.At}" : string.Empty;
}
