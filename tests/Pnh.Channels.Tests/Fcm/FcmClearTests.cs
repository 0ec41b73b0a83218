using System.Text.Json;
using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmClearTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly Withdrawal _seen = new("demo", "event-1", "seen", new FakeTimeProvider().Start);

    [Fact]
    public async Task SendAsync_Clear_ExactRequest()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: _time);

        var result = await fcm.SendAsync(Sample.Clear(Shown(), _seen, FcmFixture.Address()));

        Assert.Equal(
            """{"message":{"token":"dev:APA91b_x-1","data":{"pnh-id":"event-1","pnh-withdraw":"event-1","pnh-reason":"seen"}"""
            + ""","android":{"priority":"NORMAL","ttl":"3600s"}"""
            + ""","apns":{"headers":{"apns-push-type":"background","apns-priority":"5","apns-expiration":"1767229200"},"payload":{"aps":{"content-available":1}}}"""
            + ""","webpush":{"headers":{"TTL":"3600","Urgency":"normal"}}}}""",
            Assert.Single(fcm.Server.Requests).Text);
        Assert.Equal((DeliveryStatus.Accepted, "projects/pnh-test/messages/0:1"), (result.Status, result.ProviderId));
    }

    [Theory]
    [InlineData(EventClass.Call, "HIGH")]
    [InlineData(EventClass.Message, "NORMAL")]
    [InlineData(EventClass.Bulk, "NORMAL")]
    public async Task SendAsync_Class_OnlyARingingPhoneIsWoken(EventClass @class, string priority)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: _time);

        await fcm.SendAsync(Sample.Clear(Shown(@class), _seen, FcmFixture.Address("fid", "fid-1")));

        var message = JsonDocument.Parse(Assert.Single(fcm.Server.Requests).Body).RootElement.GetProperty("message");
        Assert.Equal(priority, message.GetProperty("android").GetProperty("priority").GetString());
        Assert.Equal("fid-1", message.GetProperty("fid").GetString());
    }

    [Fact]
    public async Task SendAsync_AfterTheEventsEnd_SentAllTheSame()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: _time);
        var shown = Shown();
        _time.Advance(TimeSpan.FromHours(25));

        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Clear(shown, _seen, FcmFixture.Address()))).Status);
    }

    [Fact]
    public async Task SendAsync_AddressThatWouldBreakTheJson_NeverSent()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: _time);

        var result = await fcm.SendAsync(Sample.Clear(Shown(), _seen, FcmFixture.Address(value: """a","topic":"all""")));

        Assert.Equal((DeliveryStatus.Rejected, "invalid-address"), (result.Status, result.Reason));
        Assert.Empty(fcm.Server.Requests);
    }

    [Fact]
    public void ClearFor_SameWithdrawalAndKind_EncodedOnce()
    {
        var token = FcmPush.ClearFor(_seen, EventClass.Message, FcmAddress.Token, _time);

        Assert.Same(token, FcmPush.ClearFor(_seen, EventClass.Message, FcmAddress.Token, _time));
        Assert.NotSame(token, FcmPush.ClearFor(_seen, EventClass.Message, FcmAddress.Fid, _time));
    }

    // With everything that a clear must not carry over: texts, key, override.
    private Event Shown(EventClass @class = EventClass.Message) => Sample.Event(
        _time,
        @class,
        new Notification { Title = "Grace", Body = "Hello" },
        collapseKey: "chat-7",
        data: """{"secret":1}""",
        overrides: new() { ["fcm"] = """{"data":{"own":"1"},"android":{"ttl":"5s"}}""" });
}
