using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Access;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Cluster;

/// <summary>No peer of a hub's link listener keeps an edge out, and an edge that is not linked says so.</summary>
public sealed class LinkPeerTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Connect_600IdleStrangers_KeepNoEdgeOutAndBreakNoLink()
    {
        await using var cluster = await TestCluster.StartAsync();
        var one = await cluster.StartEdgeAsync("edge-1");
        using var tab = await cluster.Hub.ConnectAsync("ada", "tab-1", at: one.PublicAddress);
        var idle = new List<Socket>();
        try
        {
            while (idle.Count < 600)
            {
                try
                {
                    idle.Add(await ConnectAsync(cluster));
                }
                catch (SocketException)
                {
                    // It had to go before it was there.
                }
            }

            await cluster.StartEdgeAsync("edge-2");
            await cluster.Hub.SendAsync("POST", "/v1/events", """{"id":"m-1","to":{"user":"ada"},"data":1}""");
            Assert.Equal("m-1", (await tab.ReceiveEventAsync()).GetProperty("id").GetString());
        }
        finally
        {
            idle.ForEach(static socket => socket.Dispose());
        }
    }

    /// <summary>A request that never ends, a byte each half second, and a wrong key on a connection that stays: 5 s are for all of it.</summary>
    [Theory]
    [InlineData("GET /v1/link HTTP/1.1\r\nHost: hub\r\nX-Long: ")]
    [InlineData("")]
    [InlineData("GET /v1/link HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer wrong\r\n\r\n")]
    public async Task Connect_StrangerThatDoesNotShowTheKey_IsGoneAfter5Seconds(string said)
    {
        await using var cluster = await TestCluster.StartAsync();
        using var socket = await ConnectAsync(cluster);
        await socket.SendAsync(Encoding.ASCII.GetBytes(said));
        using var patience = new CancellationTokenSource(Patience);
        var reading = ReadToEndAsync(socket, patience.Token);
        while (!reading.IsCompleted)
        {
            try
            {
                await socket.SendAsync(said.EndsWith("\r\n\r\n", StringComparison.Ordinal) ? default : "x"u8.ToArray(), patience.Token);
            }
            catch (SocketException)
            {
                break;
            }

            await Task.WhenAny(reading, Task.Delay(500, patience.Token));
        }

        await reading;
    }

    [Fact]
    public async Task Edge_OlderOfTwoOfItsName_IsNotReadyAtOnce()
    {
        await using var cluster = await TestCluster.StartAsync();
        var older = await cluster.StartEdgeAsync("edge-1");
        await Task.Delay(20); // their starts differ by milliseconds

        var newer = await cluster.StartEdgeAsync("edge-1");

        await TestCluster.UntilReadyAsync(older, false);
        Assert.Contains("older-node", await TestCluster.ReadAsync(new Uri(older.PublicAddress, "/readyz")), StringComparison.Ordinal);
        Assert.Equal(200, await TestCluster.GetAsync(new Uri(newer.PublicAddress, "/readyz"), null));
    }

    [Fact]
    public async Task Leave_WhileTheHubIsAway_HoldsWhenItIsBack()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        var port = cluster.Hub.Host.ClusterAddress.Port;
        using var tab = await TestSocket.OpenAsync(edge.PublicAddress);
        var token = cluster.Hub.Host.Services.GetRequiredService<ClientTokens>().Create("demo", "ada", "tab-1", TimeSpan.FromHours(1), ["*"]);
        await tab.SendAsync($$"""{"type":"hello","token":"{{token}}","device":"tab-1","state":"active"}""");
        Assert.Equal("welcome", (await tab.ReceiveAsync()).GetProperty("type").GetString());
        await tab.SendAsync("""{"type":"join","topics":["left","kept"]}""");
        await UntilInAsync(cluster, tab, "kept");
        await cluster.Hub.DisposeAsync();
        await tab.SendAsync("""{"type":"leave","topics":["left"]}""");
        await tab.SendAsync("""{"type":"join","topics":["new"]}""");

        await cluster.StartHubAsync(port: port);

        await UntilInAsync(cluster, tab, "new");
        await PostAsync(cluster, "left");
        await PostAsync(cluster, "kept");
        Assert.Equal("kept", (await tab.ReceiveAsync()).GetProperty("topic").GetString());
    }

    private static async Task UntilInAsync(TestCluster cluster, TestSocket tab, string topic)
    {
        var frame = tab.ReceiveAsync();
        while (!frame.IsCompleted)
        {
            await PostAsync(cluster, topic);
            await Task.WhenAny(frame, Task.Delay(100));
        }

        Assert.Equal(topic, (await frame).GetProperty("topic").GetString());
        await Task.Delay(200); // those that were posted meanwhile
        await cluster.Hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"},"class":"transient","data":"fence"}""");
        while ((await tab.ReceiveAsync()).TryGetProperty("topic", out _))
        {
        }
    }

    private static async Task PostAsync(TestCluster cluster, string topic) =>
        Assert.Equal(202, (await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"to":{"topic":"{{topic}}"},"class":"transient","data":1}""")).Status);

    private static async Task<Socket> ConnectAsync(TestCluster cluster)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, cluster.Hub.Host.ClusterAddress.Port);
        return socket;
    }

    private static async Task ReadToEndAsync(Socket socket, CancellationToken cancellationToken)
    {
        var buffer = new byte[4096];
        try
        {
            while (await socket.ReceiveAsync(buffer, cancellationToken) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // Reset.
        }
    }
}
