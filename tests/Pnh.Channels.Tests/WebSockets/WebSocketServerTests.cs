using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkWebSocketServerTests() : WebSocketServerTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectWebSocketServerTests() : WebSocketServerTests(SocketTransport.Direct);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkWebSocketServerTests() : WebSocketServerTests(SocketTransport.Direct, overBytes: true);

/// <summary>Real sockets against real Kestrel: what a well-behaved client meets, however the hub reaches it.</summary>
public abstract class WebSocketServerTests(SocketTransport transport, bool overBytes = false) : SocketTests(transport, overBytes)
{
    [Fact]
    public async Task Hello_ValidToken_IsWelcomedAfterTheHubKnowsTheSession()
    {
        await using var host = await StartAsync();
        var hubKnows = false;
        host.Hub.OnOpened = async _ =>
        {
            await Task.Delay(100);
            Volatile.Write(ref hubKnows, true);
        };
        using var client = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal("pnh.v1", client.Socket.SubProtocol);
        await client.HelloAsync("tab-1", "ada-token", "background");
        var welcome = await client.ReadAsync("welcome");
        Assert.True(Volatile.Read(ref hubKnows));
        Assert.Equal(0, welcome.GetProperty("seq").GetInt64());
        Assert.False(welcome.GetProperty("resumed").GetBoolean());

        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal(new SessionKey("demo", "ada", "tab-1", welcome.GetProperty("session").GetString()!), opened.Key);
        Assert.Equal(SessionState.Background, opened.State);
    }

    [Fact]
    public async Task Hello_IdentityFromTheHeader_NeedsNoToken()
    {
        await using var host = await StartAsync();
        host.HeaderIdentity = RecordingHub.Identity("grace");
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","device":"tab-1"}""");
        await client.ReadAsync("welcome");
        Assert.Equal("grace", (await host.Hub.NextOpenedAsync()).Key.User);
    }

    [Fact]
    public async Task Hello_ResumeOfAnUnknownSession_OpensANewOne()
    {
        await using var host = await StartAsync();
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1","resume":{"session":"gone","seq":12}}""");
        var welcome = await client.ReadAsync("welcome");
        Assert.False(welcome.GetProperty("resumed").GetBoolean());
        Assert.NotEqual("gone", welcome.GetProperty("session").GetString());
    }

    [Theory]
    [InlineData("Tablet Ünïcødé 🎉")]
    [InlineData("电话")]
    [InlineData("a/b?c=%20#d\"\\")]
    [InlineData("e\u0301")]
    public async Task Hello_DeviceIdWithOddUnicode_ArrivesUnchanged(string device)
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync(device);
        using var _ = client;
        Assert.Equal(device, opened.Key.Device);
    }

    [Fact]
    public async Task Event_AckedByTheClient_ReachesTheHub()
    {
        var written = new TaskCompletionSource<EventClass>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var host = await StartAsync(written: (c, since) =>
        {
            Assert.InRange(since, TimeSpan.Zero, SocketHost.Patience);
            written.TrySetResult(c);
        });
        var (client, opened) = await host.OpenAsync();
        using var _ = client;

        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("e-1", data: """{"any":"json"}""")));
        var frame = await client.ReadAsync("event");
        Assert.Equal(1, frame.GetProperty("seq").GetInt64());
        Assert.Equal("e-1", frame.GetProperty("id").GetString());
        Assert.Equal("json", frame.GetProperty("data").GetProperty("any").GetString());
        await client.AckAsync(1);
        Assert.Equal("e-1", await host.Hub.NextAckedAsync());
        Assert.Equal(EventClass.Message, await written.Task.WaitAsync(SocketHost.Patience));
    }

    [Fact]
    public async Task Event_Replayed_IsWrittenButNotTimed()
    {
        var timed = new List<EventClass>();
        var last = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var host = await StartAsync(written: (c, _) =>
        {
            timed.Add(c);
            last.TrySetResult();
        });
        var (client, opened) = await host.OpenAsync();
        using var _ = client;

        Assert.True(opened.Link.TryReplay(opened.Key.Session, Events.Make("old", EventClass.Bulk)));
        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("new")));
        Assert.Equal("old", (await client.ReadAsync("event")).GetProperty("id").GetString());
        Assert.Equal("new", (await client.ReadAsync("event")).GetProperty("id").GetString());
        await last.Task.WaitAsync(SocketHost.Patience);
        Assert.Equal([EventClass.Message], timed);
    }

    [Fact]
    public async Task Event_SentWhileTheHubOpensTheSession_FollowsTheWelcome()
    {
        await using var host = await StartAsync();
        host.Hub.OnOpened = opened =>
        {
            opened.Link.TrySend(opened.Key.Session, Events.Make("waited"));
            opened.Link.TrySend(opened.Key.Session, Events.Make("ring", EventClass.Call));
            return ValueTask.CompletedTask;
        };
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        Assert.Equal("ring", (await client.ReadAsync("event")).GetProperty("id").GetString());
        Assert.Equal("waited", (await client.ReadAsync("event")).GetProperty("id").GetString());
    }

    [Fact]
    public async Task State_Changed_IsReportedOnce()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        await client.SendAsync("""{"type":"state","state":"active"}""");
        await client.SendAsync("""{"type":"state","state":"background"}""");
        Assert.Equal(SessionState.Background, await host.Hub.NextStateAsync());

        var shown = Assert.Single(host.Server.Snapshot(10, "demo", "ada"));
        Assert.Equal(opened.Key, shown.Key);
        Assert.Equal(SessionState.Background, shown.State);
        Assert.Equal(new ConnectionPeer("127.0.0.1", "pnh-test/1"), shown.Peer);
        Assert.Equal(new SessionTotals(0, 1, 0, 0, 0), host.Server.CountSessions());
        Assert.Empty(host.Server.Snapshot(10, "demo", "bob"));
    }

    [Fact]
    public async Task TrySend_TwoSendersAtOnce_EachKeepsItsOrderAndSeqHasNoGap()
    {
        const int Each = 500;
        await using var host = await StartAsync(o => o.QueueItems = 4 * Each);
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        var senders = new[] { "a", "b" }.Select(name => Task.Run(() =>
        {
            for (var i = 0; i < Each; i++)
            {
                Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make($"{name}-{i}")));
            }
        })).ToArray();

        var next = new Dictionary<string, int> { ["a"] = 0, ["b"] = 0 };
        for (var seq = 1; seq <= 2 * Each; seq++)
        {
            var frame = await client.ReadAsync("event");
            Assert.Equal(seq, frame.GetProperty("seq").GetInt64());
            var id = frame.GetProperty("id").GetString()!.Split('-');
            Assert.Equal($"{next[id[0]]++}", id[1]);
        }

        await Task.WhenAll(senders);
        await client.AckAsync(2 * Each);
        for (var i = 0; i < 2 * Each; i++)
        {
            await host.Hub.NextAckedAsync();
        }
    }

    [Fact]
    public async Task TrySend_LargeEvent_ArrivesWhole()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        var text = new string('ü', 30_000);
        opened.Link.TrySend(opened.Key.Session, Events.Make("large", data: $"\"{text}\""));
        Assert.Equal(text, (await client.ReadAsync("event")).GetProperty("data").GetString());
    }

    [Fact]
    public async Task Close_ByTheClient_IsAnsweredAndReportedOnce()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        await client.Socket.CloseAsync(WebSocketCloseStatus.NormalClosure, "bye", CancellationToken.None).WaitAsync(SocketHost.Patience);
        Assert.Equal(WebSocketState.Closed, client.Socket.State);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        Assert.Equal(OverBytes, opened.Link.TrySend(opened.Key.Session, Events.Make("late")));
        await host.FlushAsync();
        Assert.Equal(1, host.Hub.ClosedCount);
    }

    [Fact]
    public async Task Drain_SeveralSessions_TellsThemWhenToComeBackAndCloses()
    {
        await using var host = await StartAsync();
        var clients = new List<SocketClient>();
        for (var i = 0; i < 5; i++)
        {
            clients.Add((await host.OpenAsync($"tab-{i}")).Client);
        }

        var reads = clients.Select(async client =>
        {
            var after = (await client.ReadAsync("drain")).GetProperty("after").GetDouble();
            return (after, (await client.ReadCloseAsync()).Close);
        }).ToArray();
        await host.Server.DrainAsync(TimeSpan.FromMilliseconds(300)).WaitAsync(SocketHost.Patience);
        foreach (var (after, code) in await Task.WhenAll(reads))
        {
            Assert.InRange(after, 0, 0.3);
            Assert.Equal(4000, code);
        }

        using var late = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((4000, null), await late.ReadCloseAsync());
        Assert.Empty(host.Server.Snapshot(10));
        clients.ForEach(c => c.Dispose());
    }

    [Fact]
    public async Task Drain_ClientThatDoesNotAnswer_IsBounded()
    {
        await using var host = await StartAsync(o => o.CloseTimeout = TimeSpan.FromMilliseconds(300));
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
        var opened = await host.Hub.NextOpenedAsync();
        await host.Server.DrainAsync(TimeSpan.Zero).WaitAsync(SocketHost.Patience);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
    }
}
