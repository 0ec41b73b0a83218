using System.Net;
using System.Net.Sockets;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.Tests.Http.Wire;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

/// <summary>What a network and a provider can do to us. Every send ends with one result, and that one is right.</summary>
public sealed class ApnsFaultTests
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    [Fact]
    public async Task OutageOfTenMinutes_AttemptsWithinTheBudgetAndBackWithinAMinute()
    {
        var time = new FakeTimeProvider();
        var down = true;
        await using var apns = await ApnsFixture.StartAsync(
            (_, _) => Volatile.Read(ref down) ? new Reply(503, """{"reason":"ServiceUnavailable"}""") : new Reply(200), time);

        // One delivery a second, as many as the hub would try: each is one send, whose retries must stay within a tenth.
        var (sends, refusedByBreaker) = (0, 0);
        for (var second = 0; second < 600; second++)
        {
            var result = await SendAsync(apns, time, sends++);
            Assert.Equal(DeliveryStatus.Unavailable, result.Status);
            refusedByBreaker += result.Reason == ProviderPipeline.BreakerOpen ? 1 : 0;
            time.Advance(TimeSpan.FromSeconds(1));
        }

        var attempts = apns.Server.Requests.Count;
        Assert.InRange(attempts, 1, (int)(sends * 1.1));
        Assert.True(refusedByBreaker > sends / 2, $"the breaker let {sends - refusedByBreaker} of {sends} through");

        Volatile.Write(ref down, false);
        var healed = time.GetUtcNow();
        while ((await SendAsync(apns, time, sends++)).Status != DeliveryStatus.Accepted)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            Assert.InRange((time.GetUtcNow() - healed).TotalSeconds, 0, 60);
        }
    }

    [Fact]
    public async Task BadDeviceTokens_ThirtyPercent_EachItsOwnEndAndTheLaneGoesOn()
    {
        // Its clock stands still: 300 at once on a busy machine may take longer than an attempt has.
        await using var apns = await ApnsFixture.StartAsync((request, _) =>
            request.Path.EndsWith("bad", StringComparison.Ordinal) ? new Reply(400, """{"reason":"BadDeviceToken"}""") : new Reply(200), new FakeTimeProvider());
        var sends = Enumerable.Range(0, 300).Select(async i =>
        {
            var isBad = i % 10 < 3;
            var address = ApnsFixture.Address(value: $"{i:x4}{(isBad ? "0bad" : "900d")}");
            var delivery = Sample.Delivery(Sample.Event(apns.Time, notification: Hello, id: $"event-{i}"), address);

            // As a lane does it.
            var way = apns.Sender.Suspects(delivery) ? apns.Sender.Quarantine! : apns.Sender;
            var result = await way.SendAsync(delivery, CancellationToken.None);
            return (isBad, result.Status);
        });

        var results = await Task.WhenAll(sends).WaitAsync(Sample.Limit);

        Assert.Equal(90, results.Count(static one => one is (true, DeliveryStatus.AddressDead)));
        Assert.Equal(210, results.Count(static one => one is (false, DeliveryStatus.Accepted)));
        Assert.Equal(300, apns.Server.Requests.Count);

        // After that the next unknown address goes the slow way, and one that was good does not.
        Assert.True(apns.Sender.Suspects(Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address(value: "ffff"))));
        Assert.False(apns.Sender.Suspects(Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address(value: "0005900d"))));
    }

    [Theory]
    [InlineData("BadDeviceToken")]
    [InlineData("DeviceTokenNotForTopic")]
    public async Task AddressRefused_ByAWordOfAWrongAccount_IsSaid(string reason)
    {
        await using var apns = await ApnsFixture.StartAsync((request, _) => new Reply(400, $$"""{"reason":"{{reason}}"}"""));

        var result = await SendToAsync("00ff0bad");
        Assert.Equal((DeliveryStatus.AddressDead, reason, true), (result.Status, result.Reason, result.MayBeAccounts));

        Task<DeliveryResult> SendToAsync(string address) =>
            apns.SendAsync(Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address(value: address)));
    }

    [Fact]
    public async Task EveryAddressUnregistered_AllRemoved()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(410, """{"reason":"Unregistered","timestamp":1}"""));
        for (var i = 0; i < 30; i++)
        {
            var result = await apns.SendAsync(Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address(value: $"{i:x4}")));
            Assert.Equal(DeliveryStatus.AddressDead, result.Status);
        }
    }

    [Fact]
    public async Task Quarantine_ItsConnectionIsItsOwn()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        var delivery = Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address());

        await apns.Sender.SendAsync(delivery, CancellationToken.None);
        await apns.Sender.Quarantine!.SendAsync(delivery, CancellationToken.None);

        Assert.Equal(2, apns.Server.Requests.Select(request => request.Connection).Distinct().Count());
        await apns.Sender.Quarantine.DisposeAsync();
    }

    [Fact]
    public async Task BlackHole_AcceptsAndNeverSpeaks_TimeoutAsAValue()
    {
        using var hole = new TcpListener(IPAddress.Loopback, 0);
        hole.Start();
        var time = new FakeTimeProvider();
        await using var apns = ApnsFixture.At(new Uri($"https://localhost:{((IPEndPoint)hole.LocalEndpoint).Port}"), time);

        var send = apns.SendAsync(Sample.Event(time, notification: Hello));
        while (!send.IsCompleted)
        {
            await time.WaitForTimersAsync(1);
            time.Advance(TimeSpan.FromMilliseconds(500));
            await Task.WhenAny(send, Task.Delay(5));
        }

        var result = await send;
        Assert.Equal(DeliveryStatus.Unavailable, result.Status);
        Assert.Contains(result.Reason, new[] { "connect-timeout", "timeout", "connection-busy" });
    }

    [Fact]
    public async Task OneByteAtATime_AnswerTakenAllTheSame()
    {
        await using var server = new RawHttp2Server();
        await using var apns = ApnsFixture.At(server.Address, TimeProvider.System);
        var accept = server.AcceptAsync();
        var send = apns.SendAsync(Sample.Event(TimeProvider.System, notification: Hello));
        var peer = await accept;
        var stream = await peer.NextRequestAsync();

        // HEADERS with :status 400 (static table: index 12), then DATA.
        var body = """{"reason":"BadDeviceToken"}"""u8.ToArray();
        byte[] frames =
        [
            0, 0, 1, RawHttp2Peer.Headers, RawHttp2Peer.EndHeaders, 0, 0, 0, (byte)stream, 0x8C,
            0, 0, (byte)body.Length, RawHttp2Peer.Data, RawHttp2Peer.EndStream, 0, 0, 0, (byte)stream, .. body,
        ];
        foreach (var one in frames)
        {
            await peer.WriteAsync([one]);
        }

        var result = await send;
        Assert.Equal((DeliveryStatus.AddressDead, "BadDeviceToken"), (result.Status, result.Reason));
    }

    [Fact]
    public async Task CutInTheMiddleOfAnAnswer_UnavailableAndTheNextOneGoesOverANewConnection()
    {
        await using var server = new RawHttp2Server();
        await using var apns = ApnsFixture.At(server.Address, TimeProvider.System);
        var accept = server.AcceptAsync();
        var send = apns.SendAsync(Sample.Event(TimeProvider.System, notification: Hello));
        var peer = await accept;
        await peer.NextRequestAsync();

        await peer.WriteAsync([0, 0, 40, RawHttp2Peer.Headers, RawHttp2Peer.EndHeaders, 0, 0]);
        await peer.DisposeAsync();

        var result = await send;
        Assert.Equal((DeliveryStatus.Unavailable, "connection-lost"), (result.Status, result.Reason));
        accept = server.AcceptAsync();
        send = apns.SendAsync(Sample.Event(TimeProvider.System, notification: Hello, id: "event-2"));
        peer = await accept;
        await peer.AnswerAsync(await peer.NextRequestAsync());
        Assert.Equal(DeliveryStatus.Accepted, (await send).Status);
    }

    [Fact]
    public async Task GoAwayAfterEachAnswer_EveryPushIsAcceptedOnce()
    {
        await using var server = new RawHttp2Server();
        await using var apns = ApnsFixture.At(server.Address, TimeProvider.System);
        for (var i = 0; i < 5; i++)
        {
            var accept = server.AcceptAsync();
            var send = apns.SendAsync(Sample.Event(TimeProvider.System, notification: Hello, id: $"event-{i}"));
            var peer = await accept;
            var stream = await peer.NextRequestAsync();
            await peer.GoAwayAsync(stream, 0, """{"reason":"Shutdown"}""");
            await peer.AnswerAsync(stream);

            Assert.Equal(DeliveryStatus.Accepted, (await send).Status);
        }

        Assert.Equal(5, apns.Gauges.Ends(ConnectionEnd.GoAway));
    }

    private static async Task<DeliveryResult> SendAsync(ApnsFixture apns, FakeTimeProvider time, int i)
    {
        var send = apns.SendAsync(Sample.Event(time, notification: Hello, id: $"event-{i}", ttl: TimeSpan.FromDays(1)));
        for (var turns = 0; !send.IsCompleted; turns++)
        {
            // A pause between retries sleeps on this clock; an answer comes in real time.
            await Task.WhenAny(send, Task.Delay(10));
            if (turns % 5 == 4)
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
            }
        }

        return await send;
    }
}
