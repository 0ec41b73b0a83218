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
        Assert.Equal((503, 202), (await StatusAsync("call"), await StatusAsync("transient")));
        Assert.Equal((503, "not ready: memory is short, refused for it: every class but transient\n"), await ReadyAsync());
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

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Memory_OneAppHoldsMuch_ItIsRefusedAndTheOtherNotAtAll(string transport)
    {
        var heap = new Heap { Limit = 400_000 };
        var guard = new MemoryGuard(TimeProvider.System, NullLogger<MemoryGuard>.Instance, heap);
        string greedy = new('g', 40), quiet = new('q', 40);
        await using var hub = await TestHub.StartAsync(
            null, null, time: null,
            [
                $"--Pnh:Sockets:Transport={transport}",
                $"--Pnh:Apps:greedy:Keys:0:Secret={greedy}", "--Pnh:Apps:greedy:Keys:0:Scopes=send register",
                $"--Pnh:Apps:quiet:Keys:0:Secret={quiet}", "--Pnh:Apps:quiet:Keys:0:Scopes=send register",
            ],
            services => services.AddSingleton(guard));
        foreach (var key in (string[])[greedy, quiet])
        {
            Assert.Equal(201, (await hub.SendAsync("PUT", "/v1/users/ada/devices/tablet", """{"platform":"desktop"}""", credential: key)).Status);
        }

        heap.Leave(100_000);
        await TestHub.EventuallyAsync(() => guard.Live, static seen => seen == 100_000);
        var refused = Send(greedy, "message");
        for (var sent = 0; refused.Status == 202 && sent < 450; sent++)
        {
            refused = Send(greedy, "message");
        }

        Assert.Equal(("memory-full", 5.0), (refused.Code, refused.RetryAfter!.Value.TotalSeconds));
        Assert.StartsWith("Your app's share", refused.Json.GetProperty("detail").GetString(), StringComparison.Ordinal);
        Assert.Equal((503, 202), (Send(greedy, "call").Status, Send(greedy, "transient").Status));
        var upload = await hub.SendAsync("POST", "/v1/events", $"{Event("call")}\n", "application/x-ndjson", greedy);
        Assert.Equal("memory-full", upload.Lines[0].GetProperty("problem").GetProperty("code").GetString());

        Assert.All(Enumerable.Range(0, 50), _ => Assert.Equal((202, 202, 202), (Send(quiet, "bulk").Status, Send(quiet, "message").Status, Send(quiet, "call").Status)));
        Assert.Equal((200, "ok\n"), ((await hub.SendAsync("GET", "/readyz")).Status, (await hub.SendAsync("GET", "/readyz")).Body));

#pragma warning disable VSTHRD002 // a test's own thread
        Answer Send(string key, string @class) => hub.SendAsync("POST", "/v1/events", Event(@class), credential: key).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
    }

    // What waits for longer leaves memory.
    private static string Event(string @class) => $$"""{"to":{"user":"ada"},"class":"{{@class}}"{{(@class == "transient" ? "" : ",\"ttl\":14")}}}""";

    private sealed class Heap : IHeap
    {
        private long _live;
        private int _collections;

        public long Limit { get; init; } = 1_000;

        public int Collections => Volatile.Read(ref _collections);

        public HeapReading Read() => new(Volatile.Read(ref _live), Limit, 0);

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
