using System.Net.WebSockets;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.Links;

/// <summary>What the hub says while a connection breaks, or while its edge reads nothing.</summary>
public sealed class LinkBreakTests
{
    private static readonly SessionKey Key = new("demo", "ada", "tab-1", "s-1");

    /// <summary>Nobody knows what of it the edge has: it is said again, and means the same the second time.</summary>
    [Fact]
    public async Task Orders_ConnectionBreaks_AreSaidAgainOnTheNext()
    {
        await using var scene = await LinkScene.StartAsync();
        var older = await OpenAsync(scene);
        var link = (await scene.Hub.NextOpenedAsync()).Link;
        Assert.True(link.TryWithdraw("s-1", new Withdrawal("demo", "e-1", "read", DateTimeOffset.UnixEpoch)));
        link.Close("s-1", SessionClose.Kicked);
        older.Abort();
        older.Dispose();
        await scene.Hub.NextDetachedAsync();
        await Task.Delay(50);

        var (newer, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (newer)
        {
            await LinkScene.SendAsync(newer, static output => LinkScene.Reopen(output, Key));
            var said = await ReadUntilAsync(newer, LinkItemKind.Close);
            Assert.Contains(LinkItemKind.Withdraw, said);
            Assert.True(said.IndexOf(LinkItemKind.Withdraw) < said.IndexOf(LinkItemKind.Close));
        }
    }

    /// <summary>The session has nothing of its own that it could acknowledge, so without this nothing would ever move again.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task TrySend_EdgeReadsNothing_IsRefusedAndTheHubHearsOfRoom(bool isReplay)
    {
        await using var scene = await LinkScene.StartAsync();
        using var socket = await OpenAsync(scene);
        var link = (await scene.Hub.NextOpenedAsync()).Link;
        var sent = 0;
        for (var data = $"\"{new string('x', 60_000)}\""; Send(Events.Make($"e-{sent}", data: data)); sent++)
        {
            Assert.InRange(sent, 0, 1_000); // the socket's buffers and the bound of the queue
        }

        Assert.Equal(0, scene.Hub.Said);
        var room = scene.Hub.NextSaidAsync();
        await ReadUntilAsync(socket, _ => room.IsCompleted); // a beat may stand before all of it
        Assert.Equal("has room", await room);
        Assert.True(link.TrySend("s-1", Events.Make("last")));

        bool Send(Event accepted) => isReplay ? link.TryReplay("s-1", accepted) : link.TrySend("s-1", accepted);
    }

    private static async Task<ClientWebSocket> OpenAsync(LinkScene scene)
    {
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        await LinkScene.SendAsync(socket, static output => LinkScene.Open(output, Key));
        return socket;
    }

    // The kinds of items up to this one.
    private static Task<List<LinkItemKind>> ReadUntilAsync(ClientWebSocket socket, LinkItemKind last) => ReadUntilAsync(socket, kinds => kinds.Contains(last));

    private static async Task<List<LinkItemKind>> ReadUntilAsync(ClientWebSocket socket, Func<List<LinkItemKind>, bool> isEnough)
    {
        var input = new LinkInput();
        var kinds = new List<LinkItemKind>();
        while (!isEnough(kinds))
        {
            var received = await socket.ReceiveAsync(input.Free, CancellationToken.None).AsTask().WaitAsync(SocketHost.Patience);
            Assert.Equal(WebSocketMessageType.Binary, received.MessageType);
            input.Advance(received.Count);
            while (input.TryTake(out var kind, out _))
            {
                kinds.Add(kind);
            }
        }

        return kinds;
    }
}
