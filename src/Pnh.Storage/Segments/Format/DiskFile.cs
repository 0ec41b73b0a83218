using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Pnh.Storage.Segments.Format;

/// <summary>One file, written and read by offset.</summary>
/// <param name="file">The open file, which goes with this one.</param>
/// <param name="name">Where it is, for messages.</param>
internal sealed class DiskFile(SafeFileHandle file, string name) : IJournalFile
{
    public long Length => RandomAccess.GetLength(file);

    public int Read(Span<byte> into, long offset)
    {
        var read = 0;
        while (read < into.Length && RandomAccess.Read(file, into[read..], offset + read) is > 0 and var more)
        {
            read += more;
        }

        return read;
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset) => RandomAccess.Write(file, bytes, offset);

    public void Sync()
    {
        if (!OperatingSystem.IsLinux())
        {
            RandomAccess.FlushToDisk(file);
        }
        else if (Libc.SyncData(file) != 0)
        {
            var error = Marshal.GetLastPInvokeError();
            throw new IOException($"{name} could not be synced (errno {error})", error);
        }
    }

    /// <summary>Space for this many bytes; a disk that lacks it says so here, not in the middle of a group.</summary>
    public void Allocate(long bytes)
    {
        // Where a file system cannot allocate, the length alone is set, and a full disk shows at the write.
        if (!OperatingSystem.IsLinux() || Libc.Allocate(file, 0, bytes) is var error && error is DiskFault.NotSupported or DiskFault.Invalid)
        {
            RandomAccess.SetLength(file, bytes);
        }
        else if (error != 0)
        {
            throw new IOException($"{name} could not be allocated (errno {error})", error);
        }
    }

    public void Dispose() => file.Dispose();
}
