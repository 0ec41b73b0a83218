using System.Diagnostics;
using System.Diagnostics.Metrics;
using Pnh.Core.Diagnostics;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class RuntimeMetricsTests
{
    [Theory]
    [InlineData("process_cpu_seconds_total", "counter")]
    [InlineData("process_resident_memory_bytes", "gauge")]
    [InlineData("process_start_time_seconds", "gauge")]
    [InlineData("pnh_threadpool_threads", "gauge")]
    [InlineData("system_runtime_dotnet_gc_collections", "gauge")]
    [InlineData("system_runtime_dotnet_gc_heap_total_allocated", "gauge")]
    [InlineData("system_runtime_dotnet_gc_pause_time", "gauge")]
    [InlineData("system_runtime_dotnet_thread_pool_queue_length", "gauge")]
    public void Write_ProcessAndRuntime_HaveTheirTypeAndASample(string name, string type)
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
        using var runtime = new RuntimeMetrics(registry);
        GC.Collect(0);
        var page = Scrape.Of(registry);
        Assert.Contains($"# TYPE {name} {type}", page.Lines);
        Assert.Contains(page.Lines, l => l.StartsWith(name + " ", StringComparison.Ordinal) || l.StartsWith(name + "{", StringComparison.Ordinal));
    }

    [Fact]
    public void Write_Process_IsThisProcess()
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
        using var runtime = new RuntimeMetrics(registry);
        using var self = Process.GetCurrentProcess();
        var page = Scrape.Of(registry);
        Assert.InRange(page.Find("process_cpu_seconds_total")!.Value, 0.01, self.TotalProcessorTime.TotalSeconds + 1);
        Assert.InRange(page.Find("process_resident_memory_bytes")!.Value, 10e6, 100e9);
        var started = DateTimeOffset.UnixEpoch.AddSeconds(page.Find("process_start_time_seconds")!.Value);
        Assert.InRange((TimeProvider.System.GetUtcNow() - started).TotalHours, 0, 24);
        if (OperatingSystem.IsLinux())
        {
            Assert.InRange(page.Find("process_open_fds")!.Value, 3, 10_000);
        }
    }

    [Fact]
    public void Write_MetersOffTheList_AreNotThere()
    {
        using var meter = new Meter("Somebody.Else");
        var counter = meter.CreateCounter<long>("dotnet.somebody");
        var registry = Prometheus.Metrics.NewCustomRegistry();
        using var runtime = new RuntimeMetrics(registry);
        counter.Add(1);
        Assert.DoesNotContain("somebody", Scrape.Of(registry).Text, StringComparison.Ordinal);
    }

    [RequiresFactAttribute("promtool")]
    public async Task Write_EverythingThereIs_PassesPromtool()
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
        using var metrics = new HubMetrics(registry, TimeProvider.System, ["demo"]);
        using var runtime = new RuntimeMetrics(registry);
        metrics.DeliveryCounted("apns", Pnh.Core.Events.EventClass.Call, DeliveryStatus.Accepted);
        metrics.AcceptToProvider("apns", Pnh.Core.Events.EventClass.Call, TimeSpan.FromMilliseconds(3));
        using var queue = metrics.RegisterQueue("apns", Pnh.Core.Events.EventClass.Call, () => 1, () => 2);
        using var provider = metrics.RegisterProvider("apns", _ => 1, () => 1);
        GC.Collect();

        var page = Scrape.Of(registry).Text;
        Assert.Contains("pnh_events_total", page, StringComparison.Ordinal);
        Assert.Contains("system_runtime_dotnet_gc_collections", page, StringComparison.Ordinal);
        var (exitCode, output) = await RunPromtoolAsync(page);
        Assert.True(exitCode == 0, $"promtool exit {exitCode}: {output}");
    }

    [RequiresFactAttribute("promtool")]
    public async Task RunPromtool_BadPage_Fails()
    {
        var (exitCode, _) = await RunPromtoolAsync("# HELP a_count x\n# TYPE a_count gauge\na_count 1\n");
        Assert.Equal(3, exitCode);
    }

    private static async Task<(int ExitCode, string Output)> RunPromtoolAsync(string page)
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        using var promtool = Process.Start(new ProcessStartInfo("promtool", "check metrics")
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        await promtool.StandardInput.WriteAsync(page.AsMemory(), timeout.Token);
        promtool.StandardInput.Close();
        var output = await promtool.StandardOutput.ReadToEndAsync(timeout.Token) + await promtool.StandardError.ReadToEndAsync(timeout.Token);
        await promtool.WaitForExitAsync(timeout.Token);
        return (promtool.ExitCode, output);
    }
}
