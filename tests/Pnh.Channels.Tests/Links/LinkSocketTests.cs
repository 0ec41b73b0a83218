using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using Pnh.Channels.Links.Protocol;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>What carries the items of a link.</summary>
public sealed class LinkSocketTests
{
    [Fact]
    public async Task Run_NothingComesForThreeSeconds_EndsThenAndNotWithTheNextBeat()
    {
        var time = new FakeTimeProvider();
        var (near, far) = await ConnectAsync();
        using (near)
        using (far)
        {
            using var link = new LinkSocket(near, new LinkQueue(), time);
            var running = link.RunAsync(static (_, _) => { });
            time.Advance(TimeSpan.FromSeconds(0.5));
            var beat = new LinkWriter();
            beat.Begin(LinkItemKind.Beat).End();
            await far.SendAsync(beat.Written, WebSocketMessageType.Binary, endOfMessage: true, CancellationToken.None);
            while (link.BytesIn == 0)
            {
                await Task.Delay(5);
            }

            for (var i = 0; i < 29; i++)
            {
                time.Advance(TimeSpan.FromSeconds(0.1)); // to 3.4
            }

            Assert.False(running.IsCompleted);
            time.Advance(TimeSpan.FromSeconds(0.2));
            Assert.Equal("nothing came for 3 s", await running.WaitAsync(TimeSpan.FromSeconds(30)));
        }
    }

    private static async Task<(WebSocket Near, WebSocket Far)> ConnectAsync()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var client = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await client.ConnectAsync(listener.LocalEndpoint);
        var server = await listener.AcceptSocketAsync();
        return (WebSocket.CreateFromStream(new NetworkStream(server, ownsSocket: true), new() { IsServer = true, KeepAliveInterval = TimeSpan.Zero }),
            WebSocket.CreateFromStream(new NetworkStream(client, ownsSocket: true), new() { KeepAliveInterval = TimeSpan.Zero }));
    }
}
