using System.Net.Security;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Tests.Apns;
using Pnh.Channels.Tests.Http.Wire;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

/// <summary>What happens to a delivery while its sender has it.</summary>
public sealed class ProviderSenderTests
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    [Fact]
    public async Task SendAsync_SettledDuringTheHandshake_NoRequest()
    {
        var handshakes = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new RawHttp2Server(handshakes.Task);
        await using var apns = ApnsFixture.At(server.Address, TimeProvider.System);
        var delivery = Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address());
        var accept = server.AcceptAsync();
        var send = apns.SendAsync(delivery);
        await server.Dialled.WaitAsync(Sample.Limit);

        Sample.Settle(delivery);
        handshakes.SetResult();

        Assert.Equal(DeliveryStatus.Expired, (await send).Status);

        // A client's first stream is 1 (RFC 9113 section 5.1.1): the next push is the first request of all.
        var next = apns.SendAsync(Sample.Event(apns.Time, notification: Hello, id: "event-2"));
        var peer = await accept;
        var stream = await peer.NextRequestAsync();
        Assert.Equal(1, stream);
        await peer.AnswerAsync(stream);
        Assert.Equal(DeliveryStatus.Accepted, (await next).Status);
    }

    [Fact]
    public async Task SendAsync_CallerStopsAndTheRequestLeavesAllTheSame_UnknownAndNotThrown()
    {
        var late = new LeavesWhenStopped();
        ChannelHost.Transport.Value = late;
        await using var apns = await ApnsFixture.StartAsync(static (_, _) => new Reply(200));
        using var stop = new CancellationTokenSource();
        var send = apns.Sender.SendAsync(Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address()), stop.Token).AsTask();
        await late.Asked.WaitAsync(Sample.Limit);

        await stop.CancelAsync();

        var result = await send.WaitAsync(Sample.Limit);
        Assert.Equal((DeliveryStatus.Unavailable, "stopped", true), (result.Status, result.Reason, result.IsUnknown));
    }

    [Fact]
    public async Task SendAsync_SettledBetweenTwoAttempts_NotTriedAgain()
    {
        var time = new FakeTimeProvider();
        Delivery? delivery = null;
        await using var apns = await ApnsFixture.StartAsync(
            (_, n) =>
            {
                Sample.Settle(delivery!);
                return n == 0 ? new Reply(503, """{"reason":"ServiceUnavailable"}""") : new Reply(200);
            },
            time);
        delivery = Sample.Delivery(Sample.Event(time, notification: Hello, ttl: TimeSpan.FromDays(1)), ApnsFixture.Address());

        var send = apns.SendAsync(delivery);
        while (await Task.WhenAny(send, Task.Delay(5)) != send)
        {
            time.Advance(TimeSpan.FromMilliseconds(50));
        }

        Assert.Equal(DeliveryStatus.Expired, (await send).Status);
        Assert.Single(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_PeerThatNeverSpeaks_NothingWasSentAndTheReasonSaysWhy()
    {
        var time = new FakeTimeProvider();
        await using var server = new RawHttp2Server();
        await using var apns = ApnsFixture.At(server.Address, time);
        var send = apns.SendAsync(Sample.Event(time, notification: Hello));
        await server.AcceptSilentAsync();
        while (await Task.WhenAny(send, Task.Delay(5)) != send)
        {
            time.Advance(TimeSpan.FromMilliseconds(50));
        }

        // On a slow machine the handshake of a second dial may take longer than this clock allows.
        var result = await send;
        Assert.Contains(result.Reason, (string[])["no-settings", "connect-timeout"]);
        Assert.Equal((DeliveryStatus.Unavailable, true, false), (result.Status, result.IsUnasked, result.IsUnknown));
    }

    /// <summary>The peer's SETTINGS come in the moment in which the request is taken back.</summary>
    private sealed class LeavesWhenStopped : IConnectionTransport
    {
        private readonly TaskCompletionSource _asked = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public string Name => "late";

        public Task Asked => _asked.Task;

        public IProviderConnection Open(SslStream stream, ConnectionOptions options, IConnectionObserver observer) => new Connection(stream, observer, _asked);

        private sealed class Connection(SslStream stream, IConnectionObserver observer, TaskCompletionSource asked) : IProviderConnection
        {
            public ValueTask<ProviderAnswer> SendAsync(in ProviderRequest request, CancellationToken cancellationToken) => WaitAsync(cancellationToken);

            public ValueTask DisposeAsync() => stream.DisposeAsync();

            private async ValueTask<ProviderAnswer> WaitAsync(CancellationToken cancellationToken)
            {
                asked.SetResult();
                try
                {
                    await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
                }
                finally
                {
                    observer.StreamLimit(100);
                }

                return default;
            }
        }
    }
}
