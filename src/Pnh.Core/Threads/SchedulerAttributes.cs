using System.Runtime.InteropServices;

namespace Pnh.Core.Threads;

/// <summary>
/// How the scheduler treats the calling thread: struct sched_attr of Linux in its first version (sched_setattr(2)). Written as it was read but for what
/// changes, since a write sets everything, the niceness too.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal partial struct SchedulerAttributes
{
    /// <summary>SCHED_OTHER, the usual one.</summary>
    public const uint Other = 0;

    /// <summary>SCHED_BATCH: as much of the core, but when woken it interrupts nobody.</summary>
    public const uint Batch = 3;

    private const int Bytes = 48;
    private const int CallingThread = 0;

    private uint _size;
    public uint Policy;
    private ulong _flags;

    /// <summary>-20 to 19; the higher, the less of a shared core.</summary>
    public int Nice;
    private uint _priority;

    /// <summary>Of <see cref="Other"/> and <see cref="Batch"/>: the slice in nanoseconds; 0 = unknown, as before Linux 6.12.</summary>
    public ulong Runtime;
    private ulong _deadline;
    private ulong _period;

    /// <summary>False when the system knows no such thing.</summary>
    public static bool TryRead(out SchedulerAttributes attributes)
    {
        attributes = default;
        return OperatingSystem.IsLinux() && Numbers() is var (_, get) && Get(get, CallingThread, ref attributes, Bytes, 0) == 0;
    }

    /// <summary>False when the system did not take it.</summary>
    public readonly bool TryWrite() => Numbers() is var (set, _) && Set(set, CallingThread, in this, 0) == 0;

    // By number: glibc has had these calls only since 2.41.
    private static (nint Set, nint Get)? Numbers() => RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => (314, 315),
        Architecture.Arm64 => (274, 275),
        _ => null,
    };

    [LibraryImport("libc", EntryPoint = "syscall")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint Set(nint number, nint thread, in SchedulerAttributes attributes, nint flags);

    [LibraryImport("libc", EntryPoint = "syscall")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint Get(nint number, nint thread, ref SchedulerAttributes attributes, nint size, nint flags);
}
