using Pnh.Channels.Net.Http2;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http2;

/// <summary>How requests and connections end, and what that says about sending again.</summary>
public sealed class Http2EndTests
{
    [Fact]
    public async Task GoAway_StreamsAboveTheLast_AreSafeToRetryAndTheOthersFinish()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(observer: observed, settings: [(SettingId.MaxConcurrentStreams, 3)]);
        await using var _ = peer;
        var pushes = new[] { connection.SendAsync("1"), connection.SendAsync("2"), connection.SendAsync("3"), connection.SendAsync("4") };
        for (var i = 0; i < 3; i++)
        {
            await peer.ReadRequestAsync();
        }

        await peer.GoAwayAsync(3, Http2ErrorCode.NoError, """{"reason":"Shutdown"}""");
        Assert.Equal("AboveLastStream going-away", await pushes[2]);
        Assert.Equal("NotSent connection-closed", await pushes[3]);
        Assert.Equal("NotSent connection-closed", await connection.SendAsync("5"));
        await peer.AnswerAsync(3);
        Assert.Equal("200", await pushes[1]);
        await peer.AnswerAsync(1, "gone", ":status: 410");
        Assert.Equal("410 gone", await pushes[0]);
        Assert.Equal(
            ["streams 3", """going-away 0 {"reason":"Shutdown"}""", "ended"],
            [await observed.NextAsync(), await observed.NextAsync(), await observed.NextAsync()]);
        Assert.Equal("drained", connection.Closure!.Reason);
    }

    [Fact]
    public async Task GoAway_WarningThenLastStream_OnlyTheSecondEndsRequests()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = peer;
        var pushes = new[] { connection.SendAsync("1"), connection.SendAsync("2") };
        await peer.ReadRequestAsync();
        await peer.ReadRequestAsync();
        await peer.GoAwayAsync(int.MaxValue, Http2ErrorCode.NoError);
        await peer.GoAwayAsync(1, Http2ErrorCode.EnhanceYourCalm);
        Assert.Equal("AboveLastStream going-away", await pushes[1]);
        await peer.AnswerAsync(1);
        Assert.Equal("200", await pushes[0]);
    }

    [Theory]
    [InlineData(Http2ErrorCode.RefusedStream, "Refused stream-refused")]
    [InlineData(Http2ErrorCode.InternalError, "Ambiguous connection-lost")]
    [InlineData(Http2ErrorCode.EnhanceYourCalm, "Ambiguous connection-lost")]
    [InlineData(Http2ErrorCode.NoError, "Ambiguous connection-lost")]
    internal async Task ResetStream_ByCode_SaysWhetherItIsSafe(Http2ErrorCode code, string expected)
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var pushes = new[] { connection.SendAsync("1"), connection.SendAsync("2") };
        await peer.ReadRequestAsync();
        await peer.ReadRequestAsync();
        await peer.WriteAsync(FrameType.ResetStream, 1, (uint)code);
        await peer.AnswerAsync(3);
        Assert.Equal([expected, "200"], await Task.WhenAll(pushes));
    }

    [Fact]
    public async Task Connection_ClosedByThePeer_SentIsAmbiguousAndWaitingIsSafe()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(observer: observed, settings: [(SettingId.MaxConcurrentStreams, 1)]);
        var sent = connection.SendAsync("1");
        var waiting = connection.SendAsync("2");
        await peer.ReadRequestAsync();
        await peer.DisposeAsync();
        Assert.Equal("Ambiguous connection-lost", await sent);
        Assert.Equal("NotSent connection-closed", await waiting);
        Assert.Equal(["streams 1", "ended"], [await observed.NextAsync(), await observed.NextAsync()]);
        Assert.Equal("NotSent connection-closed", await connection.SendAsync("3"));
        await connection.DisposeAsync();
    }

    [Fact]
    public async Task SendAsync_Canceled_StreamIsResetAndTheOthersGoOn()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        using var canceled = new CancellationTokenSource();
        var pushes = new[] { connection.SendAsync("1", cancellationToken: canceled.Token), connection.SendAsync("2") };
        await peer.ReadRequestAsync();
        await peer.ReadRequestAsync();
        await canceled.CancelAsync();
        Assert.Equal("canceled", await pushes[0]);
        var reset = await peer.ReadAsync();
        Assert.Equal((FrameType.ResetStream, 1, (uint)Http2ErrorCode.Cancel), (reset.Type, reset.Stream, reset.Number()));

        // An answer that was on its way all the same meets nobody, not even the next request in the same object.
        var next = connection.SendAsync("3");
        Assert.Equal(5, (await peer.ReadRequestAsync()).Stream);
        await peer.AnswerAsync(1, "late");
        await peer.AnswerAsync(3, "second");
        await peer.AnswerAsync(5, "third");
        Assert.Equal(["200 second", "200 third"], [await pushes[1], await next]);
    }

    [Fact]
    public async Task SendAsync_CanceledWhileItWaits_NothingOfItIsSent()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.MaxConcurrentStreams, 0)]);
        await using var _ = connection;
        await using var __ = peer;
        using var canceled = new CancellationTokenSource();
        var first = connection.SendAsync("1", cancellationToken: canceled.Token);
        var second = connection.SendAsync("2");
        await canceled.CancelAsync();
        Assert.Equal("canceled", await first);
        await peer.SettingsAsync((SettingId.MaxConcurrentStreams, 1));
        var (stream, headers, _) = await peer.ReadRequestAsync();
        Assert.Equal((1, ":path: /3/device/2"), (stream, headers[3]));
        await peer.AnswerAsync(stream);
        Assert.Equal("200", await second);
        Assert.Equal("canceled", await connection.SendAsync("3", cancellationToken: canceled.Token));
    }

    [Fact]
    public async Task Answer_BeforeTheBodyIsSent_CountsAndTheRestIsNotSent()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.InitialWindowSize, 5)]);
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync("1", new byte[10]);
        await peer.ReadHeadersAsync();
        await peer.ReadAsync(FrameType.Data);
        await peer.AnswerAsync(1, "too large", ":status: 413");
        Assert.Equal("413 too large", await push);
        var reset = await peer.ReadAsync();
        Assert.Equal((FrameType.ResetStream, 1), (reset.Type, reset.Stream));
    }

    [Fact]
    public async Task SendAsync_LastStreamId_TheConnectionDrains()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(new Http2Limits { FirstStream = int.MaxValue - 2 }, observer: observed);
        await using var _ = peer;
        var pushes = new[] { connection.SendAsync("1"), connection.SendAsync("2"), connection.SendAsync("3") };
        Assert.Equal(int.MaxValue - 2, (await peer.ReadRequestAsync()).Stream);
        Assert.Equal(int.MaxValue, (await peer.ReadRequestAsync()).Stream);
        Assert.Equal("NotSent connection-closed", await pushes[2]);
        await peer.AnswerAsync(int.MaxValue - 2);
        await peer.AnswerAsync(int.MaxValue);
        Assert.Equal(["200", "200"], [await pushes[0], await pushes[1]]);
        Assert.Equal(
            ["streams unlimited", "going-away 0 ", "ended"], [await observed.NextAsync(), await observed.NextAsync(), await observed.NextAsync()]);
    }

    [Fact]
    public async Task DisposeAsync_PeerThatNeverReads_Ends()
    {
        var time = new FakeTimeProvider();
        var (connection, peer) = await Http2Peer.ConnectAsync(time: time, settings: [(SettingId.InitialWindowSize, int.MaxValue)]);
        await using var _ = peer;
        await peer.WriteAsync(FrameType.WindowUpdate, 0, 2_000_000_000);
        var push = connection.SendAsync("1", new byte[32 * 1024 * 1024]);
        await peer.ReadHeadersAsync();
        var disposed = connection.DisposeAsync().AsTask();
        Assert.Equal("Ambiguous connection-lost", await push);
        time.Advance(TimeSpan.FromSeconds(1));
        await disposed.WaitAsync(Http2Peer.Patience);
    }

    [Fact]
    public async Task Peer_PingsAndReadsNothing_ConnectionEndsAtTheBound()
    {
        const int Pings = 5000; // of 17 bytes: above the bound of 64 kB, and little enough for the kernel to take what comes after the end
        var time = new FakeTimeProvider();
        var (connection, peer) = await Http2Peer.ConnectAsync(time: time, settings: [(SettingId.InitialWindowSize, int.MaxValue)]);
        await using var _ = peer;
        await peer.WriteAsync(FrameType.WindowUpdate, 0, 2_000_000_000);
        var push = connection.SendAsync("1", new byte[32 * 1024 * 1024]); // more than the kernel takes: the writer is stuck, and replies wait
        await peer.ReadHeadersAsync();
        var pings = new FrameBuffer(Pings * 17);
        for (var i = 0; i < Pings; i++)
        {
            pings.AppendFrame(FrameType.Ping, FrameFlags.None, 0, new byte[8]);
        }

        await peer.WriteAsync(pings.Memory);
        await peer.AnswerAsync(1); // read only if the connection lives on
        Assert.Equal("Ambiguous connection-lost", await push);
        var disposed = connection.DisposeAsync().AsTask();
        time.Advance(TimeSpan.FromSeconds(1));
        await disposed.WaitAsync(Http2Peer.Patience);
        Assert.Equal(new Http2Closure(Http2ErrorCode.EnhanceYourCalm, "protocol-error"), connection.Closure);
    }

    [Fact]
    public async Task KeepAlive_SilentPeer_IsPingedAndThenGivenUp()
    {
        var time = new FakeTimeProvider();
        var (connection, peer) = await Http2Peer.ConnectAsync(time: time);
        await using var _ = peer;

        // Idle connections are left alone (these options say so): the ping comes with the request.
        time.Advance(TimeSpan.FromSeconds(61));
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        time.Advance(TimeSpan.FromSeconds(60));
        var ping = await peer.ReadAsync();
        Assert.Equal((FrameType.Ping, false), (ping.Type, ping.IsAck));
        await peer.WriteAsync(FrameType.Ping, FrameFlags.EndStreamOrAck, 0, ping.Payload);

        // Frames are taken in their order: what answers a ping of the peer's own has taken the ack before it.
        await peer.WriteAsync(FrameType.Ping, FrameFlags.None, 0, new byte[8]);
        Assert.True((await peer.ReadAsync(FrameType.Ping)).IsAck);
        time.Advance(TimeSpan.FromSeconds(61));
        Assert.NotEqual(ping.Payload, (await peer.ReadAsync(FrameType.Ping)).Payload);
        time.Advance(TimeSpan.FromSeconds(21));
        Assert.Equal("Ambiguous connection-lost", await push);
        Assert.Equal("ping-timeout", connection.Closure!.Reason);
        await connection.DisposeAsync();
    }
}
