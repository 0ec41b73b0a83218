using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.WebPush;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>The channel and the sandbox's push service, as a demo app has them: from an event to a browser's screen.</summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit ends it by DisposeAsync.")]
public sealed class WebPushSandboxTests : IAsyncLifetime
{
    private const string Browser = "ada-laptop";
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-webpush-").FullName;
    private readonly FakeTimeProvider _time = new();
    private SandboxServer _sandbox = null!;
    private ChannelHost _host = null!;

    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(Sample.Limit);
        _sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0, TimeProvider = _time }, timeout.Token);
        _host = Host(_sandbox, _time, _sandbox.Credentials.VapidKeyFile);
    }

    public async Task DisposeAsync()
    {
        await _host.DisposeAsync();
        await _sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task SendAsync_Notification_OnTheBrowsersScreen()
    {
        var result = await SendAsync(Sample.Delivery(Sample.Event(_time, EventClass.Call, Hello, collapseKey: "chat-7"), Address()));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        Assert.NotEmpty(result.ProviderId!);
        var phone = _sandbox.Phones.Find(Browser)!;
        var shown = Assert.Single(phone.LockScreen);
        Assert.Equal(PhonePlatform.Browser, phone.Platform);
        Assert.Equal(
            ("Grace", "Hello", "webpush", "high", "chat-7", "event-1"), (shown.Title, shown.Body, shown.PushType, shown.Priority, shown.CollapseId, shown.EventId));
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Fact]
    public async Task SendAsync_Withdrawal_ClearedWithItsReason()
    {
        var accepted = Sample.Event(_time, notification: Hello);
        await SendAsync(Sample.Delivery(accepted, Address()));

        var result = await SendAsync(Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "seen", _time.GetUtcNow()), Address()));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var phone = _sandbox.Phones.Find(Browser)!;
        Assert.Empty(phone.LockScreen);
        Assert.Equal(("event-1", "seen"), (Assert.Single(phone.Cleared).Shown.EventId, phone.Cleared[0].Reason));
    }

    [Theory]
    [InlineData(ScriptKind.Unregistered, DeliveryStatus.AddressDead, "http-410", null)]
    [InlineData(ScriptKind.Bad, DeliveryStatus.AddressDead, "http-404", null)]
    [InlineData(ScriptKind.Throttled, DeliveryStatus.Throttled, "http-429", 7)]
    [InlineData(ScriptKind.Unavailable, DeliveryStatus.Unavailable, "http-503", 7)]
    public async Task SendAsync_Scripted_ItsResultAndNothingShown(ScriptKind kind, DeliveryStatus expected, string reason, int? seconds)
    {
        _sandbox.Scripts.Set(Browser, new Script(kind) { RetryAfter = TimeSpan.FromSeconds(7) });

        var result = await SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello), Address()));

        Assert.Equal((expected, reason, seconds), (result.Status, result.Reason, (int?)result.RetryAfter?.TotalSeconds));
        Assert.Null(_sandbox.Phones.Find(Browser));
    }

    [Fact]
    public async Task SendAsync_EndpointMadeUp_AddressDead()
    {
        var madeUp = Address() with { Value = Address().Value.Replace(Browser, "ada-tablet", StringComparison.Ordinal) };

        var result = await SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello), madeUp));

        Assert.Equal((DeliveryStatus.AddressDead, "http-404"), (result.Status, result.Reason));
    }

    [Fact]
    public async Task SendAsync_AccountWithAnotherKey_RejectedAsKeyMismatch()
    {
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        await using var host = Host(_sandbox, _time, "vapid.pem", new() { ["vapid.pem"] = other.ExportPkcs8PrivateKeyPem() });

        var result = await SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello), Address()), host);

        Assert.Equal((DeliveryStatus.Rejected, "vapid-key-mismatch"), (result.Status, result.Reason));
        Assert.Null(_sandbox.Phones.Find(Browser));
    }

    [Fact]
    public async Task SendAsync_KeysOfAnotherBrowser_AcceptedButCountedAndNeverShown()
    {
        var other = _sandbox.Subscribe("ada-tablet");
        var mixed = Address() with { Value = $"{_sandbox.Subscribe(Browser).Endpoint.AbsoluteUri} {other.P256dh} {other.Auth}" };

        var result = await SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello), mixed));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        Assert.Null(_sandbox.Phones.Find(Browser));
        Assert.Equal(1, _sandbox.Violations[ViolationKind.UnreadableMessages]);
    }

    private PushAddress Address() => AddressOf(_sandbox.Subscribe(Browser));

    /// <summary>A hub's channel for the sandbox's push services.</summary>
    internal static ChannelHost Host(SandboxServer sandbox, TimeProvider time, string keyFile, Dictionary<string, string>? texts = null, string? clearText = null, string? site = null, string? subject = null)
    {
        var settings = WebPushFixture.Settings(sandbox.FcmAddress.Authority, allowLoopback: true);
        settings["Apps:demo:WebPush:0:KeyFile"] = keyFile;
        settings["Apps:demo:WebPush:0:ClearText"] = clearText;
        settings["Apps:demo:WebPush:0:Site"] = site;
        settings["Apps:demo:WebPush:0:Subject"] = subject ?? settings["Apps:demo:WebPush:0:Subject"];
        var host = new ChannelHost(time, settings, texts);
        Assert.Empty(host.Check());
        host.Trust(sandbox.FcmAddress, sandbox.CaCertificate);
        return host;
    }

    private Task<DeliveryResult> SendAsync(Delivery delivery, ChannelHost? host = null) => SendAsync(host ?? _host, delivery);

    internal static PushAddress AddressOf(BrowserSubscription subscription) => new(
        "webpush", "subscription", $"{subscription.Endpoint.AbsoluteUri} {subscription.P256dh} {subscription.Auth}", "", default);

    internal static async Task<DeliveryResult> SendAsync(ChannelHost host, Delivery delivery)
    {
        var channel = host.Channel("webpush");
        await using var sender = channel.Open(channel.FindAccount("demo", delivery.Address!)!, EventClass.Message);
        return await sender.SendAsync(delivery, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);
    }
}
