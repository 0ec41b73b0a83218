using System.Net.Sockets;
using Pnh.Channels.Http.Wire;
using Pnh.Channels.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Runs when nothing else does: what all threads of the process allocate is counted.</summary>
[CollectionDefinition(nameof(AllocationTests), DisableParallelization = true)]
public sealed class AllocationCollection;

/// <summary>What a request costs the heap.</summary>
[Collection(nameof(AllocationTests))]
public sealed class AllocationTests
{
    private const int Workers = 50;
    private const int Pushes = 1000;

    [Fact]
    public async Task SendAsync_ManyAtOnce_AllocatesNothingPerRequest()
    {
        var (client, server) = await Http2Peer.StreamsAsync();
        await using var connection = Http2Connection.Start(
            client, new ConnectionOptions { Origin = new Uri("http://localhost") }, new Observed(), TimeProvider.System, Http2Limits.Default);
        using var stop = new CancellationTokenSource();
        var answering = Task.Run(() => AnswerAllAsync(server));
        var push = Http2.Pushes.Push();

        // The first rounds make the state that the others use again. All threads count: of several rounds one is undisturbed.
        await RoundAsync(connection, push, stop.Token);
        await RoundAsync(connection, push, stop.Token);
        var least = long.MaxValue;
        for (var round = 0; round < 10 && least > Workers * Pushes; round++)
        {
            var before = GC.GetTotalAllocatedBytes(precise: true);
            await RoundAsync(connection, push, stop.Token);
            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        // The fifty workers of the test itself take some 600 bytes each; of 50,000 requests none takes a byte.
        Assert.InRange(least, 0, Workers * Pushes);
        await connection.DisposeAsync();
        await answering;
    }

    private static Task RoundAsync(Http2Connection connection, ProviderRequest push, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, Workers).Select(_ => WorkAsync(connection, push, cancellationToken)));

    private static async Task WorkAsync(Http2Connection connection, ProviderRequest push, CancellationToken cancellationToken)
    {
        for (var i = 0; i < Pushes; i++)
        {
            using var answer = await connection.SendAsync(push, cancellationToken);
            if (answer.Status != 410 || answer.Body.Length != 25)
            {
                throw new InvalidOperationException($"{answer.Status} {answer.Fault}");
            }
        }
    }

    /// <summary>A server that allocates nothing itself: it answers each stream's end with headers from the static table and a body.</summary>
    private static async Task AnswerAllAsync(NetworkStream stream)
    {
        var input = new byte[64 * 1024];
        var output = new FrameBuffer(64 * 1024);
        output.AppendFrame(FrameType.Settings, FrameFlags.None, 0, []);
        var filled = -24;
        await stream.ReadExactlyAsync(input.AsMemory(0, -filled));
        filled = 0;
        while (true)
        {
            await stream.WriteAsync(output.Memory);
            output.Truncate(0);
            int read;
            try
            {
                read = await stream.ReadAsync(input.AsMemory(filled));
            }
            catch (IOException)
            {
                return;
            }

            if (read == 0)
            {
                return;
            }

            filled += read;
            var taken = Answer(input.AsSpan(0, filled), output);
            input.AsSpan(taken, filled - taken).CopyTo(input);
            filled -= taken;
        }
    }

    private static int Answer(ReadOnlySpan<byte> input, FrameBuffer output)
    {
        var taken = 0;
        while (input.Length - taken >= FrameHeader.Size)
        {
            var header = FrameHeader.Read(input[taken..]);
            if (input.Length - taken - FrameHeader.Size < header.Length)
            {
                break;
            }

            taken += FrameHeader.Size + header.Length;
            if (header.Type == FrameType.Data)
            {
                // :status with a literal value, named by the static table.
                output.AppendFrame(FrameType.Headers, FrameFlags.EndHeaders, header.Stream, [0x08, 3, (byte)'4', (byte)'1', (byte)'0']);
                output.AppendFrame(FrameType.Data, FrameFlags.EndStreamOrAck, header.Stream, "{\"reason\":\"Unregistered\"}"u8);
                output.AppendFrame(FrameType.WindowUpdate, 0, (uint)header.Length);
            }
        }

        return taken;
    }
}
