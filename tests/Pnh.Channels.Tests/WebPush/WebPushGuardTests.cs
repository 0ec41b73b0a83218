using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushGuardTests
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    [InlineData("::ffff:127.0.0.1")]
    [InlineData("10.0.0.1")]
    [InlineData("169.254.169.254")]
    [InlineData("fd00:ec2::254")]
    public async Task SendAsync_NameOfAnInnerAddress_RejectedWithoutATouch(string inner)
    {
        await using var push = await WebPushFixture.StartAsync(host: "push.example.test", allowLoopback: false, resolve: (_, _) => Task.FromResult<IPAddress[]>([IPAddress.Parse(inner)]));

        // More than the breaker would need: a bad subscription says nothing of the push service.
        for (var i = 0; i < 12; i++)
        {
            var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello));
            Assert.Equal((DeliveryStatus.Rejected, "endpoint-not-public"), (result.Status, result.Reason));
        }

        Assert.Empty(push.Server.Messages);
        Assert.Empty(push.Server.Faults);
    }

    [Fact]
    public async Task SendAsync_NameThatTurnsInwardAfterTheFirstConnection_RejectedAtTheNext()
    {
        var answers = new Queue<string>(["127.0.0.1", "169.254.169.254"]);
        await using var push = await WebPushFixture.StartAsync(
            host: "push.example.test", resolve: (_, _) => Task.FromResult<IPAddress[]>([IPAddress.Parse(answers.Dequeue())]));

        // Looked up once for the judgement and the dial together: a second look would have met the other answer.
        Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
        Assert.Single(answers);

        await using var next = push.Channel.Open(push.Channel.FindAccount("demo", push.Address())!, EventClass.Message);
        var result = await next.SendAsync(Sample.Delivery(Sample.Event(push.Time, notification: Hello), push.Address()), CancellationToken.None);
        Assert.Equal((DeliveryStatus.Rejected, "endpoint-not-public"), (result.Status, result.Reason));
        Assert.Empty(answers);
    }

    [Fact]
    public async Task SendAsync_MixedAnswer_OnlyTheAllowedAddressIsDialled()
    {
        var dialled = new ConcurrentQueue<IPAddress>();
        await using var push = await WebPushFixture.StartAsync(
            host: "push.example.test",
            resolve: (_, _) => Task.FromResult<IPAddress[]>([IPAddress.Parse("10.0.0.1"), IPAddress.Loopback, IPAddress.Parse("192.168.0.1")]),
            dial: (addresses, port, cancellationToken) =>
            {
                Array.ForEach(addresses, dialled.Enqueue);
                return AddressDial.ConnectAsync([IPAddress.Loopback], port, cancellationToken);
            });

        Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
        Assert.Equal([IPAddress.Loopback], dialled);
    }

    [Fact]
    public async Task ConnectAsync_NameWithoutAddresses_HostNotFound()
    {
        var dial = new GuardedDial(EndpointNetwork.System with { Resolve = (_, _) => Task.FromResult<IPAddress[]>([]) }, allowLoopback: false);

        var fault = await Assert.ThrowsAsync<SocketException>(() => dial.ConnectAsync(new DnsEndPoint("push.example.test", 443), CancellationToken.None));

        Assert.Equal(SocketError.HostNotFound, fault.SocketErrorCode);
    }

    [Fact]
    public async Task SendAsync_NameMadeUpBelowASuffix_DelaysThatDeviceAlone()
    {
        await using var push = await WebPushFixture.StartAsync(
            host: "push.example.test",
            pattern: "*.example.test",
            resolve: (name, _) => name == "push.example.test" ? Task.FromResult<IPAddress[]>([IPAddress.Loopback]) : throw new SocketException((int)SocketError.HostNotFound));

        for (var i = 0; i < 12; i++)
        {
            var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello), push.Address($"https://made-up-{i}.example.test:{push.Server.Port}/p/1"));
            Assert.Equal((DeliveryStatus.Throttled, "name-resolution-failed"), (result.Status, result.Reason));
        }

        Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
    }

    [Fact]
    public async Task SendAsync_Redirect_NotFollowed()
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(307, Location: "/inner"));

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Rejected, "redirect-refused"), (result.Status, result.Reason));
        Assert.Single(push.Server.Messages);
    }

    [Fact]
    public async Task ConnectAsync_AddressInNumbers_JudgedLikeAName()
    {
        var dial = new GuardedDial(EndpointNetwork.System, allowLoopback: false);

        foreach (var host in new[] { "127.0.0.1", "::1", "0.0.0.0", "169.254.169.254" })
        {
            await Assert.ThrowsAsync<EndpointNotPublicException>(() => dial.ConnectAsync(new DnsEndPoint(host, 443), CancellationToken.None));
        }
    }
}
