using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>What goes over the wire, seen frame by frame.</summary>
public sealed class Http2RequestTests
{
    [Fact]
    public async Task SendAsync_OnePush_ArrivesWithEveryHeaderAndBody()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var push = connection.SendAsync("abcdef", [1, 2, 3]);
        var (stream, headers, body) = await peer.ReadRequestAsync();
        Assert.Equal((1, 3), (stream, body.Length));
        Assert.Equal(Pushes.Lines("abcdef", 3), headers);
        await peer.AnswerAsync(stream);
        Assert.Equal("200", await push);
    }

    [Fact]
    public async Task SendAsync_SamePushAgain_RepeatedHeadersTakeAByte()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        List<int> sizes = [];
        for (var i = 0; i < 3; i++)
        {
            var push = connection.SendAsync("abcdef", []);
            var frame = await peer.ReadAsync(FrameType.Headers);
            sizes.Add(frame.Payload.Length);
            var lines = new HeaderLines();
            Assert.Equal(HpackResult.Decoded, peer.Decoder.Decode(frame.Payload, lines));
            Assert.Equal(Pushes.Lines("abcdef", 0), lines.Lines);
            await peer.AnswerAsync(frame.Stream);
            await push;
        }

        // Method, scheme, authority and four indexed headers: a byte each. Path 18, apns-id 39, expiration 13, length 4.
        Assert.True(sizes[0] > 200);
        Assert.Equal([81, 81], sizes[1..]);
    }

    [Fact]
    public async Task SendAsync_RequestsReadyTogether_LeaveTogether()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.MaxConcurrentStreams, 0)]);
        await using var _ = connection;
        await using var __ = peer;
        var pushes = Enumerable.Range(0, 50).Select(number => connection.SendAsync($"{number}")).ToArray();
        await peer.SettingsAsync((SettingId.MaxConcurrentStreams, 100));
        for (var number = 0; number < 50; number++)
        {
            var (stream, headers, _) = await peer.ReadRequestAsync();
            Assert.Equal((1 + (2 * number), $":path: /3/device/{number}"), (stream, headers[3]));
            await peer.AnswerAsync(stream, $"{number}");
        }

        Assert.Equal(Enumerable.Range(0, 50).Select(number => $"200 {number}"), await Task.WhenAll(pushes));
    }

    [Fact]
    public async Task SendAsync_PeerShrinksTheTableToNothingAndBack_EveryHeaderStillArrives()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        uint[] sizes = [4096, 0, 0, 100, 65_536, 300, 4096];
        foreach (var size in sizes)
        {
            // The decoder of a peer with that limit: it refuses any update above it.
            await peer.SettingsAsync((SettingId.HeaderTableSize, 0), (SettingId.HeaderTableSize, size));
            Assert.True((await peer.ReadAsync(FrameType.Settings)).IsAck);
            for (var i = 0; i < 2; i++)
            {
                var push = connection.SendAsync("a", []);
                var (stream, headers, _) = await peer.ReadRequestAsync();
                Assert.Equal(Pushes.Lines("a", 0), headers);
                Assert.InRange(peer.Decoder.Table.Size, 0, (int)size);
                await peer.AnswerAsync(stream);
                Assert.Equal("200", await push);
            }
        }
    }

    [Fact]
    public async Task SendAsync_HeadersAboveAFrame_GoOnInContinuations()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var path = new string('x', 40_000);
        var push = connection.SendAsync(path, [7]);
        var (stream, headers, body) = await peer.ReadRequestAsync();
        Assert.Equal(Pushes.Lines(path, 1), headers);
        Assert.Equal([7], body);
        await peer.AnswerAsync(stream);
        Assert.Equal("200", await push);
    }

    [Fact]
    public async Task SendAsync_PeerTakesFewHeaders_TooManyAreNotSent()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync(settings: [(SettingId.MaxHeaderListSize, 1000)]);
        await using var _ = connection;
        await using var __ = peer;
        Assert.Equal("NotSent headers-too-large", await connection.SendAsync(new string('x', 1000)));
        var push = connection.SendAsync("a");
        await peer.AnswerAsync((await peer.ReadRequestAsync()).Stream);
        Assert.Equal("200", await push);
    }

    [Fact]
    public async Task SendAsync_SplicedBody_ArrivesJoined()
    {
        var (connection, peer) = await Http2Peer.ConnectAsync();
        await using var _ = connection;
        await using var __ = peer;
        var request = Pushes.Push() with
        {
            Body = new SplicedBody("{\"token\":\""u8.ToArray(), "\",\"ttl\":\""u8.ToArray(), "\"}"u8.ToArray()),
            FirstGap = "abc",
            SecondGap = "60s",
            Authority = "other.example",
        };
        var push = connection.SendAsync(request, CancellationToken.None);
        var (stream, headers, body) = await peer.ReadRequestAsync();
        Assert.Equal("""{"token":"abc","ttl":"60s"}""", System.Text.Encoding.ASCII.GetString(body));
        Assert.Contains(":authority: other.example", headers);
        await peer.AnswerAsync(stream);
        Assert.Equal(200, (await push).Status);
    }
}
