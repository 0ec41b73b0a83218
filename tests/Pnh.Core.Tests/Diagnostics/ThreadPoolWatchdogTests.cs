using System.Collections.Concurrent;
using Pnh.Core.Diagnostics;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class ThreadPoolWatchdogTests
{
    private const string Count = "pnh_threadpool_delay_seconds_count";
    private const string Sum = "pnh_threadpool_delay_seconds_sum";

    [Fact]
    public async Task Start_OnTheRealPool_KeepsMeasuring()
    {
        var registry = new MetricRegistry();
        using var metrics = new HubMetrics(registry, TimeProvider.System);
        using (var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System))
        {
            watchdog.Start();
            for (var i = 0; i < 100 && Scrape.Of(registry).Find(Count) < 3; i++)
            {
                await Task.Delay(100);
            }
        }

        // A probe may still be under way when the watchdog is disposed of.
        await Task.Delay(250);
        var measured = Scrape.Of(registry).Find(Count);
        Assert.True(measured >= 3, $"only {measured} probes in 10 s");
        await Task.Delay(250);
        Assert.Equal(measured, Scrape.Of(registry).Find(Count));
    }

    [Fact]
    public async Task Start_PoolIsStarved_MeasuresTheWaitWithOneProbeOnly()
    {
        var queue = new ConcurrentQueue<IThreadPoolWorkItem>();
        var registry = new MetricRegistry();
        using var metrics = new HubMetrics(registry, TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System, queue.Enqueue);
        watchdog.Start();
        await Task.Delay(600);

        Assert.True(queue.TryDequeue(out var probe));
        Assert.Empty(queue);
        Assert.Equal(0, Scrape.Of(registry).Find(Count));
        probe.Execute();
        Assert.Equal(1, Scrape.Of(registry).Find(Count));
        Assert.InRange(Scrape.Of(registry).Find(Sum)!.Value, 0.2, 10);
    }

    [Fact]
    public void Start_Twice_Throws()
    {
        using var metrics = new HubMetrics(new MetricRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System);
        watchdog.Start();
        Assert.Throws<InvalidOperationException>(watchdog.Start);
    }
}
