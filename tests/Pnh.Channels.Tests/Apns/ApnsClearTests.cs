using Pnh.Channels.Apns;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsClearTests
{
    private const string VoipToken = "aa00aa00";

    private static readonly PushAddress App = ApnsFixture.Address();
    private static readonly PushAddress Voip = ApnsFixture.Address("voipToken", VoipToken);
    private static readonly PushAddress Activity = ApnsFixture.Address("liveActivityToken", "bb00bb00");

    private readonly FakeTimeProvider _time = new();
    private readonly Withdrawal _answered = new("demo", "event-1", "answered", new FakeTimeProvider().Start);

    [Fact]
    public async Task SendAsync_Clear_ExactRequest()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);

        var result = await apns.SendAsync(Sample.Clear(Shown(), _answered, App));

        var request = Assert.Single(apns.Server.Requests);
        Assert.Equal("/3/device/" + ApnsFixture.Token, request.Path);
        Assert.Equal(
            ("background", "com.example", "5", "1767229200"),
            (request.Headers["apns-push-type"], request.Headers["apns-topic"], request.Headers["apns-priority"], request.Headers["apns-expiration"]));
        Assert.DoesNotContain("apns-collapse-id", request.Headers.Keys);
        Assert.Equal(
            """{"aps":{"content-available":1},"pnh":{"id":"event-1","reason":"answered"},"pnh-id":"event-1","pnh-withdraw":"event-1","pnh-reason":"answered"}""",
            request.Text);
        Assert.Equal((DeliveryStatus.Accepted, request.Headers["apns-id"]), (result.Status, result.ProviderId));
    }

    [Theory]
    [InlineData("voipToken")]
    [InlineData("liveActivityToken")]
    public async Task SendAsync_ShownByAnotherToken_ClearedThroughTheApps(string kind)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);
        var shown = kind == "voipToken" ? Voip : Activity;

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Clear(Shown(), _answered, shown, App))).Status);

        var request = Assert.Single(apns.Server.Requests);
        Assert.Equal(("/3/device/" + ApnsFixture.Token, "com.example"), (request.Path, request.Headers["apns-topic"]));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task SendAsync_NoTokenOfThisApp_NotClearable(bool hasTokenOfAnother)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);
        PushAddress[] addresses = hasTokenOfAnother ? [Voip, App with { Scope = "production/com.example.other" }] : [Voip];

        var result = await apns.SendAsync(Sample.Clear(Shown(), _answered, addresses));

        Assert.Equal((DeliveryStatus.Rejected, "not-clearable"), (result.Status, result.Reason));
        Assert.Empty(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_AppsTokenDeadBesideVoip_VoipAddressDoesNotDie()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(410, """{"reason":"Unregistered","timestamp":1767225000000}"""), _time);

        var throughApp = await apns.SendAsync(Sample.Clear(Shown(), _answered, App));
        var besideVoip = await apns.SendAsync(Sample.Clear(Shown(), _answered, Voip, App));

        Assert.Equal(DeliveryStatus.AddressDead, throughApp.Status);
        Assert.Equal((DeliveryStatus.Rejected, "Unregistered", null), (besideVoip.Status, besideVoip.Reason, besideVoip.DeadSince));
    }

    [Fact]
    public async Task SendAsync_AfterTheEventsEnd_SentAllTheSame()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);
        var shown = Shown();
        _time.Advance(TimeSpan.FromHours(25));

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Clear(shown, _answered, App))).Status);
    }

    [Fact]
    public async Task SendAsync_ShownAndCleared_TwoIdsAndTheClearsOwnIsStable()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);
        var shown = Shown();

        var alert = await apns.SendAsync(shown);
        var clear = await apns.SendAsync(Sample.Clear(shown, _answered, App));
        var again = await apns.SendAsync(Sample.Clear(shown, _answered, App));

        Assert.NotEqual(alert.ProviderId, clear.ProviderId);
        Assert.Equal(clear.ProviderId, again.ProviderId);
    }

    [Fact]
    public void For_SameWithdrawal_EncodedOnce()
    {
        var push = ApnsClear.For(_answered, _time);

        Assert.Same(push, ApnsClear.For(_answered, _time));
        Assert.Same(push.BodyFor(Shown(), "de"), push.BodyFor(Shown(), "fr"));
        Assert.NotSame(push, ApnsClear.For(new Withdrawal("demo", "event-1", "seen", _time.GetUtcNow()), _time));
    }

    // With everything that a clear must not carry over: texts, key, override.
    private Event Shown() => Sample.Event(
        _time,
        EventClass.Call,
        new Notification { Title = "Grace", Body = "Hello" },
        collapseKey: "chat-7",
        data: """{"secret":1}""",
        overrides: new() { ["apns"] = """{"aps":{"sound":"ring"},"own":1}""" });
}
