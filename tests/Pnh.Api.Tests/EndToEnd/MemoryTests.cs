using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Core.Intake;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What a publisher and an operator see while memory is short.</summary>
public sealed class MemoryTests
{
    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Memory_IsShort_ClassesAreRefusedInTheirOrderAndTakenAgain(string transport)
    {
        var heap = new Heap();
        var guard = new MemoryGuard(TimeProvider.System, NullLogger<MemoryGuard>.Instance, heap);
        await using var hub = await TestHub.StartAsync(
            null, null, time: null, [$"--Pnh:Sockets:Transport={transport}"], services => services.AddSingleton(guard));

        await FillAsync(560);
        Assert.Equal((503, 202, 202, 202), (await StatusAsync("bulk"), await StatusAsync("message"), await StatusAsync("call"), await StatusAsync("transient")));
        Assert.Equal((200, "ok, but memory is short, refused for it: bulk\n"), await ReadyAsync());
        var refused = await hub.SendAsync("POST", "/v1/events", Event("bulk"));
        Assert.Equal(("memory-full", "application/problem+json", 5.0), (refused.Code, refused.Type, refused.RetryAfter!.Value.TotalSeconds));
        var upload = await hub.SendAsync("POST", "/v1/events", $"{Event("bulk")}\n{Event("call")}", "application/x-ndjson");
        Assert.Equal("memory-full", upload.Lines[0].GetProperty("problem").GetProperty("code").GetString());
        Assert.Equal((1, 1), (upload.Lines[^1].GetProperty("accepted").GetInt32(), upload.Lines[^1].GetProperty("refused").GetInt32()));

        await FillAsync(610);
        Assert.Equal((503, 503, 202), (await StatusAsync("bulk"), await StatusAsync("message"), await StatusAsync("call")));
        await FillAsync(660);
        Assert.Equal((503, 503), (await StatusAsync("call"), await StatusAsync("transient")));
        Assert.Equal((503, "not ready: memory is short, refused for it: every class\n"), await ReadyAsync());
        Assert.Equal((200, 404), ((await hub.SendAsync("GET", "/healthz")).Status, (await hub.SendAsync("GET", "/v1/events/none")).Status));

        await FillAsync(100);
        Assert.Equal((202, 202), (await StatusAsync("bulk"), await StatusAsync("call")));
        Assert.Equal((200, "ok\n"), await ReadyAsync());

        // The hub's own watchdog looks.
        async Task FillAsync(long live)
        {
            heap.Leave(live);
            await TestHub.EventuallyAsync(() => guard.Live, seen => seen == live);
        }

        async Task<int> StatusAsync(string @class) => (await hub.SendAsync("POST", "/v1/events", Event(@class))).Status;

        async Task<(int, string)> ReadyAsync()
        {
            var answer = await hub.SendAsync("GET", "/readyz");
            return (answer.Status, answer.Body);
        }
    }

    private static string Event(string @class) => $$"""{"to":{"user":"ada"},"class":"{{@class}}"}""";

    private sealed class Heap : IHeap
    {
        private long _live;
        private int _collections;

        public int Collections => Volatile.Read(ref _collections);

        public HeapReading Read() => new(Volatile.Read(ref _live), 1_000, 0);

        public void CollectBehind()
        {
        }

        public void Leave(long live)
        {
            Volatile.Write(ref _live, live);
            Interlocked.Increment(ref _collections);
        }
    }
}
