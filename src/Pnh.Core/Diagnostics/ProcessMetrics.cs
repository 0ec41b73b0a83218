using System.Diagnostics;
using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// The process as every Prometheus client exports it (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
/// Open files are Linux only and left out elsewhere.
/// </summary>
internal static class ProcessMetrics
{
    public static void AddTo(CollectFeed feed)
    {
        feed.CounterReadings("process_cpu_seconds_total", "User and system CPU time spent, in seconds.")
            .Add(static () => Environment.CpuUsage.TotalTime.TotalSeconds);
        feed.Gauges("process_resident_memory_bytes", "Resident memory size in bytes.").Add(static () => Environment.WorkingSet);
        var start = ReadStart();
        feed.Gauges("process_start_time_seconds", "Start time of the process since the Unix epoch, in seconds.").Add(() => start);
        feed.Gauges("pnh_threadpool_threads", "Threads of the pool.").Add(static () => ThreadPool.ThreadCount);
        if (OpenFiles.CanCount)
        {
            feed.Gauges("process_open_fds", "Open file descriptors; sockets are most of them.").Add(OpenFiles.Count);
        }
    }

    private static double ReadStart()
    {
        using var process = Process.GetCurrentProcess();
        return (process.StartTime.ToUniversalTime() - DateTime.UnixEpoch).TotalSeconds;
    }
}
