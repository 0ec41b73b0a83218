namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkSlowConsumerTests() : SlowConsumerTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectSlowConsumerTests() : SlowConsumerTests(SocketTransport.Direct);

/// <summary>Clients that do not keep up, on real sockets: their session ends, and its frames are the hub's again.</summary>
public abstract class SlowConsumerTests(SocketTransport transport) : SocketTests(transport)
{
    [Fact]
    public async Task SlowConsumer_ReadsButNeverAcks_IsClosedAtTheBound()
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
        Assert.Equal((4001, null), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
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

    [Fact]
    public async Task SlowConsumer_ComesBack_GetsANewSession()
    {
        await using var host = await StartAsync(o => o.QueueItems = 4);
        var (client, opened) = await host.OpenAsync();
        for (var i = 0; opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{i}")); i++)
        {
        }

        Assert.Equal((4001, null), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.False((await again.ResumeAsync(opened.Key.Session, 0)).Resumed);
        client.Dispose();
    }
}
