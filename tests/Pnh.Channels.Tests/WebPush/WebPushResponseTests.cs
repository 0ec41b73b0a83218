using System.Text;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushResponseTests
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    [Theory]
    [InlineData(400, "", DeliveryStatus.Rejected, "http-400")]
    [InlineData(400, """{"reason":"VapidPkHashMismatch"}""", DeliveryStatus.Rejected, "vapid-key-mismatch")]
    [InlineData(400, """{"reason":"BadWebPushTopic"}""", DeliveryStatus.Rejected, "BadWebPushTopic")]
    [InlineData(401, """{"code":401,"errno":109,"message":"x"}""", DeliveryStatus.Misconfigured, "errno-109")]
    [InlineData(401, """{"code":401,"errno":109,"message":"VAPID public key mismatch"}""", DeliveryStatus.Rejected, "vapid-key-mismatch")]
    [InlineData(403, """{"reason":"BadJwtToken"}""", DeliveryStatus.Misconfigured, "BadJwtToken")]
    [InlineData(403, "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.", DeliveryStatus.Rejected, "vapid-key-mismatch")]
    [InlineData(403, "<html>", DeliveryStatus.Misconfigured, "http-403")]
    [InlineData(404, "", DeliveryStatus.AddressDead, "http-404")]
    [InlineData(410, "push subscription has unsubscribed or expired.", DeliveryStatus.AddressDead, "http-410")]
    [InlineData(410, """{"reason":"Unregistered"}""", DeliveryStatus.AddressDead, "Unregistered")]
    [InlineData(410, """{"errno":"x"}""", DeliveryStatus.AddressDead, "http-410")]
    [InlineData(413, "", DeliveryStatus.Rejected, "payload-too-large")]
    [InlineData(301, "", DeliveryStatus.Rejected, "redirect-refused")]
    [InlineData(418, "[]", DeliveryStatus.Rejected, "http-418")]
    public void Map_FinalAnswer_StatusAndReason(int status, string body, DeliveryStatus expected, string reason)
    {
        var result = WebPushResponse.Map(status, Encoding.UTF8.GetBytes(body), retryAfter: null);

        Assert.Equal((expected, reason, null), (result.Status, result.Reason, result.RetryAfter));
        Assert.False(WebPushResponse.IsOutage(result));
    }

    [Theory]
    [InlineData(406, DeliveryStatus.Throttled, 60, 60)]
    [InlineData(408, DeliveryStatus.Unavailable, 10, 20)]
    [InlineData(429, DeliveryStatus.Throttled, 60, 60)]
    [InlineData(500, DeliveryStatus.Unavailable, 10, 20)]
    [InlineData(503, DeliveryStatus.Unavailable, 10, 20)]
    public void Map_Later_ItsTimeOrOurs(int status, DeliveryStatus expected, int least, int most)
    {
        var ours = WebPushResponse.Map(status, default, retryAfter: null);
        var theirs = WebPushResponse.Map(status, default, TimeSpan.FromSeconds(7));

        Assert.Equal((expected, $"http-{status}"), (ours.Status, ours.Reason));
        Assert.InRange(ours.RetryAfter!.Value, TimeSpan.FromSeconds(least), TimeSpan.FromSeconds(most));
        Assert.Equal(TimeSpan.FromSeconds(7), theirs.RetryAfter);
        Assert.Equal(expected == DeliveryStatus.Unavailable, WebPushResponse.IsOutage(theirs));
    }

    [Theory]
    [InlineData(200, DeliveryStatus.Accepted)]
    [InlineData(201, DeliveryStatus.Accepted)]
    [InlineData(202, DeliveryStatus.Accepted)]
    [InlineData(410, DeliveryStatus.AddressDead)]
    [InlineData(429, DeliveryStatus.Throttled)]
    [InlineData(503, DeliveryStatus.Unavailable)]
    public async Task SendAsync_OverTheWire_OneAttemptAndRetryAfterRead(int status, DeliveryStatus expected)
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(status, RetryAfter: "120"));

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello));

        Assert.Equal(expected, result.Status);
        Assert.Equal(expected is DeliveryStatus.Throttled or DeliveryStatus.Unavailable ? TimeSpan.FromSeconds(120) : null, result.RetryAfter);
        Assert.Single(push.Server.Messages);
    }

    [Fact]
    public async Task SendAsync_AddressOfTheMessage_OnlyTheBeginningOfItsEndIsKept()
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(201, Location: "/m/" + new string('a', 200)));

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello));

        Assert.Equal(new string('a', 40), result.ProviderId);
    }

    [Fact]
    public async Task SendAsync_HugeAnswer_Survived()
    {
        await using var push = await WebPushFixture.StartAsync(n => n == 0 ? new Answer(403, new string('x', 1024 * 1024)) : new Answer(201));

        Assert.Equal(DeliveryStatus.Misconfigured, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
        Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
    }
}
