using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Sandbox.Contract;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>Safari, which takes a site's permission away for pushes that show nothing: none is sent.</summary>
public sealed class WebPushAppleTests : SafariFixture
{
    [Fact]
    public async Task SendAsync_TenClearsAndDataOnlyEvents_NoneIsSentAndThePermissionStays()
    {
        await using var host = Host();
        for (var i = 0; i < 5; i++)
        {
            var accepted = Sample.Event(Time, notification: Hello, id: $"event-{i}");
            var cleared = await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", Time.GetUtcNow()), Address()));
            Assert.Equal((DeliveryStatus.Rejected, "not-clearable"), (cleared.Status, cleared.Reason));
            var dataOnly = await SendAsync(host, Sample.Delivery(Sample.Event(Time, notification: i % 2 == 0 ? null : new Notification { Badge = 3 }), Address()));
            Assert.Equal((DeliveryStatus.Rejected, "shows-nothing"), (dataOnly.Status, dataOnly.Reason));
        }

        var shown = await SendAsync(host, Sample.Delivery(Sample.Event(Time, notification: Hello), Address()));

        Assert.Equal(DeliveryStatus.Accepted, shown.Status);
        Assert.Equal(1, Sandbox.Phones.Find(Browser)!.Received);
        Assert.Equal(0, Sandbox.Violations.Total);
    }

    [Theory]
    [InlineData("chat-7")]
    [InlineData(null)]
    public async Task SendAsync_ClearWithAText_ReplacesTheEventSilently(string? collapseKey)
    {
        await using var host = Host("Answered elsewhere");
        var accepted = Sample.Event(Time, EventClass.Call, Hello, collapseKey: collapseKey);
        await SendAsync(host, Sample.Delivery(accepted, Address()));

        var result = await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", Time.GetUtcNow()), Address()));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var left = Assert.Single(Sandbox.Phones.Find(Browser)!.LockScreen);
        Assert.Equal(("Answered elsewhere", "", collapseKey ?? accepted.Id), (left.Title, left.Body, left.CollapseId));
        Assert.Contains("\"silent\":true", left.Payload, StringComparison.Ordinal);
        Assert.Contains($"\"pnh-replace\":\"{accepted.Id}\"", left.Payload, StringComparison.Ordinal);
        Assert.DoesNotContain("pnh-withdraw", left.Payload, StringComparison.Ordinal);
        Assert.Equal(0, Sandbox.Violations.Total);
    }

    [Fact]
    public async Task SendAsync_TitleFromTheOverrideAlone_IsShown()
    {
        await using var host = Host();
        var accepted = Sample.Event(Time, overrides: new() { ["webpush"] = """{"title":"From the override"}""" });

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Delivery(accepted, Address()))).Status);
        Assert.Equal("From the override", Assert.Single(Sandbox.Phones.Find(Browser)!.LockScreen).Title);
    }

    [Fact]
    public async Task SendAsync_ToChrome_ClearsAndDataOnlyEventsGoAsBefore()
    {
        await using var host = Host();
        var accepted = Sample.Event(Time, notification: Hello);
        var chrome = WebPushSandboxTests.AddressOf(Sandbox.Subscribe("ada-laptop"));

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Delivery(Sample.Event(Time), chrome))).Status);
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "seen", Time.GetUtcNow()), chrome))).Status);
        Assert.Equal(0, Sandbox.Violations[ViolationKind.SilentPushes]);
    }

    [Fact]
    public async Task Check_ClearTextOfTwoLines_IsRefusedWithItsKey()
    {
        Assert.Contains(await CheckAsync("ClearText", "two\nlines"), static error => error.Contains("Apps:demo:WebPush:0:ClearText", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("https://web.push.apple.com/QABC", false, true)]
    [InlineData("https://Web.Push.Apple.Com/QABC", false, true)]
    [InlineData("https://push.apple.com.example.com/QABC", true, false)]
    [InlineData("https://localhost:8444/apple/safari:x", true, true)]
    [InlineData("https://localhost:8444/apple/safari:x", false, false)]
    [InlineData("https://localhost:8444/fcm/send/safari:x", true, false)]
    public void Serves_ByHost_AndTheSandboxsPathOnThisMachine(string endpoint, bool allowLoopback, bool expected) =>
        Assert.Equal(expected, ApplePush.Serves(new Uri(endpoint), allowLoopback));
}
