using System.Text;
using System.Text.Json;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.Tests.WebSockets.Rfc6455;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>What our own transport does that the framework keeps to itself.</summary>
public class DirectConnectionTests
{
    private const string Hello = """{"type":"hello","token":"ada-token","device":"tab-1"}""";

    [Fact]
    public async Task KeepAlive_Unanswered_IsAPingThen4006AndASessionToResume()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct, o =>
            (o.KeepAliveInterval, o.KeepAliveTimeout) = (TimeSpan.FromMilliseconds(500), TimeSpan.FromMilliseconds(500)));
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        _ = await host.Hub.NextOpenedAsync();
        var ping = await ReadPastTextAsync(raw);
        Assert.Equal((9, 0), (ping.Opcode, ping.Payload.Length));
        var close = await ReadPastTextAsync(raw);
        Assert.Equal((8, 4006), (close.Opcode, (close.Payload[0] << 8) | close.Payload[1]));
        await host.WaitUntilAsync(static now => now with { Active = 0, Handshakes = 1, Lingering = 1 });
    }

    [Fact]
    public async Task KeepAlive_Answered_IsAskedAgain()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct, o =>
            (o.KeepAliveInterval, o.KeepAliveTimeout) = (TimeSpan.FromMilliseconds(50), SocketHost.Patience));
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        for (var i = 0; i < 3; i++)
        {
            Assert.Equal(9, (await ReadPastTextAsync(raw)).Opcode);
            await raw.SendFrameAsync(10, []);
        }

        Assert.Equal(1, host.Server.CountSessions().Active);
    }

    // The clock is the test's, the kernel's acknowledgements are real: a moment ago.
    [Fact]
    public async Task KeepAlive_MachineAcknowledges_IsSparedThreePingsAndNoMore()
    {
        var clock = new FakeTimeProvider();
        await using var host = await SocketHost.StartAsync(
            SocketTransport.Direct, o => (o.KeepAliveInterval, o.SweepInterval) = (TimeSpan.FromMinutes(4), TimeSpan.FromSeconds(1)), clock: clock);
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal(1, (await raw.ReadFrameAsync())!.Value.Opcode); // the welcome
        Pass(clock, TimeSpan.FromMinutes(15.5));
        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("e-1")));
        Assert.Equal(1, (await raw.ReadFrameAsync())!.Value.Opcode); // and no ping before it
        Pass(clock, TimeSpan.FromMinutes(6));
        Assert.Equal(9, (await raw.ReadFrameAsync())!.Value.Opcode);
    }

    // In steps, as a sweep looks at what is due when it begins.
    private static void Pass(FakeTimeProvider clock, TimeSpan time)
    {
        for (var passed = TimeSpan.Zero; passed < time; passed += TimeSpan.FromSeconds(10))
        {
            clock.Advance(TimeSpan.FromSeconds(10));
        }
    }

    // On a busy machine a ping may come before the welcome.
    private static async Task<(int Opcode, byte[] Payload)> ReadPastTextAsync(RawClient raw)
    {
        while (true)
        {
            var frame = await raw.ReadFrameAsync();
            Assert.NotNull(frame);
            if (frame.Value.Opcode != 1)
            {
                return frame.Value;
            }
        }
    }

    [Fact]
    public async Task Pings_MoreThanATurnAnswers_TheNewestIsAnswered()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct);
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendBytesAsync(MaskedFrame.Join([.. Enumerable.Range(0, 200).Select(i => MaskedFrame.Of(9, $"{i}"))]));
        string answered;
        do
        {
            var (opcode, payload) = (await raw.ReadFrameAsync())!.Value;
            Assert.Equal(10, opcode);
            answered = Encoding.ASCII.GetString(payload);
        }
        while (answered != "199");
    }

    [Fact]
    public async Task Close_ByUs_AcksOfFramesUnderWayStillCount()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct);
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        var opened = await host.Hub.NextOpenedAsync();
        Assert.Equal(1, (await raw.ReadFrameAsync())!.Value.Opcode);
        Assert.True(opened.Link.TrySend(opened.Key.Session, Events.Make("e-1")));
        Assert.Equal(1, (await raw.ReadFrameAsync())!.Value.Opcode);
        opened.Link.Close(opened.Key.Session, SessionClose.Kicked);
        Assert.Equal(8, (await raw.ReadFrameAsync())!.Value.Opcode);
        await raw.SendTextAsync("""{"type":"ack","seq":1}""");
        Assert.Equal("e-1", await host.Hub.NextAckedAsync());
        await raw.SendBytesAsync(MaskedFrame.OfClose(4503));
        Assert.Null(await raw.ReadFrameAsync());
    }

    [Fact]
    public async Task Close_ByUs_UnansweredOrFollowedByAFlood_EndsTheConnection()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct, o => o.CloseTimeout = TimeSpan.FromMilliseconds(200));
        foreach (var floods in new[] { false, true })
        {
            using var raw = await RawClient.UpgradeAsync(host.Port);
            await raw.SendTextAsync("no hello");
            Assert.Equal("error", JsonDocument.Parse((await raw.ReadFrameAsync())!.Value.Payload).RootElement.GetProperty("type").GetString());
            Assert.Equal(8, (await raw.ReadFrameAsync())!.Value.Opcode);
            if (floods)
            {
                await raw.TrySendAllAsync([.. Enumerable.Repeat(MaskedFrame.Of(1, "{}"), 1_000)]);
            }

            Assert.Null(await raw.ReadFrameAsync());
        }

        await host.WaitForTotalsAsync(default);
    }

    /// <summary>The end of one message may ask for more while the next is under way already: what then comes must wait in the kernel, not here.</summary>
    [Fact]
    public async Task Receive_ReadingResumedWhileAMessageIsHandled_PausesAgain()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct);
        var hubIsBusy = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var hubGoesOn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Hub.OnOpened = _ =>
        {
            hubIsBusy.SetResult();
            return new ValueTask(hubGoesOn.Task);
        };
        using var raw = await RawClient.UpgradeAsync(host.Port);
        await raw.SendTextAsync(Hello);
        await hubIsBusy.Task.WaitAsync(SocketHost.Patience);
        Assert.False((await LookAsync(host.LastSocket)).IsReading);

        host.LastSocket.ResumeReading();
        await raw.SendTextAsync("""{"type":"state","state":"background"}""");
        (bool IsReading, int Kept) seen;
        while ((seen = await LookAsync(host.LastSocket)).Kept == 0)
        {
            await Task.Yield();
        }

        Assert.False(seen.IsReading);
        hubGoesOn.SetResult();
        _ = await host.Hub.NextOpenedAsync();
        Assert.Equal(SessionState.Background, await host.Hub.NextStateAsync());
    }

    // On the loop's thread, between two of its calls.
    private static Task<(bool IsReading, int Kept)> LookAsync(LoopSocket socket)
    {
        var seen = new TaskCompletionSource<(bool, int)>(TaskCreationOptions.RunContinuationsAsynchronously);
        socket.Loop.Post(() => seen.SetResult((socket.IsReading, socket.Rest.Length)));
        return seen.Task.WaitAsync(SocketHost.Patience);
    }

    [Fact]
    public async Task Accept_ManyThatComeAndGo_LeavesNone()
    {
        await using var host = await SocketHost.StartAsync(SocketTransport.Direct, o => o.Linger = TimeSpan.Zero);
        for (var i = 0; i < 200; i++)
        {
            var raw = await RawClient.UpgradeAsync(host.Port);
            if (i % 2 == 0)
            {
                await raw.SendTextAsync(Hello);
            }

            if (i % 3 == 0)
            {
                raw.Reset();
            }
            else
            {
                raw.Dispose();
            }
        }

        await host.WaitForTotalsAsync(default);
        Assert.Equal(0, host.Server.KnownSessions);
    }
}
