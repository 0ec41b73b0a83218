using System.Net.Sockets;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>
/// A server that sends anything: whole frames with wrong contents, damaged ones, noise. Every request must end with a defined result and the
/// connection with a reason that is no bug of ours. A failure names its seed.
/// </summary>
public sealed class FuzzTests
{
    private static readonly string[] Blocks =
        ["88", "8c", "0803343130", "880f2a0131", "3fe11f88", "20883f", "48826402", "be", "c0bf", "4003782d61017a", "0085ffffffffff", "00836f6f6f", "ff80808080"];

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 200)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public async Task Connection_PeerSendsAnything_EveryRequestEnds(int seed)
    {
        var random = new Random(seed);
        var (client, server) = await Http2Peer.StreamsAsync();
        await using var _ = server;
        var connection = Http2Connection.Start(
            client,
            new ConnectionOptions { Origin = new Uri("http://localhost") },
            new Observed(),
            TimeProvider.System,
            new Http2Limits { MaxHeaderListBytes = 2048 });
        var draining = DrainAsync(server);
        var pushes = Enumerable.Range(0, 20).Select(number => PushAsync(connection, number, random.Next(5) == 0)).ToArray();
        try
        {
            foreach (var bytes in Script(random))
            {
                await server.WriteAsync(bytes);
                await Task.Yield();
            }

            server.Socket.Shutdown(SocketShutdown.Send);
        }
        catch (IOException)
        {
            // The connection has had enough.
        }

        await Task.WhenAll(pushes).WaitAsync(Http2Peer.Patience);
        Assert.Equal("NotSent connection-closed", await PushAsync(connection, 99, cancels: false));
        await connection.DisposeAsync().AsTask().WaitAsync(Http2Peer.Patience);
        Assert.True(connection.Closure!.Fault is null or IOException or ObjectDisposedException, $"seed {seed}: {connection.Closure}");
        await draining;
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Decode_AnyBytes_StaysWithinItsLimits(int seed)
    {
        var random = new Random(seed);
        var decoder = new HpackDecoder(512, 2048);
        for (var i = 0; i < 200; i++)
        {
            var block = new byte[random.Next(1, 300)];
            random.NextBytes(block);
            var lines = new HeaderLines();
            decoder.Decode(block, lines);
            Assert.InRange(decoder.Table.Size, 0, 512);
            Assert.True(lines.Lines.Sum(line => line.Length + 30) <= 2048);
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void EncodeDecode_AnyHeaders_ComeBack(int seed)
    {
        var random = new Random(seed);
        var encoder = new HpackEncoder(huffman: random.Next(2) == 0);
        var decoder = new HpackDecoder(4096, 65_536);
        for (var i = 0; i < 100; i++)
        {
            if (random.Next(4) == 0)
            {
                encoder.Limit((uint)random.Next(0, 5000));
            }

            var block = new FrameBuffer(16);
            encoder.Begin(block);
            List<string> headers = [];
            for (var count = random.Next(1, 10); count > 0; count--)
            {
                var name = "x-" + random.Next(20);
                var value = new string([.. Enumerable.Range(0, random.Next(60) == 0 ? 5000 : random.Next(40)).Select(_ => (char)random.Next(' ', '\x7f'))]);
                value = random.Next(2) == 0 ? value : "same" + random.Next(3);
                headers.Add($"{name}: {value}");
                encoder.Header(block, name, value, isShared: random.Next(3) != 0);
            }

            var lines = new HeaderLines();
            Assert.Equal(HpackResult.Decoded, decoder.Decode(block.Written, lines));
            Assert.Equal(headers, lines.Lines);
            Assert.Equal(encoder.Table.Size, decoder.Table.Size);
        }
    }

    private static IEnumerable<byte[]> Script(Random random)
    {
        // Most begin as a server should, so that the later frames are read at all.
        var buffer = new FrameBuffer(256);
        if (random.Next(10) != 0)
        {
            buffer.AppendFrame(FrameType.Settings, FrameFlags.None, 0, random.Next(2) == 0 ? [] : [0, 3, 0, 0, 0, (byte)random.Next(30)]);
        }

        var frames = random.Next(5, 80);
        for (var i = 0; i < frames; i++)
        {
            Append(buffer, random);
            var bytes = buffer.Written.ToArray();
            if (random.Next(30) == 0)
            {
                bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
            }

            if (random.Next(3) == 0)
            {
                // In two pieces, anywhere.
                var cut = random.Next(bytes.Length);
                yield return bytes[..cut];
                bytes = bytes[cut..];
            }

            yield return bytes;
            buffer.Truncate(0);
        }
    }

    private static void Append(FrameBuffer buffer, Random random)
    {
        var stream = random.Next(8) == 0 ? random.Next(50) : 1 + (2 * random.Next(20));
        var noise = new byte[random.Next(3) == 0 ? random.Next(300) : random.Next(10)];
        random.NextBytes(noise);
        switch (random.Next(12))
        {
            case < 4:
                var block = Convert.FromHexString(random.Next(3) == 0 ? Blocks[random.Next(Blocks.Length)] : "88");
                buffer.AppendFrame(FrameType.Headers, (FrameFlags)(4 | random.Next(2)), stream, block);
                break;
            case < 7:
                buffer.AppendFrame(FrameType.Data, (FrameFlags)(random.Next(2) | (random.Next(5) == 0 ? 8 : 0)), stream, noise);
                break;
            case 7:
                buffer.AppendFrame(FrameType.WindowUpdate, random.Next(2) * stream, (uint)random.Next(1, 100_000));
                break;
            case 8:
                buffer.AppendFrame(FrameType.ResetStream, stream, (uint)random.Next(14));
                break;
            case 9:
                buffer.AppendFrame(FrameType.Settings, FrameFlags.None, 0, [0, (byte)random.Next(1, 7), 0, 0, (byte)random.Next(256), (byte)random.Next(256)]);
                break;
            case 10 when random.Next(3) == 0:
                buffer.AppendFrame((FrameType)random.Next(12), (FrameFlags)random.Next(256), random.Next(2) * stream, noise);
                break;
            default:
                buffer.AppendFrame(FrameType.Ping, (FrameFlags)random.Next(2), 0, [1, 2, 3, 4, 5, 6, 7, 8]);
                break;
        }
    }

    private static async Task<string> PushAsync(Http2Connection connection, int number, bool cancels)
    {
        using var canceled = new CancellationTokenSource();
        var push = connection.SendAsync($"{number}", new byte[number * 10], canceled.Token);
        if (cancels)
        {
            await Task.Yield();
            await canceled.CancelAsync();
        }

        return await push;
    }

    private static async Task DrainAsync(NetworkStream stream)
    {
        var bytes = new byte[4096];
        try
        {
            while (await stream.ReadAsync(bytes) > 0)
            {
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException)
        {
        }
    }
}
