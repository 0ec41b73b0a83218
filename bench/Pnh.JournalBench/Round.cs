using System.Diagnostics;
using System.Globalization;
using System.Text;
using Pnh.Core.Events;

namespace Pnh.JournalBench;

/// <summary>One measurement of one engine with so many publishers, in this process.</summary>
internal sealed record Round(string Engine, int Publishers, double PerSecond, double MicrosecondsPerAccept, double WriterMicroseconds, double PerCommit, double P50, double P99)
{
    public double PerCpuSecond => 1_000_000 / MicrosecondsPerAccept;

    public static async Task<Round> RunAsync(IEngine engine, int publishers, TimeSpan time)
    {
        await RunAsync(engine, publishers, TimeSpan.FromMilliseconds(500), "warm");
        using var process = Process.GetCurrentProcess();
        var cpu = process.TotalProcessorTime;
        var writer = WriterTime(process);
        var commits = engine.Commits;
        var started = Stopwatch.GetTimestamp();
        var latencies = await RunAsync(engine, publishers, time, "e");
        var elapsed = Stopwatch.GetElapsedTime(started);
        process.Refresh();
        cpu = process.TotalProcessorTime - cpu;
        writer = WriterTime(process) - writer;
        latencies.Sort();
        return new Round(
            engine.Name, publishers, latencies.Count / elapsed.TotalSeconds, cpu.TotalMicroseconds / latencies.Count,
            writer.TotalMicroseconds / latencies.Count, (double)latencies.Count / (engine.Commits - commits), Quantile(latencies, 0.5), Quantile(latencies, 0.99));
    }

    public static double Quantile(List<double> sorted, double quantile) => sorted[(int)(quantile * (sorted.Count - 1))];

    /// <summary>CPU of the engine's own thread, by its name.</summary>
    private static TimeSpan WriterTime(Process process)
    {
        var time = TimeSpan.Zero;
        foreach (ProcessThread thread in process.Threads)
        {
            var name = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/self/task/{thread.Id}/comm"));
            time += name.StartsWith("pnh ", StringComparison.Ordinal) ? thread.TotalProcessorTime : TimeSpan.Zero;
        }

        return time;
    }

    private static async Task<List<double>> RunAsync(IEngine engine, int publishers, TimeSpan time, string prefix)
    {
        var until = Stopwatch.GetTimestamp() + (long)(time.TotalSeconds * Stopwatch.Frequency);
        var all = new List<double>();
        foreach (var part in await Task.WhenAll(Enumerable.Range(0, publishers).Select(publisher => Task.Run(() => PublishAsync(engine, publisher, until, prefix)))))
        {
            all.AddRange(part);
        }

        return all;
    }

    private static async Task<List<double>> PublishAsync(IEngine engine, int publisher, long until, string prefix)
    {
        var body = Encoding.UTF8.GetBytes("{\"to\":{\"user\":\"user-000001\"},\"class\":\"message\",\"data\":\"" + new string('x', 190) + "\"}");
        var latencies = new List<double>();
        while (Stopwatch.GetTimestamp() < until)
        {
            var now = TimeProvider.System.GetUtcNow();
            var accepted = new Event
            {
                App = "bench",
                Id = string.Create(CultureInfo.InvariantCulture, $"{prefix}-{publisher}-{latencies.Count}-{Stopwatch.GetTimestamp()}"),
                To = EventTarget.ToUser("user-000001"),
                AcceptedAt = now,
                ExpiresAt = now + TimeSpan.FromHours(24),
                Body = body,
            };
            var started = Stopwatch.GetTimestamp();
            await engine.AppendAsync(accepted);
            latencies.Add(Stopwatch.GetElapsedTime(started).TotalMilliseconds);
            engine.End(accepted);
        }

        return latencies;
    }
}
