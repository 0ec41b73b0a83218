using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Answers as they should be and as they should not.</summary>
public sealed class Http2AnswerTests
{
    [Fact]
    public async Task Answer_HeadersInPiecesWithPaddingPriorityAndTrailers_IsRead()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync(Pushes.Push(wanted: WantedHeaders.ApnsId | WantedHeaders.ApnsUniqueId), CancellationToken.None);
        await peer.ReadRequestAsync();
        await peer.HeadersAsync(1, false, ":status: 103", "link: x");
        var block = Http2Peer.Block(":status: 200", "apns-id: one", "apns-unique-id: two", "retry-after: 7", "date: now");
        await peer.WriteAsync(FrameType.Headers, FrameFlags.Padded | FrameFlags.Priority, 1, [2, 0, 0, 0, 0, 0, .. block[..10], 0, 0]);
        await peer.WriteAsync(FrameType.Continuation, FrameFlags.None, 1, []);
        await peer.WriteAsync(FrameType.Continuation, FrameFlags.EndHeaders, 1, block[10..]);
        await peer.WriteAsync(FrameType.Data, FrameFlags.Padded, 1, [1, (byte)'o', 0]);
        await peer.WriteAsync((FrameType)0x42, FrameFlags.EndStreamOrAck, 1, [1, 2, 3]);
        await peer.WriteAsync(FrameType.Data, FrameFlags.None, 1, [(byte)'k']);
        await peer.HeadersAsync(1, true, "trailer: x");
        using var answer = await push;
        Assert.Equal((200, "ok", "one", "two"), (answer.Status, answer.Text(), answer.ApnsId, answer.ApnsUniqueId));
        Assert.Null(answer.RetryAfter);
        Assert.Null(answer.Date);
    }

    [Fact]
    public async Task Answer_Refusal_BringsRetryAfterAndDate()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync(Pushes.Push(), CancellationToken.None);
        await peer.ReadRequestAsync();
        await peer.AnswerAsync(1, "busy", ":status: 503", "retry-after: 7", "retry-after: 8", "date: now", "apns-id: one");
        using var answer = await push;
        Assert.Equal((503, "busy", "7", "now"), (answer.Status, answer.Text(), answer.RetryAfter, answer.Date));
        Assert.Null(answer.ApnsId);
    }

    [Fact]
    public async Task Answer_BodyWithoutEnd_IsCutAndTheStreamReset()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync(Pushes.Push(), CancellationToken.None);
        await peer.ReadRequestAsync();
        await peer.HeadersAsync(1, false, ":status: 500");
        for (var i = 0; i < 5; i++)
        {
            await peer.WriteAsync(FrameType.Data, FrameFlags.None, 1, new byte[16_384]);
        }

        // Frames are taken in their order: an answer that was not cut would leave only this ping's reply.
        await peer.WriteAsync(FrameType.Ping, FrameFlags.None, 0, new byte[8]);
        var reset = await peer.ReadAsync();
        Assert.Equal((FrameType.ResetStream, (uint)Http2ErrorCode.Cancel), (reset.Type, reset.Number()));
        using var answer = await push;
        Assert.Equal((500, ProviderAnswer.MaxBodyBytes), (answer.Status, answer.Body.Length));
    }

    [Theory]
    [InlineData(":status: 200", ":status: 200")]
    [InlineData("apns-id: 1")]
    [InlineData("apns-id: 1", ":status: 200")]
    [InlineData(":status: 2000")]
    [InlineData(":status: 000")]
    [InlineData(":status: 101")]
    [InlineData(":status: 200", "Apns-Id: 1")]
    [InlineData(":status: 200", ":path: /")]
    public async Task Answer_NoHttp_IsAmbiguousAndTheConnectionLives(params string[] headers)
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        await peer.HeadersAsync(1, false, headers);
        Assert.Equal("Ambiguous malformed-answer", await push);
        Assert.Equal((uint)Http2ErrorCode.ProtocolError, (await peer.ReadAsync(FrameType.ResetStream)).Number());
        var next = connection.SendAsync("2");
        await peer.ReadRequestAsync();
        await peer.AnswerAsync(3);
        Assert.Equal("200", await next);
    }

    [Fact]
    public async Task Answer_HeadersAboveTheLimit_TheTableStaysInStep()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(new Http2Limits { MaxHeaderListBytes = 1000 });
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        var encoder = new HpackEncoder();
        var block = new FrameBuffer(64);
        encoder.Header(block, ":status", "404", isShared: true);
        encoder.Header(block, "filler", new string('x', 900), isShared: false);
        encoder.Header(block, "retry-after", "17", isShared: true);
        await peer.WriteAsync(FrameType.Headers, FrameFlags.EndHeaders | FrameFlags.EndStreamOrAck, 1, block.Written.ToArray());
        Assert.Equal("Ambiguous malformed-answer", await push);
        var next = connection.SendAsync(Pushes.Push(), CancellationToken.None);
        await peer.ReadRequestAsync();
        block.Truncate(0);
        encoder.Header(block, ":status", "429", isShared: true);
        encoder.Header(block, "retry-after", "17", isShared: true);
        await peer.WriteAsync(FrameType.Headers, FrameFlags.EndHeaders | FrameFlags.EndStreamOrAck, 3, block.Written.ToArray());
        var answer = await next;
        Assert.Equal((429, "17"), (answer.Status, answer.RetryAfter));
    }

    /// <summary>Type, flags, stream, payload in hexadecimal, and the code that the connection must end with.</summary>
    public static TheoryData<int, int, int, string, uint> Violations => new()
    {
        { 0, 0, 0, "00", 1 },              // DATA on the connection
        { 0, 0, 2, "00", 1 },              // on a stream of the server's
        { 0, 0, 99, "00", 1 },             // on one that was never opened
        { 0, 8, 1, "05", 1 },              // padding without end
        { 0, 8, 1, "", 1 },
        { 1, 4, 0, "88", 1 },              // HEADERS on the connection
        { 1, 4, 99, "88", 1 },
        { 1, 0x24, 1, "00", 1 },           // priority cut off
        { 1, 4, 1, "ff", 9 },              // an index without end
        { 1, 4, 1, "c0", 9 },              // an index that nothing has
        { 1, 4, 1, "80", 9 },              // index 0
        { 1, 4, 1, "883f", 9 },            // a size update behind a header
        { 1, 4, 1, "3fe2ff03", 9 },        // a table above our limit
        { 1, 4, 1, "0085ffffffffff", 9 },  // Huffman: the end symbol
        { 3, 0, 1, "0000", 6 },
        { 3, 0, 0, "00000000", 1 },
        { 3, 0, 99, "00000000", 1 },
        { 4, 0, 1, "", 1 },
        { 4, 0, 0, "00", 6 },
        { 4, 1, 0, "000100000000", 6 },
        { 4, 0, 0, "000200000001", 1 },    // the server may not push
        { 4, 0, 0, "000480000000", 3 },
        { 4, 0, 0, "000500000001", 1 },
        { 5, 4, 1, "0000000288", 1 },      // PUSH_PROMISE
        { 6, 0, 0, "00", 6 },
        { 6, 0, 1, "0000000000000000", 1 },
        { 7, 0, 1, "0000000000000000", 1 },
        { 7, 0, 0, "00000000", 6 },
        { 8, 0, 0, "00000000", 1 },
        { 8, 0, 0, "7fffffff", 3 },
        { 8, 0, 0, "00", 6 },
        { 8, 0, 99, "00000001", 1 },
        { 9, 4, 1, "88", 1 },              // CONTINUATION of nothing
    };

    [Theory]
    [MemberData(nameof(Violations))]
    public async Task Frame_AgainstTheProtocol_ConnectionEndsWithItsCode(int type, int flags, int stream, string payload, uint code)
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = peer;
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        await peer.WriteAsync((FrameType)type, (FrameFlags)flags, stream, Convert.FromHexString(payload));
        Assert.Equal(code, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        Assert.Equal("Ambiguous connection-lost", await push);
        await connection.DisposeAsync();
        Assert.Equal(new Http2Closure((Http2ErrorCode)code, "protocol-error"), connection.Closure);
    }

    [Fact]
    public async Task Peer_FirstFrameIsNoSettings_ConnectionEnds()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(silent: true);
        await using var _ = peer;
        await peer.WriteAsync(FrameType.Ping, FrameFlags.None, 0, new byte[8]);
        Assert.Equal((uint)Http2ErrorCode.ProtocolError, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        await connection.DisposeAsync();
    }

    [Fact]
    public async Task Peer_FrameAboveOurLimit_ConnectionEnds()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = peer;
        await peer.WriteAsync(new byte[] { 0, 0x40, 1, 0, 0, 0, 0, 0, 1 });
        Assert.Equal((uint)Http2ErrorCode.FrameSizeError, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        await connection.DisposeAsync();
    }

    [Fact]
    public async Task Peer_EndlessContinuations_ConnectionEnds()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = peer;
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        await peer.WriteAsync(FrameType.Headers, FrameFlags.None, 1, []);
        for (var i = 0; i < 17; i++)
        {
            await peer.WriteAsync(FrameType.Continuation, FrameFlags.None, 1, []);
        }

        Assert.Equal((uint)Http2ErrorCode.EnhanceYourCalm, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        Assert.Equal("Ambiguous connection-lost", await push);
        await connection.DisposeAsync();
    }

    [Fact]
    public async Task Peer_GoAwayAgainAndAgain_ConnectionEnds()
    {
        var observed = new Observed();
        var (connection, peer) = await Http2Peer.ConnectAsync(observer: observed);
        await using var _ = peer;
        var push = connection.SendAsync("1");
        await peer.ReadRequestAsync();
        for (var i = 0; i < 9; i++)
        {
            await peer.GoAwayAsync(1, Http2ErrorCode.NoError);
        }

        Assert.Equal((uint)Http2ErrorCode.EnhanceYourCalm, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        Assert.Equal("Ambiguous connection-lost", await push);
        await connection.DisposeAsync();
        Assert.Equal("streams unlimited", await observed.NextAsync());
        for (var i = 0; i < 8; i++)
        {
            Assert.Equal("going-away 0 ", await observed.NextAsync());
        }

        Assert.Equal("ended 11", await observed.NextAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Peer_InterimAnswersWithoutEnd_ConnectionEnds(bool ofAnEndedStream)
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = peer;
        using var given = new CancellationTokenSource();
        var push = connection.SendAsync("1", cancellationToken: given.Token);
        await peer.ReadRequestAsync();
        if (ofAnEndedStream)
        {
            await given.CancelAsync();
            Assert.Equal("canceled", await push);
        }

        for (var i = 0; i < 1001; i++)
        {
            await peer.HeadersAsync(1, false, ":status: 103");
        }

        Assert.Equal((uint)Http2ErrorCode.EnhanceYourCalm, (await peer.ReadAsync(FrameType.GoAway)).Number(4));
        Assert.Equal(ofAnEndedStream ? "canceled" : "Ambiguous connection-lost", await push);
        await connection.DisposeAsync();
    }

    [Fact]
    public async Task Peer_InterimAnswersBelowTheBound_CountAnewAfterEachAnswer()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        for (var stream = 1; stream <= 3; stream += 2)
        {
            var push = connection.SendAsync("1");
            await peer.ReadRequestAsync();
            for (var i = 0; i < 600; i++)
            {
                await peer.HeadersAsync(stream, false, ":status: 100");
            }

            await peer.AnswerAsync(stream);
            Assert.Equal("200", await push);
        }
    }
}
