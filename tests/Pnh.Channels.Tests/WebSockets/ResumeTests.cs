using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkResumeTests() : ResumeTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectResumeTests() : ResumeTests(SocketTransport.Direct);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkResumeTests() : ResumeTests(SocketTransport.Direct, overBytes: true);

/// <summary>Lost connections on real sockets, and those who come back.</summary>
public abstract class ResumeTests(SocketTransport transport, bool overBytes = false) : SocketTests(transport, overBytes)
{
    [Fact]
    public async Task Resume_AfterALoss_AcksAndRepeatsWhatIsMissing()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        Send(opened, "a", "b", "c");
        await client.ReadFramesAsync(3);
        client.Lose();
        Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync());

        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((opened.Key.Session, 1, true), await again.ResumeAsync(opened.Key.Session, 1));
        Assert.Equal(opened.Key, await host.Hub.NextResumedAsync());
        Assert.Equal("a", await host.Hub.NextAckedAsync());
        Send(opened, "d");
        Assert.Equal([(2, "b"), (3, "c"), (4, "d")], await again.ReadFramesAsync(3));
        await again.AckAsync(4);
        Assert.Equal(["b", "c", "d"], [await host.Hub.NextAckedAsync(), await host.Hub.NextAckedAsync(), await host.Hub.NextAckedAsync()]);
        await host.WaitForTotalsAsync(new SessionTotals(1, 0, 0, 0, 0));
    }

    [Fact]
    public async Task Resume_WhileTheOldConnectionHangs_TakesItOver()
    {
        await using var host = await StartAsync();
        var (old, opened) = await host.OpenAsync();
        using var _ = old;
        Send(opened, "a");
        await old.ReadFramesAsync(1);

        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((opened.Key.Session, 0, true), await again.ResumeAsync(opened.Key.Session, 0));
        Assert.Equal([(1, "a")], await again.ReadFramesAsync(1));
        Assert.Equal((4500, null), await old.ReadCloseAsync());
        Send(opened, "b");
        Assert.Equal([(2, "b")], await again.ReadFramesAsync(1));
        await host.WaitForTotalsAsync(new SessionTotals(1, 0, 0, 0, 2));
        Assert.Equal(0, host.Hub.ClosedCount);
    }

    [Theory]
    [InlineData("tab-1", "bob-token")]
    [InlineData("tab-2", "ada-token")]
    public async Task Resume_SomebodyElses_GetsANewSessionAndTheOwnerNoticesNothing(string device, string token)
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        Send(opened, "secret");
        await client.ReadFramesAsync(1);
        client.Lose();
        await host.Hub.NextDetachedAsync();

        using var stranger = await SocketClient.ConnectAsync(host.Port);
        var (session, seq, resumed) = await stranger.ResumeAsync(opened.Key.Session, 1, device, token);
        Assert.Equal((0, false), (seq, resumed));
        Assert.NotEqual(opened.Key.Session, session);
        Assert.Equal(session, (await host.Hub.NextOpenedAsync()).Key.Session);

        using var owner = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((opened.Key.Session, 0, true), await owner.ResumeAsync(opened.Key.Session, 0));
        Assert.Equal([(1, "secret")], await owner.ReadFramesAsync(1));
    }

    [Fact]
    public async Task Resume_SeqNeverGiven_OpensANewSessionInItsPlace()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        client.Lose();
        await host.Hub.NextDetachedAsync();
        using var again = await SocketClient.ConnectAsync(host.Port);
        var (session, _, resumed) = await again.ResumeAsync(opened.Key.Session, 7);
        Assert.False(resumed);
        Assert.NotEqual(opened.Key.Session, session);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
    }

    [Fact]
    public async Task Resume_TooLate_OpensANewSession()
    {
        await using var host = await StartAsync(o => o.Linger = TimeSpan.FromMilliseconds(100));
        var (client, opened) = await host.OpenAsync();
        client.Lose();
        await host.Hub.NextDetachedAsync();
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.False((await again.ResumeAsync(opened.Key.Session, 0)).Resumed);
        Assert.Equal(1, host.Server.KnownSessions);
    }

    [Fact]
    public async Task Resume_HubKnowsItNoMore_OpensANewSession()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        client.Lose();
        await host.Hub.NextDetachedAsync();
        host.Hub.OnResumed = _ => false;
        using var again = await SocketClient.ConnectAsync(host.Port);
        var (session, _, resumed) = await again.ResumeAsync(opened.Key.Session, 0);
        Assert.False(resumed);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        Send(await host.Hub.NextOpenedAsync(), "to-the-new");
        Assert.Equal([(1, "to-the-new")], await again.ReadFramesAsync(1));
        Assert.NotEqual(opened.Key.Session, session);
    }

    [Fact]
    public async Task Resume_AfterTheTokenExpired_GoesOnWithTheNewOne()
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await StartAsync(clock: clock);
        host.Hub.Tokens["short"] = RecordingHub.Identity("ada", lifetime: TimeSpan.FromSeconds(20));
        var (client, opened) = await host.OpenAsync(token: "short");
        Send(opened, "a");
        await client.ReadFramesAsync(1);
        clock.Advance(TimeSpan.FromSeconds(21));
        Assert.Equal((4002, null), await client.ReadCloseAsync());
        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.True((await again.ResumeAsync(opened.Key.Session, 0)).Resumed);
        Assert.Equal([(1, "a")], await again.ReadFramesAsync(1));
    }

    [Fact]
    public async Task Resume_OnAnOlderConnectionIsReadLast_ClosesThatOne()
    {
        await using var host = await StartAsync();
        var (first, opened) = await host.OpenAsync();
        using var older = await SocketClient.ConnectAsync(host.Port);
        using var newer = await SocketClient.ConnectAsync(host.Port);
        first.Lose();
        await host.Hub.NextDetachedAsync();
        Assert.True((await newer.ResumeAsync(opened.Key.Session, 0)).Resumed);
        await older.SendResumeAsync(opened.Key.Session, 0);
        Assert.Equal((4500, null), await older.ReadCloseAsync());
        Send(opened, "a");
        Assert.Equal([(1, "a")], await newer.ReadFramesAsync(1));
    }

    [Fact]
    public async Task Hello_WithoutResume_ReplacesTheLingeringSession()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        client.Lose();
        await host.Hub.NextDetachedAsync();
        var (newer, _) = await host.OpenAsync();
        using var __ = newer;
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        Assert.Equal(1, host.Server.KnownSessions);
    }

    [Theory]
    [InlineData(1000, false)]
    [InlineData(1001, false)]
    [InlineData(4999, true)]
    public async Task Close_ByTheClient_EndsTheSessionOnlyIfItIsAGoodbye(int code, bool lingers)
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        await client.Socket.CloseAsync((WebSocketCloseStatus)code, "", CancellationToken.None).WaitAsync(SocketHost.Patience);
        Assert.Equal(opened.Key, lingers ? await host.Hub.NextDetachedAsync() : await host.Hub.NextClosedAsync());
        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal(lingers, (await again.ResumeAsync(opened.Key.Session, 0)).Resumed);
    }

    [Fact]
    public async Task Drain_SessionsThatLinger_AreEnded()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        client.Lose();
        await host.Hub.NextDetachedAsync();
        await host.Server.DrainAsync(TimeSpan.Zero).WaitAsync(SocketHost.Patience);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        Assert.Equal(0, host.Server.KnownSessions);
    }

    [Fact]
    public async Task Linger_MoreThanTheBytesAllow_EndsTheOldestFirst()
    {
        await using var host = await StartAsync(o => o.LingerBytes = 30_000);
        var clients = new List<(SocketClient Client, SessionOpened Opened)>();
        for (var i = 0; i < 3; i++)
        {
            var (client, opened) = await host.OpenAsync($"tab-{i}");
            clients.Add((client, opened));
            Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("large", data: $"\"{new string('x', 12_000)}\"")));
            await client.ReadFramesAsync(1);
        }

        foreach (var (client, opened) in clients)
        {
            client.Lose();
            Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync());
        }

        Assert.Equal(clients[0].Opened.Key, await host.Hub.NextClosedAsync());
        await host.WaitForTotalsAsync(new SessionTotals(0, 0, 0, 0, 0, Lingering: 2));
    }

    private static void Send(SessionOpened opened, params string[] ids)
    {
        foreach (var id in ids)
        {
            Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make(id)));
        }
    }
}
