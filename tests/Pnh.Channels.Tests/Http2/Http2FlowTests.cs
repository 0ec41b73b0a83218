using Pnh.Channels.Net.Http2;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Windows, limits and their changes.</summary>
public sealed class Http2FlowTests
{
    [Fact]
    public async Task SendAsync_BodyAboveTheStreamsWindow_GoesOnWithEachUpdate()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.InitialWindowSize, 10)]);
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync(body: [.. Enumerable.Range(0, 25).Select(number => (byte)number)]);
        var stream = (await peer.ReadAsync(FrameType.Headers)).Stream;
        List<byte> body = [.. await DataAsync(peer, 10, ends: false)];
        await peer.WriteAsync(FrameType.WindowUpdate, stream, 3);
        body.AddRange(await DataAsync(peer, 3, ends: false));
        await peer.WriteAsync(FrameType.WindowUpdate, stream, 100);
        body.AddRange(await DataAsync(peer, 12, ends: true));
        Assert.Equal(Enumerable.Range(0, 25).Select(number => (byte)number), body);
        await peer.AnswerAsync(stream);
        Assert.Equal("200", await push);
    }

    [Fact]
    public async Task SendAsync_InitialWindowFallsBelowWhatWasSent_WaitsUntilItIsAboveZeroAgain()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.InitialWindowSize, 10)]);
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync(body: new byte[20]);
        var stream = (await peer.ReadAsync(FrameType.Headers)).Stream;
        await DataAsync(peer, 10, ends: false);

        // The window is at -6 now, at 0 after the update, and at 2 after the next.
        await peer.SettingsAsync((SettingId.InitialWindowSize, 4));
        Assert.True((await peer.ReadAsync()).IsAck);
        await peer.WriteAsync(FrameType.WindowUpdate, stream, 6);
        await PingAsync(peer);
        await peer.WriteAsync(FrameType.WindowUpdate, stream, 2);
        await DataAsync(peer, 2, ends: false);
        await peer.SettingsAsync((SettingId.InitialWindowSize, 100));
        Assert.Equal(FrameType.Settings, (await peer.ReadAsync()).Type);
        await DataAsync(peer, 8, ends: true);
        await peer.AnswerAsync(stream);
        Assert.Equal("200", await push);
    }

    [Fact]
    public async Task SendAsync_ConnectionWindowUsedUp_NoFurtherRequestBegins()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.InitialWindowSize, 1_000_000)]);
        await using var _ = connection;
        await using var __ = peer;
        var large = connection.SendAsync("1", new byte[70_000]);
        var (stream, _) = await peer.ReadHeadersAsync();
        for (var received = 0; received < 65_535;)
        {
            received += (await peer.ReadAsync(FrameType.Data)).Payload.Length;
        }

        var small = connection.SendAsync("2", [1]);
        await PingAsync(peer);
        await peer.WriteAsync(FrameType.WindowUpdate, 0, 70_000);
        await DataAsync(peer, 70_000 - 65_535, ends: true);
        var (other, _, body) = await peer.ReadRequestAsync();
        Assert.Equal([1], body);
        await peer.AnswerAsync(other);
        await peer.AnswerAsync(stream);
        Assert.Equal(["200", "200"], [await small, await large]);
    }

    [Fact]
    public async Task SendAsync_BeforeTheFirstSettings_NothingIsSent()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(silent: true, observer: observed);
        await using var _ = connection;
        await using var __ = peer;
        var pushes = new[] { connection.SendAsync("1"), connection.SendAsync("2") };
        await peer.SettingsAsync();
        Assert.Equal("streams unlimited", await observed.NextAsync());

        // The acknowledgement comes first in the write that the requests are in.
        Assert.True((await peer.ReadAsync()).IsAck);
        await peer.AnswerAsync((await peer.ReadRequestAsync()).Stream);
        await peer.AnswerAsync((await peer.ReadRequestAsync()).Stream);
        Assert.Equal(["200", "200"], await Task.WhenAll(pushes));
    }

    [Fact]
    public async Task Settings_NotInTime_ConnectionEndsAndNothingWasSent()
    {
        var time = new FakeTimeProvider();
        var (connection, peer) = await Http2Peer.ConnectAsync(silent: true, time: time);
        await using var _ = peer;
        var push = connection.SendAsync("1");
        time.Advance(TimeSpan.FromSeconds(3.4));
        Assert.False(push.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.1));
        Assert.Equal("NotSent no-settings", await push);
        await connection.DisposeAsync();
        Assert.Equal("no-settings", connection.Closure!.Reason);
        Assert.Equal(FrameType.GoAway, (await peer.ReadAsync()).Type);
    }

    [Fact]
    public async Task Settings_StreamLimitFallsToOneAndRises_ItIsObeyedAndTold()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(observer: observed, settings: [(SettingId.MaxConcurrentStreams, 3)]);
        await using var _ = connection;
        await using var __ = peer;
        var pushes = Enumerable.Range(0, 8).Select(number => connection.SendAsync($"{number}")).ToArray();
        for (var i = 0; i < 3; i++)
        {
            await peer.ReadRequestAsync();
        }

        await peer.SettingsAsync((SettingId.MaxConcurrentStreams, 1));
        Assert.True((await peer.ReadAsync()).IsAck);
        await peer.AnswerAsync(1);
        await peer.AnswerAsync(3);
        await PingAsync(peer);
        await peer.AnswerAsync(5);
        Assert.Equal(7, (await peer.ReadRequestAsync()).Stream);
        await PingAsync(peer);
        await peer.SettingsAsync((SettingId.MaxConcurrentStreams, 100));
        foreach (var stream in new[] { 9, 11, 13, 15 })
        {
            Assert.Equal(stream, (await peer.ReadRequestAsync()).Stream);
            await peer.AnswerAsync(stream);
        }

        await peer.AnswerAsync(7);
        Assert.All(await Task.WhenAll(pushes), result => Assert.Equal("200", result));
        Assert.Equal(["streams 3", "streams 1", "streams 100"], [await observed.NextAsync(), await observed.NextAsync(), await observed.NextAsync()]);
    }

    [Fact]
    public async Task Answers_MuchData_WindowIsGivenBack()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        for (var i = 0; i < 40; i++)
        {
            var push = connection.SendAsync("1");
            var (stream, _, _) = await peer.ReadRequestAsync();
            await peer.AnswerAsync(stream, new string('x', 16_000));
            Assert.Equal(16_004, (await push).Length);
        }

        // 640 kB came, of a window of 1 MB that is renewed by halves.
        Assert.InRange(peer.GivenBack, 524_288, 640_000);
    }

    [Fact]
    public async Task Answers_OnlyPadding_ItsWindowIsGivenBackToo()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        byte[] padding = [255, .. new byte[255]];
        for (var i = 0; i < 9; i++)
        {
            var push = connection.SendAsync("1");
            var (stream, _, _) = await peer.ReadRequestAsync();
            await peer.HeadersAsync(stream, false, ":status: 200");
            for (var j = 0; j < 255; j++)
            {
                await peer.WriteAsync(FrameType.Data, FrameFlags.Padded, stream, padding);
            }

            await peer.WriteAsync(FrameType.Data, FrameFlags.Padded | FrameFlags.EndStreamOrAck, stream, padding);
            Assert.Equal("200", await push);
        }

        // 576 kB came without a byte of content; half of the window and more is given back once.
        while (peer.GivenBack == 0)
        {
            await peer.ReadAsync();
        }

        Assert.InRange(peer.GivenBack, 524_288, 589_824);
    }

    [Fact]
    public async Task SendAsync_QueueFull_NotSent()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(
            new Http2Limits { MaxWaiting = 2 }, settings: [(SettingId.MaxConcurrentStreams, 0)]);
        await using var _ = connection;
        await using var __ = peer;
        var waiting = new[] { connection.SendAsync("1"), connection.SendAsync("2") };
        Assert.Equal("NotSent connection-busy", await connection.SendAsync("3"));
        await connection.DisposeAsync();
        Assert.All(await Task.WhenAll(waiting), result => Assert.Equal("NotSent connection-closed", result));
    }

    /// <summary>When the answer is there, everything sent before it is: so nothing more came of the requests.</summary>
    private static async Task PingAsync(Http2Peer peer)
    {
        await peer.WriteAsync(FrameType.Ping, FrameFlags.None, 0, [1, 2, 3, 4, 5, 6, 7, 8]);
        var frame = await peer.ReadAsync();
        Assert.Equal((FrameType.Ping, true), (frame.Type, frame.IsAck));
        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8], frame.Payload);
    }

    private static async Task<byte[]> DataAsync(Http2Peer peer, int length, bool ends)
    {
        var frame = await peer.ReadAsync();
        Assert.Equal((FrameType.Data, length, ends), (frame.Type, frame.Payload.Length, frame.IsAck));
        return frame.Payload;
    }
}
