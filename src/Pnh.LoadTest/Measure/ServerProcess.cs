using System.Globalization;
using System.Runtime.InteropServices;

namespace Pnh.LoadTest.Measure;

/// <summary>The processes under test with their children (the workers of nginx): proc(5), and their CPU clocks, clock_getcpuclockid(3). Linux.</summary>
internal sealed partial class ServerProcess
{
    private const int CpuClock = 2;
    private readonly List<int> _own;
    private readonly List<int> _processes;
    private readonly Dictionary<int, double> _cpuOfChildren = [];

    /// <param name="processes">Their ids; 0 = nobody, whose figures are NaN.</param>
    public ServerProcess(params IReadOnlyList<int> processes)
    {
        _own = [.. processes.Where(static process => process != 0)];
        _processes = [.. _own, .. _own.SelectMany(Children)];
    }

    /// <summary>CPU, user and system, since the start. Seconds.</summary>
    public double CpuSeconds => _processes.Count == 0 ? double.NaN : _processes.Sum(CpuOf);

    /// <summary>Bytes of memory that are resident.</summary>
    public double ResidentBytes => _processes.Count == 0 ? double.NaN : _processes.Sum(ResidentOf);

    public IReadOnlyList<int> Processes => _processes;

    /// <summary>Asks it to stop: SIGTERM.</summary>
    public void Terminate() => _ = kill(_processes[0], 15);

    /// <summary>Its CPU seconds until now; null = it is gone. One that has ended keeps its own until its parent has asked (Z).</summary>
    public double? CpuSecondsUnlessGone(out bool hasEnded)
    {
        try
        {
            hasEnded = Fields(_processes[0])[0] is "Z" or "X";
            return ReadCpu(_processes[0]);
        }
        catch (IOException)
        {
            hasEnded = true;
            return null;
        }
    }

    /// <summary>When the process was started: clock ticks since the machine was.</summary>
    public static long StartTicks(int process) => Number(Fields(process)[19]);

    // The name in brackets may hold spaces; what follows it begins with field 3. 4 = parent, 22 = start.
    private static string[] Fields(int process)
    {
        var stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{process}/stat"));
        return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
    }

    // A child that ended meanwhile keeps what it had used when it was last seen, so the sum never falls.
    private double CpuOf(int process)
    {
        var cpu = ReadCpu(process);
        if (_own.Contains(process))
        {
            return cpu ?? throw new IOException($"Process {process} is gone.");
        }

        return _cpuOfChildren[process] = cpu ?? _cpuOfChildren.GetValueOrDefault(process);
    }

    private double ResidentOf(int process)
    {
        try
        {
            return Resident(process);
        }
        catch (IOException) when (!_own.Contains(process))
        {
            return 0; // a child that ended has no memory
        }
    }

    // Seconds; null = it is gone.
    private static double? ReadCpu(int process) =>
        clock_gettime((~process << 3) | CpuClock, out var time) == 0 ? time.Seconds + (time.Nanoseconds / 1e9) : null;

    private static double Resident(int process)
    {
        foreach (var line in File.ReadLines(string.Create(CultureInfo.InvariantCulture, $"/proc/{process}/status")))
        {
            if (line.StartsWith("VmRSS:", StringComparison.Ordinal))
            {
                return 1024.0 * Number(line[6..].Replace("kB", "", StringComparison.Ordinal).Trim());
            }
        }

        return 0;
    }

    private static IEnumerable<int> Children(int process)
    {
        foreach (var folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(folder), CultureInfo.InvariantCulture, out var other) && IsChild(other, process))
            {
                yield return other;
            }
        }
    }

    private static bool IsChild(int other, int process)
    {
        try
        {
            return Number(Fields(other)[1]) == process;
        }
        catch (IOException)
        {
            return false; // it ended meanwhile
        }
    }

    [LibraryImport("libc", SetLastError = true)]
    private static partial int kill(int process, int signal);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int clock_gettime(int clock, out Timespec time);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    [StructLayout(LayoutKind.Sequential)]
    private struct Timespec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
