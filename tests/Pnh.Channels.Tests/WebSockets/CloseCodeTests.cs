using System.Net.WebSockets;
using System.Text;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkCloseCodeTests() : CloseCodeTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectCloseCodeTests() : CloseCodeTests(SocketTransport.Direct);

/// <summary>Every way a connection ends, on real sockets.</summary>
public abstract class CloseCodeTests(SocketTransport transport) : SocketTests(transport)
{
    [Theory]
    [InlineData("no json", "bad-json")]
    [InlineData("""{"type":"ring"}""", "unknown-type")]
    [InlineData("""{"type":"ack"}""", "missing-member")]
    [InlineData("""{"type":"ack","seq":1}""", "ack-of-the-future")]
    [InlineData("""{"type":"hello","token":"ada-token","device":"tab-1"}""", "second-hello")]
    [InlineData("", "bad-json")]
    public async Task Receive_NotTheProtocol_IsToldAndClosed(string message, string error)
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        await client.SendAsync(message);
        Assert.Equal((4502, error), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
    }

    [Theory]
    [InlineData("""{"type":"ack","seq":0}""", 4502, "hello-expected")]
    [InlineData("""{"type":"hello","device":"tab-1"}""", 4501, "no-token")]
    [InlineData("""{"type":"hello","token":"forged","device":"tab-1"}""", 4501, "bad-token")]
    [InlineData("""{"type":"hello","token":"bound-token","device":"phone-2"}""", 4501, "other-device")]
    [InlineData("""{"type":"hello","token":"ada-token","device":"\u200b"}""", 4502, "bad-member")]
    public async Task Hello_Refused_IsToldAndClosedBeforeTheHubHears(string message, int code, string error)
    {
        await using var host = await StartAsync();
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync(message);
        Assert.Equal((code, error), await client.ReadCloseAsync());
        Assert.Equal(0, host.Hub.ClosedCount);
    }

    [Fact]
    public async Task Hello_TokenOfAnotherUserThanTheHeader_IsUnauthorized()
    {
        await using var host = await StartAsync();
        host.HeaderIdentity = RecordingHub.Identity("ada");
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.HelloAsync("tab-1", "bob-token");
        Assert.Equal((4501, "other-user"), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Hello_TokenBoundToThisDevice_IsWelcomed()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync("phone-1", "bound-token");
        client.Dispose();
    }

    [Fact]
    public async Task Hello_Missing_ClosesAfterTheTimeout()
    {
        await using var host = await StartAsync(o => o.HelloTimeout = TimeSpan.FromMilliseconds(200));
        using var client = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((4003, null), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Hello_Unfinished_ClosesAfterTheTimeout()
    {
        await using var host = await StartAsync(o => o.HelloTimeout = TimeSpan.FromMilliseconds(200));
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("{\"type\":"u8.ToArray(), WebSocketMessageType.Text, isLast: false);
        Assert.Equal((4003, null), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Receive_Binary_IsAProtocolError()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        await client.SendAsync("{}"u8.ToArray(), WebSocketMessageType.Binary);
        Assert.Equal((4502, "binary-frame"), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Receive_LargestMessage_IsTaken_OneByteMoreIsNot()
    {
        await using var host = await StartAsync(o => o.MaxMessageBytes = 4096);
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        const string Ack = """{"type":"ack","seq":1}""";
        opened.Link.TrySend(opened.Key.Session, Events.Make("e-1"));
        await client.ReadAsync("event");
        await client.SendAsync(Ack.PadRight(4096));
        Assert.Equal("e-1", await host.Hub.NextAckedAsync());
        await client.SendAsync(Ack.PadRight(4097));
        Assert.Equal((4502, "too-big"), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Receive_EndlessMessage_IsCutOff()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        var part = Encoding.ASCII.GetBytes(new string(' ', 8192));
        for (var i = 0; i < 4; i++)
        {
            await client.SendAsync(part, WebSocketMessageType.Text, isLast: false);
        }

        Assert.Equal((4502, "too-big"), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Receive_TooManyMessages_IsOverloaded()
    {
        await using var host = await StartAsync(o => (o.MessagesPerSecond, o.MessageBurst) = (1, 20));
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        for (var i = 0; i < 30; i++)
        {
            await client.AckAsync(0);
        }

        Assert.Equal((4005, "rate-limited"), await client.ReadCloseAsync());
    }

    [Theory]
    [InlineData(9, true, false)]
    [InlineData(9, true, true)]
    [InlineData(10, true, false)]
    [InlineData(0, false, false)]
    [InlineData(0, false, true)]
    public async Task Receive_TooManyFramesThatAreNoMessages_IsOverloaded(byte opcode, bool isLast, bool hasHello)
    {
        await using var host = await StartAsync(o => (o.MessagesPerSecond, o.MessageBurst) = (1, 20));
        using var raw = await RawClient.UpgradeAsync(host.Port);
        if (hasHello)
        {
            await raw.SendTextAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
            await host.Hub.NextOpenedAsync();
        }

        if (opcode == 0)
        {
            await raw.SendFrameAsync(1, [], isLast: false);
        }

        for (var i = 0; i < 30; i++)
        {
            await raw.SendFrameAsync(opcode, [], isLast);
        }

        (int Opcode, byte[] Payload)? frame;
        do
        {
            frame = await raw.ReadFrameAsync();
        }
        while (frame is { Opcode: not 8 });
        Assert.Equal(4005, (frame!.Value.Payload[0] << 8) | frame.Value.Payload[1]);
    }

    [Fact]
    public async Task Receive_OneAckPerEvent_IsNeverTooMany()
    {
        await using var host = await StartAsync(o => (o.MessagesPerSecond, o.MessageBurst) = (1, 5));
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        for (var seq = 1; seq <= 50; seq++)
        {
            opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{seq}"));
            await client.ReadAsync("event");
            await client.AckAsync(seq);
            Assert.Equal($"e-{seq}", await host.Hub.NextAckedAsync());
        }
    }

    [Fact]
    public async Task Receive_AnAckForEachFrameThatResumesRepeated_IsNeverTooMany()
    {
        const int Frames = 40;
        await using var host = await StartAsync(o => (o.MessagesPerSecond, o.MessageBurst) = (1, 5));
        var (client, opened) = await host.OpenAsync();
        for (var i = 1; i <= Frames; i++)
        {
            opened.Link.TrySend(opened.Key.Session, Events.Make($"e-{i}"));
        }

        await client.ReadFramesAsync(Frames);
        for (var resumes = 0; resumes < 3; resumes++)
        {
            client.Dispose();
            client = await SocketClient.ConnectAsync(host.Port);
            await client.ResumeAsync(opened.Key.Session, 0);
            await client.ReadFramesAsync(Frames);
        }

        // It acks each frame as often as it got it; all but the first of them confirm nothing.
        using var last = client;
        for (var i = 1; i <= 4 * Frames; i++)
        {
            await last.AckAsync(((i - 1) / 4) + 1);
        }

        for (var i = 1; i <= Frames; i++)
        {
            Assert.Equal($"e-{i}", await host.Hub.NextAckedAsync());
        }

        for (var i = 0; i < 30; i++)
        {
            await last.AckAsync(1);
        }

        Assert.Equal((4005, "rate-limited"), await last.ReadCloseAsync());
    }

    [Fact]
    public async Task Connect_MoreThanTheLimit_IsOverloaded()
    {
        await using var host = await StartAsync(o => o.MaxConnections = 1);
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        using var second = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((4005, null), await second.ReadCloseAsync());
    }

    [Fact]
    public async Task Connect_MoreThanTheListenerLeavesToSockets_IsOverloaded()
    {
        await using var host = await StartAsync();
        host.Server.MostConnections = 1;
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        using var second = await SocketClient.ConnectAsync(host.Port);
        Assert.Equal((4005, null), await second.ReadCloseAsync());
    }

    [Fact]
    public async Task Hello_UserHasAsManySessionsAsOneMay_IsOverloaded()
    {
        await using var host = await StartAsync();
        host.Hub.Takes = false;
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
        Assert.Equal((4005, "too-many-sessions"), await client.ReadCloseAsync());
        Assert.Equal(0, host.Hub.OpenedCount);
        Assert.Equal(0, host.Server.KnownSessions);
    }

    [Fact]
    public async Task Token_RunsOutWhileConnected_Closes()
    {
        var clock = new FakeTimeProvider(TimeProvider.System.GetUtcNow());
        await using var host = await StartAsync(clock: clock);
        host.Hub.Tokens["short"] = RecordingHub.Identity("ada", lifetime: TimeSpan.FromSeconds(20));
        var (client, opened) = await host.OpenAsync(token: "short");
        using var _ = client;
        clock.Advance(TimeSpan.FromSeconds(21));
        var closing = client.ReadCloseAsync();
        while (await Task.WhenAny(closing, Task.Delay(200)) != closing)
        {
            clock.Advance(TimeSpan.FromSeconds(1)); // the sweep may have come before the session was on its list
        }

        Assert.Equal((4002, null), await closing);
        Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync());
    }

    [Fact]
    public async Task Hub_ThrowsOnOpened_IsAHubErrorAndTheSessionIsClosed()
    {
        await using var host = await StartAsync();
        host.Hub.OnOpened = _ => throw new InvalidOperationException("no");
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.HelloAsync("tab-1", "ada-token");
        Assert.Equal((4004, null), await client.ReadCloseAsync());
        Assert.Equal("tab-1", (await host.Hub.NextClosedAsync()).Device);
    }

    [Fact]
    public async Task Hub_ThrowsOnEachHello_IsOneLineASecond()
    {
        var log = new LoudLines<WebSocketServer>();
        await using var host = await SocketHost.StartAsync(Transport, log: log);
        host.Hub.OnOpened = _ => throw new InvalidOperationException("no");
        for (var i = 0; i < 20; i++)
        {
            using var client = await SocketClient.ConnectAsync(host.Port);
            await client.HelloAsync($"tab-{i}", "ada-token");
            Assert.Equal((4004, null), await client.ReadCloseAsync());
        }

        log.AssertPaced();
    }

    [Fact]
    public async Task Hub_ThrowsOnAck_IsAHubError()
    {
        await using var host = await StartAsync();
        host.Hub.OnAcked = _ => throw new InvalidOperationException("no");
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        opened.Link.TrySend(opened.Key.Session, Events.Make("e-1"));
        await client.ReadAsync("event");
        await client.AckAsync(1);
        Assert.Equal((4004, null), await client.ReadCloseAsync());
    }

    [Theory]
    [InlineData(4500)]
    [InlineData(4503)]
    public async Task Link_Close_ReachesTheClient(int code)
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        opened.Link.Close(opened.Key.Session, code == 4500 ? SessionClose.Replaced : SessionClose.Kicked);
        Assert.Equal((code, null), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextClosedAsync());
    }

    [Fact]
    public async Task Stopping_WithoutADrain_ClosesAllTheSame()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        host.Stop();
        Assert.Equal((4000, null), await client.ReadCloseAsync());
    }

    [Fact]
    public async Task Connection_Reset_IsReportedPromptlyAndLeavesASessionToResume()
    {
        await using var host = await StartAsync();
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
        var opened = await host.Hub.NextOpenedAsync();
        raw.Reset();
        Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync().WaitAsync(TimeSpan.FromSeconds(5)));
        Assert.Equal(0, host.Hub.ClosedCount);
        await host.WaitForTotalsAsync(new SessionTotals(0, 0, 0, 0, 0, Lingering: 1));
    }

    [Fact]
    public async Task KeepAlive_NoPong_CountsAsLost()
    {
        await using var host = await StartAsync(o =>
        {
            o.KeepAliveInterval = TimeSpan.FromMilliseconds(200);
            o.KeepAliveTimeout = TimeSpan.FromMilliseconds(200);
        });
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync("""{"type":"hello","token":"ada-token","device":"tab-1"}""");
        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync());
    }

    [Fact]
    public async Task Frames_FragmentedAndWithPingsBetween_AreOneMessage()
    {
        await using var host = await StartAsync();
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendFrameAsync(1, """{"type":"hello","token":"ada-"""u8.ToArray(), isLast: false);
        await raw.SendFrameAsync(9, "ping"u8.ToArray());
        await raw.SendFrameAsync(0, "token\",\"device\":\"tab-1\"}"u8.ToArray());
        await host.Hub.NextOpenedAsync();
        var pong = await raw.ReadFrameAsync();
        Assert.Equal((10, "ping"), (pong!.Value.Opcode, Encoding.ASCII.GetString(pong.Value.Payload)));
        Assert.Equal(1, (await raw.ReadFrameAsync())!.Value.Opcode);
    }

    [Fact]
    public async Task Frames_ReservedBits_EndTheConnection()
    {
        await using var host = await StartAsync();
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendBytesAsync([0xF1, 0x82, 1, 2, 3, 4, 0, 0]);

        // The framework answers with 1002, but its own abort may overtake that answer.
        if (await raw.ReadFrameAsync() is { } close)
        {
            Assert.Equal(8, close.Opcode);
            Assert.Equal(1002, (close.Payload[0] << 8) | close.Payload[1]);
        }

        await host.WaitForTotalsAsync(default);
    }
}
