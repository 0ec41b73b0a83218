using System.Net.Security;
using System.Security.Cryptography;
using Pnh.Channels.Apns;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Sender;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.Tests.Http2;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.Apns;

/// <summary>What a push costs the heap above the connection: sender, pipeline, pool, pace, standing.</summary>
[Collection(nameof(AllocationTests))]
public sealed class ApnsAllocationTests
{
    private const int Workers = 50;
    private const int Pushes = 1000;

    /// <summary>A string of 36 characters: the header that is another one for each delivery.</summary>
    private const int ApnsIdBytes = 96;

    /// <summary>For a worker that begins: the four states of its first push, which the others of its round hand on to each other, since the pool keeps few.</summary>
    private const int WorkerBytes = 4096;

    private static readonly byte[] Ok = [0x88];

    [Fact]
    public async Task SendAsync_DirectConnection_AllocatesTheApnsIdAndNothingElse()
    {
        // The pool dials this one; the pushes go over a connection beside it, whose server allocates nothing.
        await using var dialled = await ProviderStandIn.StartAsync(200);
        var (client, server) = await Http2Peer.StreamsAsync();
        var answering = Task.Run(() => FrugalServer.AnswerAllAsync(
            server, static (output, stream) => output.AppendFrame(FrameType.Headers, FrameFlags.EndHeaders | FrameFlags.EndStreamOrAck, stream, Ok)));
        var services = TestServices.For(dialled.Address, TimeProvider.System, new ConnectionTransports(new Beside(client), static _ => true, TimeProvider.System));
        using var identity = new ApnsCredential("TEAM123456", "KEY1234567", ECDsa.Create(ECCurve.NamedCurves.nistP256), TimeProvider.System);
        var account = new ApnsAccount(
            "demo/0", "demo", "com.example", ApnsAccounts.Production, dialled.Address, identity, 1, new DevicePace(0, TimeProvider.System), new ConfigurationStop(TimeProvider.System));
        using var stop = new CancellationTokenSource();
        var sender = new ApnsSender(account, EventClass.Message, new TrunkTable<ApnsTrunkKey>(), new AddressStanding(TimeProvider.System), services);
        var accepted = Sample.Event(TimeProvider.System, notification: new Notification { Title = "Hello" });
        Delivery[] deliveries = [.. Enumerable.Range(0, Workers).Select(number => Sample.Delivery(accepted, ApnsFixture.Address(), device: $"phone-{number}"))];

        // The first rounds make the state that the others use again. All threads count: of several rounds one is undisturbed.
        await RoundAsync(sender, deliveries, stop.Token);
        await RoundAsync(sender, deliveries, stop.Token);
        var least = long.MaxValue;
        for (var round = 0; round < 10 && least > Workers * WorkerBytes; round++)
        {
            var before = GC.GetTotalAllocatedBytes(precise: true);
            await RoundAsync(sender, deliveries, stop.Token);
            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before - (Workers * Pushes * ApnsIdBytes));
        }

        // One object per push would be 24 bytes each, 1.2 MB in all.
        Assert.InRange(least, 0, Workers * WorkerBytes);
        await sender.Quarantine!.DisposeAsync();
        await sender.DisposeAsync();
        await answering;
    }

    private static Task RoundAsync(ApnsSender sender, Delivery[] deliveries, CancellationToken cancellationToken) =>
        Task.WhenAll(deliveries.Select(delivery => WorkAsync(sender, delivery, cancellationToken)));

    private static async Task WorkAsync(ApnsSender sender, Delivery delivery, CancellationToken cancellationToken)
    {
        for (var i = 0; i < Pushes; i++)
        {
            var result = await sender.SendAsync(delivery, cancellationToken);
            if (result.Status != DeliveryStatus.Accepted)
            {
                throw new InvalidOperationException($"{result.Status} {result.Reason}");
            }
        }
    }

    private sealed class Beside(Stream stream) : IConnectionTransport
    {
        public string Name => "beside";

        public IProviderConnection Open(SslStream dialled, ConnectionOptions options, IConnectionObserver observer)
        {
            dialled.Dispose();
            return Http2Connection.Start(stream, options, observer, TimeProvider.System, Http2Limits.Default);
        }
    }
}
