using System.Collections.Concurrent;
using Pnh.Core.Threads;

namespace Pnh.Core.Tests.Threads;

public sealed class BackgroundThreadsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task RunAsync_Awaits_ComesBackToItsThreads()
    {
        var threads = new BackgroundThreads("pnh test", most: 2);
        var names = new ConcurrentQueue<string?>();
        Assert.Equal(7, await threads.RunAsync(
            async () =>
            {
                names.Enqueue(Thread.CurrentThread.Name);
                await Task.Yield();
                names.Enqueue(Thread.CurrentThread.Name);
                await Task.Run(static () => { });
                names.Enqueue(Thread.CurrentThread.Name);
                return 7;
            },
            default).WaitAsync(Patience));

        Assert.Equal(["pnh test", "pnh test", "pnh test"], names);
    }

    [Fact]
    public async Task RunAsync_ManyThatBlock_TakeAsManyThreadsAndNoneOfThePool()
    {
        const int Most = 3;
        var threads = new BackgroundThreads("pnh test", Most);
        var (now, peak, ofPool, begun) = (0, 0, 0, 0);
        using var full = new CountdownEvent(Most);
        await Task.WhenAll(Enumerable.Range(0, 40).Select(_ => threads.RunAsync(
            () =>
            {
                var running = Interlocked.Increment(ref now);
                InterlockedMax(ref peak, running);
                _ = Thread.CurrentThread.IsThreadPoolThread ? Interlocked.Increment(ref ofPool) : 0;
                if (Interlocked.Increment(ref begun) <= Most)
                {
                    full.Signal();
                }

                Assert.True(full.Wait(Patience)); // all of its threads are here at once
                return Task.FromResult(Interlocked.Decrement(ref now));
            },
            default))).WaitAsync(Patience);

        Assert.Equal((Most, 0), (peak, ofPool));
    }

    [Fact]
    public async Task RunAsync_Fails_TellsItsCaller()
    {
        var threads = new BackgroundThreads("pnh test", most: 1);
        await Assert.ThrowsAsync<FormatException>(() => threads.RunAsync<int>(static () => throw new FormatException(), default));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => threads.RunAsync(static () => Task.FromResult(1), new CancellationToken(canceled: true)));
        Assert.Equal(2, await threads.RunAsync(static () => Task.FromResult(2), default));
    }

    private static void InterlockedMax(ref int most, int value)
    {
        for (var seen = most; value > seen; seen = most)
        {
            _ = Interlocked.CompareExchange(ref most, value, seen);
        }
    }
}
