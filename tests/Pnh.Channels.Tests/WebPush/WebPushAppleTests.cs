using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>Safari, which takes a site's permission away for pushes that show nothing: none is sent.</summary>
public sealed class WebPushAppleTests : IAsyncLifetime
{
    private const string Browser = "safari";
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-apple-").FullName;
    private readonly FakeTimeProvider _time = new();
    private SandboxServer _sandbox = null!;

    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(Sample.Limit);
        _sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0, TimeProvider = _time }, timeout.Token);
    }

    public async Task DisposeAsync()
    {
        await _sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task SendAsync_TenClearsAndDataOnlyEvents_NoneIsSentAndThePermissionStays()
    {
        await using var host = Host(clearText: null);
        for (var i = 0; i < 5; i++)
        {
            var accepted = Sample.Event(_time, notification: Hello, id: $"event-{i}");
            var cleared = await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", _time.GetUtcNow()), Address()));
            Assert.Equal((DeliveryStatus.Rejected, "not-clearable"), (cleared.Status, cleared.Reason));
            var dataOnly = await SendAsync(host, Sample.Delivery(Sample.Event(_time, notification: i % 2 == 0 ? null : new Notification { Badge = 3 }), Address()));
            Assert.Equal((DeliveryStatus.Rejected, "shows-nothing"), (dataOnly.Status, dataOnly.Reason));
        }

        var shown = await SendAsync(host, Sample.Delivery(Sample.Event(_time, notification: Hello), Address()));

        Assert.Equal(DeliveryStatus.Accepted, shown.Status);
        Assert.Equal(1, _sandbox.Phones.Find(Browser)!.Received);
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Theory]
    [InlineData("chat-7")]
    [InlineData(null)]
    public async Task SendAsync_ClearWithAText_ReplacesTheEventSilently(string? collapseKey)
    {
        await using var host = Host("Answered elsewhere");
        var accepted = Sample.Event(_time, EventClass.Call, Hello, collapseKey: collapseKey);
        await SendAsync(host, Sample.Delivery(accepted, Address()));

        var result = await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", _time.GetUtcNow()), Address()));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var left = Assert.Single(_sandbox.Phones.Find(Browser)!.LockScreen);
        Assert.Equal(("Answered elsewhere", "", collapseKey ?? accepted.Id), (left.Title, left.Body, left.CollapseId));
        Assert.Contains("\"silent\":true", left.Payload, StringComparison.Ordinal);
        Assert.Contains($"\"pnh-replace\":\"{accepted.Id}\"", left.Payload, StringComparison.Ordinal);
        Assert.DoesNotContain("pnh-withdraw", left.Payload, StringComparison.Ordinal);
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Fact]
    public async Task SendAsync_TitleFromTheOverrideAlone_IsShown()
    {
        await using var host = Host(clearText: null);
        var accepted = Sample.Event(_time, overrides: new() { ["webpush"] = """{"title":"From the override"}""" });

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Delivery(accepted, Address()))).Status);
        Assert.Equal("From the override", Assert.Single(_sandbox.Phones.Find(Browser)!.LockScreen).Title);
    }

    [Fact]
    public async Task SendAsync_ToChrome_ClearsAndDataOnlyEventsGoAsBefore()
    {
        await using var host = Host(clearText: null);
        var accepted = Sample.Event(_time, notification: Hello);
        var chrome = WebPushSandboxTests.AddressOf(_sandbox.Subscribe("ada-laptop"));

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Delivery(Sample.Event(_time), chrome))).Status);
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "seen", _time.GetUtcNow()), chrome))).Status);
        Assert.Equal(0, _sandbox.Violations[ViolationKind.SilentPushes]);
    }

    [Fact]
    public async Task Check_ClearTextOfTwoLines_IsRefusedWithItsKey()
    {
        var settings = WebPushFixture.Settings();
        settings["Apps:demo:WebPush:0:KeyFile"] = _sandbox.Credentials.VapidKeyFile;
        settings["Apps:demo:WebPush:0:ClearText"] = "two\nlines";
        await using var host = new ChannelHost(_time, settings);
        Assert.Contains(host.Check(), static error => error.Contains("Apps:demo:WebPush:0:ClearText", StringComparison.Ordinal));
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

    private ChannelHost Host(string? clearText) => WebPushSandboxTests.Host(_sandbox, _time, _sandbox.Credentials.VapidKeyFile, clearText: clearText);

    private PushAddress Address() => WebPushSandboxTests.AddressOf(_sandbox.SubscribeToApple(Browser));

    private static Task<DeliveryResult> SendAsync(ChannelHost host, Delivery delivery) => WebPushSandboxTests.SendAsync(host, delivery);
}
