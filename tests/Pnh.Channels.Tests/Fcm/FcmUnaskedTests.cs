using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

/// <summary>Which results say that FCM was not asked: what clears an event is sent a few times only, and those do not count.</summary>
public sealed class FcmUnaskedTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    [Fact]
    public async Task SendAsync_ProjectOverItsQuota_ClearIsUnaskedUntilThePauseIsOver()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, n) => n == 0 ? new Reply(429, FcmResponseTests.FrontEnd) : FcmFixture.Ok(), time: time);
        var shown = Sample.Event(time, notification: Hello);
        Assert.False((await fcm.SendAsync(shown)).IsUnasked);

        var clear = Sample.Clear(shown, new Withdrawal("demo", shown.Id, "seen", time.GetUtcNow()), FcmFixture.Address());
        var held = await fcm.SendAsync(clear);
        Assert.Equal((DeliveryStatus.Unavailable, "QUOTA_EXCEEDED:project", true), (held.Status, held.Reason, held.IsUnasked));
        Assert.Single(fcm.Server.Requests);

        time.Advance(held.RetryAfter!.Value);
        Assert.Equal((DeliveryStatus.Accepted, false), await AskAsync(fcm, clear));
    }

    [Fact]
    public async Task SendAsync_DeviceOverItsRate_NextIsUnasked()
    {
        const string Device = """{"error":{"status":"RESOURCE_EXHAUSTED","message":"Device message rate exceeded."}}""";
        await using var fcm = await FcmFixture.StartAsync((_, _) => new Reply(429, Device));
        var push = Sample.Delivery(Sample.Event(fcm.Time, notification: Hello), FcmFixture.Address());
        Assert.Equal((DeliveryStatus.Throttled, false), await AskAsync(fcm, push));
        Assert.Equal((DeliveryStatus.Throttled, true), await AskAsync(fcm, push));
        Assert.Single(fcm.Server.Requests);
    }

    [Theory]
    [InlineData(503, """{"error":"busy"}""", DeliveryStatus.Unavailable)]
    [InlineData(400, """{"error":"invalid_grant"}""", DeliveryStatus.Misconfigured)]
    public async Task SendAsync_NoToken_UnaskedThenAndWhileTheFailureStands(int status, string answer, DeliveryStatus expected)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), (_, _) => new Reply(status, answer));
        var push = Sample.Delivery(Sample.Event(fcm.Time, notification: Hello), FcmFixture.Address());
        Assert.Equal((expected, true), await AskAsync(fcm, push));
        Assert.Equal((expected, true), await AskAsync(fcm, push));
        Assert.Empty(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_UnauthorizedAndNoOtherToken_WasAsked()
    {
        await using var fcm = await FcmFixture.StartAsync(
            (_, _) => new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}"""), (_, n) => n == 0 ? FcmFixture.Grant(n) : new Reply(503, "{}"));
        var push = Sample.Delivery(Sample.Event(fcm.Time, notification: Hello), FcmFixture.Address());
        Assert.Equal((DeliveryStatus.Unavailable, false), await AskAsync(fcm, push));
        Assert.Single(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_NobodyListens_Unasked()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        await fcm.Server.DisposeAsync();
        var push = Sample.Delivery(Sample.Event(fcm.Time, notification: Hello), FcmFixture.Address());
        Assert.Equal((DeliveryStatus.Unavailable, true), await AskAsync(fcm, push));
    }

    private static async Task<(DeliveryStatus Status, bool IsUnasked)> AskAsync(FcmFixture fcm, Delivery delivery)
    {
        var result = await fcm.SendAsync(delivery);
        return (result.Status, result.IsUnasked);
    }
}
