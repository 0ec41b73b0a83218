using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

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

    private static void Gone(FrameBuffer output, int stream)
    {
        // :status with a literal value, named by the static table.
        output.AppendFrame(FrameType.Headers, FrameFlags.EndHeaders, stream, [0x08, 3, (byte)'4', (byte)'1', (byte)'0']);
        output.AppendFrame(FrameType.Data, FrameFlags.EndStreamOrAck, stream, "{\"reason\":\"Unregistered\"}"u8);
    }

    [Fact]
    public async Task SendAsync_ManyAtOnce_AllocatesNothingPerRequest()
    {
        var (client, server) = await Http2Peer.StreamsAsync();
        await using var connection = Http2Connection.Start(
            client, new ConnectionOptions { Origin = new Uri("http://localhost") }, new Observed(), TimeProvider.System, Http2Limits.Default);
        using var stop = new CancellationTokenSource();
        var answering = Task.Run(() => FrugalServer.AnswerAllAsync(server, Gone));
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
}
