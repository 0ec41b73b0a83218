using System.Diagnostics;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The process as every Prometheus client exports it (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
/// Open files are Linux only and left out elsewhere.
/// </summary>
internal static class ProcessMetrics
{
    public static void AddTo(MetricRegistry registry)
    {
        registry.CounterCallbacks("process_cpu_seconds_total", "User and system CPU time spent, in seconds.")
            .Add(static () => Environment.CpuUsage.TotalTime.TotalSeconds);
        registry.Gauges("process_resident_memory_bytes", "Resident memory size in bytes.").Add(static () => Environment.WorkingSet);
        var start = ReadStart();
        registry.Gauges("process_start_time_seconds", "Start time of the process since the Unix epoch, in seconds.").Add(() => start);
        if (OpenFiles.CanCount)
        {
            registry.Gauges("process_open_fds", "Open file descriptors; sockets are most of them.").Add(OpenFiles.Count);
        }
    }

    private static double ReadStart()
    {
        using var process = Process.GetCurrentProcess();
        return (process.StartTime.ToUniversalTime() - DateTime.UnixEpoch).TotalSeconds;
    }
}
