using Microsoft.Extensions.Time.Testing;
using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Beats: what a page hears that sees no pings.</summary>
public sealed class BeatTests
{
    [Theory]
    [InlineData(SocketTransport.Direct)]
    [InlineData(SocketTransport.Framework)]
    public async Task Hello_WantsBeats_HearsOneEach25Seconds(object transport)
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await SocketHost.StartAsync((SocketTransport)transport, clock: clock);
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1","beat":true}""");
        Assert.Equal(25, (await client.ReadAsync("welcome")).GetProperty("beat").GetInt32());
        var opened = await host.Hub.NextOpenedAsync();

        for (var beat = 1; beat <= 3; beat++)
        {
            Pass(clock, TimeSpan.FromSeconds(ControlFrames.BeatSeconds) - TimeSpan.FromSeconds(1));
            Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{beat}")));
            Assert.Equal($"e-{beat}", (await client.ReadAsync("event")).GetProperty("id").GetString()); // no beat before it
            Pass(clock, TimeSpan.FromSeconds(1.2));
            await client.ReadAsync("beat");
        }
    }

    [Theory]
    [InlineData(SocketTransport.Direct, "")]
    [InlineData(SocketTransport.Framework, "")]
    [InlineData(SocketTransport.Direct, ",\"beat\":false")]
    public async Task Hello_WantsNone_HearsNone(object transport, string beat)
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await SocketHost.StartAsync((SocketTransport)transport, clock: clock, configure: static options => options.KeepAliveInterval = TimeSpan.Zero);
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync($$"""{"type":"hello","token":"ada-token","device":"tab-1"{{beat}}}""");
        Assert.False((await client.ReadAsync("welcome")).TryGetProperty("beat", out _));
        var opened = await host.Hub.NextOpenedAsync();
        Pass(clock, 4 * TimeSpan.FromSeconds(ControlFrames.BeatSeconds));
        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("e-1")));
        await client.ReadAsync("event");
    }

    /// <summary>A session that is resumed asks anew: the connection is another one.</summary>
    [Fact]
    public async Task Resume_WantsBeats_HearsThem()
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct, clock: clock);
        var (first, opened) = await host.OpenAsync();
        first.Lose();
        first.Dispose();
        await host.Hub.NextDetachedAsync();
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync($$$"""{"type":"hello","token":"ada-token","device":"tab-1","beat":true,"resume":{"session":"{{{opened.Key.Session}}}","seq":0}}""");
        var welcome = await client.ReadAsync("welcome");
        Assert.Equal((true, 25), (welcome.GetProperty("resumed").GetBoolean(), welcome.GetProperty("beat").GetInt32()));
        Pass(clock, TimeSpan.FromSeconds(ControlFrames.BeatSeconds) + TimeSpan.FromSeconds(1));
        await client.ReadAsync("beat");
    }

    /// <summary>As often as the client says, and from a later frame on as that says.</summary>
    [Theory]
    [InlineData(SocketTransport.Direct)]
    [InlineData(SocketTransport.Framework)]
    public async Task Hello_SaysHowOften_HearsThemSoUntilItSaysOtherwise(object transport)
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await SocketHost.StartAsync((SocketTransport)transport, clock: clock);
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1","beat":40,"knows":["beat"]}""");
        Assert.Equal("""40 ["beat"]""", await client.ReadAsync("welcome") is var welcome ? $"{welcome.GetProperty("beat").GetInt32()} {welcome.GetProperty("knows").GetRawText()}" : "");
        await client.SendAsync("""{"type":"beat","every":10}""");
        await client.SendAsync("""{"type":"seen","id":"fence"}""");
        Assert.Equal("seen fence", await host.Hub.NextSaidAsync());
        Pass(clock, TimeSpan.FromSeconds(11.2));
        await client.ReadAsync("beat");
    }

    // In steps of the sweep, which looks at a slice each time.
    private static void Pass(FakeTimeProvider clock, TimeSpan time)
    {
        for (var step = TimeSpan.FromMilliseconds(50); time > TimeSpan.Zero; time -= step)
        {
            clock.Advance(step);
        }
    }
}
