using System.Globalization;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Listeners;
using Pnh.Api.Tests.Ingest;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What the settings against strangers do on a real port, over both transports.</summary>
public sealed class StrangerTests
{
    private const string Alive = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

    [NetworkTheoryAttribute]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task ConnectionsPerAddress_OneMore_IsClosedUntilOneLeaves(string transport)
    {
        var address = NetworkTheoryAttribute.Address!;
        await using var hub = await StartAsync(transport, $"--Pnh:Urls=http://{address}:0", "--Pnh:Limits:ConnectionsPerAddress=3");
        var budget = hub.Host.Services.GetRequiredService<ConnectionBudgets>().Public;
        var port = hub.Host.PublicAddress.Port;
        var held = new List<RawClient>();
        try
        {
            for (var i = 0; i < 3; i++)
            {
                held.Add(await RawClient.ConnectAsync(port, address));
                await held[i].SendAsync(Alive);
                Assert.Equal(200, (await held[i].ReceiveAsync()).Status);
            }

            Assert.Equal("", await AskAsync(port, address));
            Assert.Equal((1, 3), (budget.RefusedAddress, budget.Count));
            held[0].Dispose();
            await TestHub.EventuallyAsync(() => budget.Count, static count => count == 2);
            Assert.StartsWith("HTTP/1.1 200", await AskAsync(port, address), StringComparison.Ordinal);

            // The others go on.
            await held[1].SendAsync(Alive);
            Assert.Equal(200, (await held[1].ReceiveAsync()).Status);
        }
        finally
        {
            held.ForEach(static client => client.Dispose());
        }
    }

    [NetworkTheoryAttribute]
    [InlineData("Direct", 0)]
    [InlineData("Framework", 0)]
    public async Task ConnectionsPerAddress_Zero_LetsAnyNumberIn(string transport, int limit)
    {
        var address = NetworkTheoryAttribute.Address!;
        var setting = string.Create(CultureInfo.InvariantCulture, $"--Pnh:Limits:ConnectionsPerAddress={limit}");
        await using var hub = await StartAsync(transport, $"--Pnh:Urls=http://{address}:0", setting);
        var held = new List<RawClient>();
        try
        {
            for (var i = 0; i < 30; i++)
            {
                held.Add(await RawClient.ConnectAsync(hub.Host.PublicAddress.Port, address));
                await held[i].SendAsync(Alive);
                Assert.Equal(200, (await held[i].ReceiveAsync()).Status);
            }
        }
        finally
        {
            held.ForEach(static client => client.Dispose());
        }
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Request_LinesEndWithALineFeedAlone_IsRefused(string transport)
    {
        await using var hub = await StartAsync(transport);
        const string Body = """{"id":"e-1","to":{"user":"nobody"}}""";
        string[] sound =
        [
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/json\r\nContent-Length: {Body.Length}\r\nConnection: close\r\n\r\n{Body}",
        ];
        foreach (var request in sound)
        {
            Assert.StartsWith("HTTP/1.1 20", await ExchangeAsync(hub, request), StringComparison.Ordinal);
            for (var at = request.IndexOf('\r', StringComparison.Ordinal); at >= 0; at = request.IndexOf('\r', at + 1))
            {
                Assert.StartsWith("HTTP/1.1 400", await ExchangeAsync(hub, request.Remove(at, 1)), StringComparison.Ordinal);
            }

            Assert.StartsWith("HTTP/1.1 400", await ExchangeAsync(hub, request.Replace("\r", "", StringComparison.Ordinal)), StringComparison.Ordinal);
        }
    }

    private static Task<TestHub> StartAsync(string transport, params string[] more) => TestHub.StartAsync(
        null, null, null,
        [
            $"--Pnh:Sockets:Transport={transport}", $"--Pnh:Apps:demo:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:demo:Keys:0:Scopes=send register read admin",
            .. more,
        ]);

    // A client that is refused is reset, perhaps before its connect has returned.
    private static async Task<string> AskAsync(int port, IPAddress address)
    {
        try
        {
            using var client = await RawClient.ConnectAsync(port, address);
            await client.SendAsync(Alive.Insert(Alive.Length - 2, "Connection: close\r\n"));
            return await client.ReceiveAllAsync();
        }
        catch (System.Net.Sockets.SocketException)
        {
            return "";
        }
    }

    private static async Task<string> ExchangeAsync(TestHub hub, string request)
    {
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(request);
        return await client.ReceiveAllAsync();
    }
}
