using Pnh.Core.Tests.Journal;
using Pnh.Core.Threads;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

/// <summary>What reads for milliseconds reads on the threads of its caller, so that readers of history take none of the pool.</summary>
public sealed class CallersThreadsTests
{
    private const int Most = 1;

    [Fact]
    public async Task Journal_PagesOfHistory_WaitForTheCallersThreads()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("one");
        await AssertReadThereAsync(async () => (await disk.Journal.ReadFeedAsync("app", null, 10, default)).Entries.Count);
        await AssertReadThereAsync(async () => (await disk.Journal.ReadRecentAsync("app", null, 10, default)).Events.Count);
        await AssertReadThereAsync(async () => (await disk.Journal.ReadUserAsync("app", "ada", null, 10, default)).Events.Count);
        await AssertReadThereAsync(async () => (await disk.Journal.ReadFailuresAsync("app", null, 10, default)).Events.Count);
    }

    [Fact]
    public async Task Registry_ExportAndMembers_WaitForTheCallersThreads()
    {
        using var folder = new TemporaryFolder();
        await using var registry = SqliteDeviceStore.Open(folder.FullPath, new FakeTimeProvider());
        await AssertReadThereAsync(async () => await registry.ExportAsync("app", default).CountAsync());
        await AssertReadThereAsync(async () => await registry.GetMembersAsync("app", "all", default).CountAsync());
        await AssertReadThereAsync(async () => (await registry.GetMemberPageAsync(new TopicKey("app", "all"), "", 10, default)).Users.Count);
    }

    // While the only thread is held, nothing is read.
    private static async Task AssertReadThereAsync(Func<Task<int>> read)
    {
        var threads = new BackgroundThreads("pnh test", Most);
        using var go = new ManualResetEventSlim();
        var begun = new TaskCompletionSource<Task<int>>(TaskCreationOptions.RunContinuationsAsynchronously);
        var holding = threads.RunAsync(
            () =>
            {
                begun.SetResult(read());
                return Task.FromResult(go.Wait(TimeSpan.FromSeconds(20)));
            },
            default);
        var reading = await begun.Task;
        Assert.NotSame(reading, await Task.WhenAny(reading, Task.Delay(TimeSpan.FromMilliseconds(100))));

        go.Set();
        Assert.True(await holding);
        Assert.InRange(await reading.WaitAsync(TimeSpan.FromSeconds(20)), 0, 10);
    }
}
