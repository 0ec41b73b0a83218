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
    public async Task Start_TheNextLookIsWanted_LooksMoreOften()
    {
        var wanted = await LooksAsync(isWanted: true);
        var calm = await LooksAsync(isWanted: false);

        // 60 and 12 on a machine that does nothing else.
        Assert.True(wanted > calm * 3 / 2, $"{wanted} and {calm} looks");
    }

    [Fact]
    public void Start_Twice_Throws()
    {
        using var metrics = new HubMetrics(new MetricRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System);
        watchdog.Start();
        Assert.Throws<InvalidOperationException>(watchdog.Start);
    }

    // How often it looks in a while, on a pool that serves at once.
    private static async Task<int> LooksAsync(bool isWanted)
    {
        var looks = 0;
        using var metrics = new HubMetrics(new MetricRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System, static probe => probe.Execute(), _ =>
        {
            Interlocked.Increment(ref looks);
            return isWanted;
        });
        watchdog.Start();
        await Task.Delay(600);
        return Volatile.Read(ref looks);
    }
}
