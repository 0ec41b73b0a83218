using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Api.Configuration;
using Pnh.Api.Listeners;
using Pnh.Api.Tests.Ingest;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>More connections than there is room for, over both transports: who has a session or a request keeps it.</summary>
public sealed class FloodTests
{
    private const string Upgrade =
        "GET /v1/socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

    [Theory]
    [InlineData("Direct", "")]
    [InlineData("Direct", "POST /v1/ev")]
    [InlineData("Direct", "GET /v1/users/ada HT")]
    [InlineData("Direct", Upgrade)]
    [InlineData("Framework", "")]
    [InlineData("Framework", "POST /v1/ev")]
    [InlineData("Framework", Upgrade)]
    public async Task Connect_AllPlacesHeldWithoutCredential_OthersAreServedAndSessionsStay(string transport, string said)
    {
        await using var hub = await StartAsync(transport, places: 8);
        using var session = await hub.ConnectAsync("ada", "tab");
        var flood = new List<RawClient>();
        try
        {
            for (var i = 0; i < 40; i++)
            {
                await TryAsync(async () =>
                {
                    flood.Add(await RawClient.ConnectAsync(hub.Host.PublicAddress.Port));
                    await flood[^1].SendAsync(said);
                });
            }

            // A place may be taken by those who were accepted behind it: a back-end comes again.
            var answer = await TestHub.EventuallyAsync(() => Post(hub), static status => status == 202);
            Assert.Equal(202, answer);
            Assert.Equal("event", (await session.ReceiveAsync()).GetProperty("type").GetString());
            var budget = hub.Host.Services.GetRequiredService<ConnectionBudgets>().Public;
            Assert.True(budget.Evicted + budget.RefusedFull >= 30, $"{budget.Evicted} made room, {budget.RefusedFull} were refused");
            Assert.InRange(budget.Count, 1, 9);
            Assert.Equal(200, (await hub.SendAsync("GET", "/healthz", operations: true)).Status);
            var page = (await hub.SendAsync("GET", "/metrics", operations: true)).Body;
            Assert.Contains("pnh_connections_limit{listener=\"public\"} 8", page, StringComparison.Ordinal);
            Assert.Contains("pnh_connections_evicted_total{listener=\"public\"} ", page, StringComparison.Ordinal);
        }
        finally
        {
            flood.ForEach(static client => client.Dispose());
        }

        await TestHub.EventuallyAsync(() => hub.Host.Services.GetRequiredService<ConnectionBudgets>().Public.Count, static count => count <= 2);
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Connect_OnlySessions_NewOnesAreRefusedAndNoSessionCloses(string transport)
    {
        await using var hub = await StartAsync(transport, places: 2);
        using var one = await hub.ConnectAsync("ada", "one");
        using var other = await hub.ConnectAsync("bob", "two");
        await TryAsync(async () =>
        {
            using var third = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
            Assert.Equal("", await third.ReceiveAllAsync());
        });
        Assert.Equal(1, hub.Host.Services.GetRequiredService<ConnectionBudgets>().Public.RefusedFull);
        Assert.Equal(2, hub.Host.Services.GetRequiredService<ConnectionBudgets>().Public.Count);
    }

    private static Task<TestHub> StartAsync(string transport, int places) => TestHub.StartAsync(
        null, null, null, [$"--Pnh:Sockets:Transport={transport}"],
        services => services.AddSingleton(provider => new ConnectionBudgets(
            provider.GetRequiredService<PnhOptions>(), TimeProvider.System, NullLogger<ConnectionBudget>.Instance, new DescriptorPlan(100_000, places, 16, 512))));

    private static int Post(TestHub hub)
    {
        try
        {
#pragma warning disable VSTHRD002 // polled by a test
            return hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"},"class":"message","data":1}""").GetAwaiter().GetResult().Status;
#pragma warning restore VSTHRD002
        }
        catch (Exception refused) when (refused is HttpRequestException or System.Net.Sockets.SocketException)
        {
            // The second is what the handler throws when the connection was reset before it has looked at it.
            return 0;
        }
    }

    // A client that is refused is reset, perhaps before its connect has returned.
    private static async Task TryAsync(Func<Task> send)
    {
        try
        {
            await send();
        }
        catch (System.Net.Sockets.SocketException)
        {
            // Refused.
        }
    }
}
