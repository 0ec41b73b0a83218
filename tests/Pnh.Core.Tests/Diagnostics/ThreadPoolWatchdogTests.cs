using System.Collections.Concurrent;
using Pnh.Core.Diagnostics;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class ThreadPoolWatchdogTests
{
    // A little under the 100 ms between two looks that nobody wants sooner: clocks are read a moment apart.
    private static readonly TimeSpan Calm = TimeSpan.FromMilliseconds(90);

    private const string Count = "pnh_threadpool_delay_seconds_count";
    private const string Sum = "pnh_threadpool_delay_seconds_sum";

    [Fact]
    public async Task Start_OnTheRealPool_KeepsMeasuring()
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
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
        var registry = Prometheus.Metrics.NewCustomRegistry();
        var looks = 0;
        using var metrics = new HubMetrics(registry, TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System, queue.Enqueue, () => queue.Count, _ => Interlocked.Increment(ref looks) < 0);
        watchdog.Start();
        await Waiting.UntilAsync(() => !queue.IsEmpty);
        await Task.Delay(300);
        await Waiting.UntilAsync(() => Volatile.Read(ref looks) >= 3); // others that came meanwhile, and found it waiting

        Assert.True(queue.TryDequeue(out var probe));
        Assert.Empty(queue);
        Assert.Equal(0, Scrape.Of(registry).Find(Count));
        probe.Execute();
        Assert.Equal(1, Scrape.Of(registry).Find(Count));
        Assert.InRange(Scrape.Of(registry).Find(Sum)!.Value, 0.2, 60);
    }

    [Fact]
    public async Task Execute_WhileTheWatchdogLooks_IsObservedAfterIt()
    {
        var queue = new ConcurrentQueue<IThreadPoolWorkItem>();
        var (inside, looks, isTogether) = (0, 0, false);
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System, queue.Enqueue, static () => 1, _ =>
        {
            Interlocked.Increment(ref looks);
            isTogether |= Interlocked.Increment(ref inside) > 1;
            SpinWait.SpinUntil(() => Volatile.Read(ref isTogether), 200);
            Interlocked.Decrement(ref inside);
            return true;
        });
        watchdog.Start();
        await Waiting.UntilAsync(() => Volatile.Read(ref looks) > 0);
        Assert.True(queue.TryDequeue(out var probe));
        await Task.Run(probe.Execute);
        Assert.False(isTogether);
    }

    [Fact]
    public async Task Start_TheNextLookIsWanted_LooksMoreOften()
    {
        // A wait may be longer than told on a busy machine, never shorter.
        var calm = await LooksAsync(isWanted: false, static gaps => gaps.Length >= 5);
        Assert.All(calm, static gap => Assert.True(gap >= Calm, $"{gap}"));
        Assert.Contains(await LooksAsync(isWanted: true, static gaps => gaps.Any(static gap => gap < Calm)), static gap => gap < Calm);
    }

    [Fact]
    public async Task Start_NothingWaits_ProbesOnceInFourLooks()
    {
        // On a busy machine the watchdog wakes late, and asks the pool sooner.
        var hasProbed = await ProbesAsync(waiting: 0, static looks => looks.Length >= 9 && Spared(looks).Max() >= 3);
        Assert.Equal(3, Spared(hasProbed).Max());
    }

    [Fact]
    public async Task Start_WorkWaits_ProbesAtEachLook()
    {
        var hasProbed = await ProbesAsync(waiting: 1, static looks => looks.Length >= 8);
        Assert.DoesNotContain(false, hasProbed);
    }

    [Fact]
    public void Start_Twice_Throws()
    {
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System);
        watchdog.Start();
        Assert.Throws<InvalidOperationException>(watchdog.Start);
    }

    // The times between its looks, on a pool that serves at once.
    private static async Task<TimeSpan[]> LooksAsync(bool isWanted, Func<TimeSpan[], bool> isEnough)
    {
        var looks = new ConcurrentQueue<long>();
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(metrics, TimeProvider.System, static probe => probe.Execute(), static () => 0, _ =>
        {
            looks.Enqueue(TimeProvider.System.GetTimestamp());
            return isWanted;
        });
        watchdog.Start();
        await Waiting.UntilAsync(() => isEnough(Gaps([.. looks])));
        return Gaps([.. looks]);
    }

    // Whether each look probed, on a pool that serves at once.
    private static async Task<bool[]> ProbesAsync(int waiting, Func<bool[], bool> isEnough)
    {
        var hasProbed = new ConcurrentQueue<bool>();
        var isProbe = false;
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System);
        using var watchdog = new ThreadPoolWatchdog(
            metrics,
            TimeProvider.System,
            probe =>
            {
                isProbe = true;
                probe.Execute();
                isProbe = false;
            },
            () => waiting,
            _ =>
            {
                hasProbed.Enqueue(isProbe);
                return false;
            });
        watchdog.Start();
        await Waiting.UntilAsync(() => isEnough([.. hasProbed]));
        return [.. hasProbed];
    }

    // How many looks in a row did not probe, at each look.
    private static IEnumerable<int> Spared(bool[] hasProbed)
    {
        var spared = 0;
        yield return spared;
        foreach (var isProbe in hasProbed)
        {
            spared = isProbe ? 0 : spared + 1;
            yield return spared;
        }
    }

    private static TimeSpan[] Gaps(long[] looks) => [.. looks.Zip(looks.Skip(1), static (a, b) => TimeProvider.System.GetElapsedTime(a, b))];
}
