namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkSlowConsumerTests() : SlowConsumerTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectSlowConsumerTests() : SlowConsumerTests(SocketTransport.Direct);

/// <summary>Clients that do not keep up, on real sockets: they get no more than their bound, and those that read nothing end.</summary>
public abstract class SlowConsumerTests(SocketTransport transport) : SocketTests(transport)
{
    /// <summary>As a page to which nobody attached a handler yet: what is past the bound is the hub's to keep, and comes when acks make room.</summary>
    [Fact]
    public async Task SlowConsumer_ReadsButNeverAcks_GetsNoMoreThanTheBoundAndStays()
    {
        await using var host = await StartAsync(o => o.QueueItems = 16);
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        var taken = 0;
        while (opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{taken}")))
        {
            taken++;
        }

        Assert.Equal(16, taken);
        Assert.False(opened.Link.TrySend(opened.Key.Session, Events.Make("one-more")));
        Assert.True(opened.Link.TryWithdraw(opened.Key.Session, Events.Withdraw("e-3", "withdrawn"))); // the screen is cleared all the same
        Assert.Equal([.. Enumerable.Range(0, 16).Select(static n => ((long)n + 1, $"e-{n}")), (17, "withdraw e-3")], await client.ReadFramesAsync(17));
        await client.AckAsync(17);
        Assert.Equal("has room", await host.Hub.NextSaidAsync());
        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("after")));
        Assert.Equal([(18, "after")], await client.ReadFramesAsync(1));
    }

    [Fact]
    public async Task SlowConsumer_NeverReads_IsDroppedWhenAWriteIsStuck()
    {
        await using var host = await StartAsync(o =>
        {
            o.QueueItems = 10_000;
            o.QueueBytes = 1 << 30;
            o.WriteTimeout = TimeSpan.FromMilliseconds(300);
        });
        using var raw = await RawClient.UpgradeAsync(host.Port, receiveBuffer: 4096);
        await raw.SendTextAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
        var opened = await host.Hub.NextOpenedAsync();
        var large = Events.Make("large", data: $"\"{new string('x', 60_000)}\"");
        var taken = 0;
        while (taken < 400 && opened.Link.TrySend(opened.Key.Session, large))
        {
            taken++; // up to 24 MB: more than both socket buffers may grow to; less when it is found stuck before
        }

        Assert.NotEqual(0, taken);
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        Assert.False(opened.Link.TrySend(opened.Key.Session, large));
    }

    /// <summary>Not even what it shall take off its screen: nobody else would keep that for it.</summary>
    [Fact]
    public async Task SlowConsumer_HasNoRoomForWithdrawals_IsClosedAndComesBackToANewSession()
    {
        await using var host = await StartAsync(o => o.QueueItems = 4);
        var (client, opened) = await host.OpenAsync();
        for (var i = 0; opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{i}")); i++)
        {
        }

        for (var i = 0; opened.Link.TryWithdraw(opened.Key.Session, Events.Withdraw($"e-{i}", "withdrawn")); i++)
        {
        }

        Assert.Equal((4001, null), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.False((await again.ResumeAsync(opened.Key.Session, 0)).Resumed);
        client.Dispose();
    }
}
