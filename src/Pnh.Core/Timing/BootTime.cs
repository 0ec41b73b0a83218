using System.Runtime.InteropServices;

namespace Pnh.Core.Timing;

/// <summary>
/// The system's clocks, with timestamps that also count while the machine sleeps (CLOCK_BOOTTIME, clock_gettime(2)); those of <see cref="TimeProvider.System"/> stand still then. Linux; elsewhere
/// it is that one. Thread-safe.
/// </summary>
public sealed partial class BootTime : TimeProvider
{
    private const int SinceBoot = 7;
    private const long Nanoseconds = 1_000_000_000;

    /// <inheritdoc/>
    public override long TimestampFrequency => OperatingSystem.IsLinux() ? Nanoseconds : base.TimestampFrequency;

    /// <inheritdoc/>
    public override long GetTimestamp() => OperatingSystem.IsLinux() && GetTime(SinceBoot, out var time) == 0 ? (time.Seconds * Nanoseconds) + time.Nanoseconds : base.GetTimestamp();

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [SuppressGCTransition]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int GetTime(int clock, out Time time);

    [StructLayout(LayoutKind.Sequential)]
    private struct Time
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
