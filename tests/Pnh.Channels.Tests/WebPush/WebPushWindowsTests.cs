using Pnh.Channels.Net.Http;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Scripts;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>Windows' push service: what it wants besides, and what it says in headers.</summary>
public sealed class WebPushWindowsTests : IAsyncLifetime
{
    private const string Browser = "ada-edge";
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-wns-").FullName;
    private readonly FakeTimeProvider _time = new();
    private SandboxServer _sandbox = null!;
    private ChannelHost _host = null!;

    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(Sample.Limit);
        _sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0, TimeProvider = _time }, timeout.Token);
        _host = WebPushSandboxTests.Host(_sandbox, _time, _sandbox.Credentials.VapidKeyFile);
    }

    public async Task DisposeAsync()
    {
        await _host.DisposeAsync();
        await _sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Theory]
    [InlineData(3600)]
    [InlineData(0)]
    public async Task SendAsync_ByTtl_TheCachePolicyThatFits(int ttl)
    {
        var result = await SendAsync(Sample.Event(_time, EventClass.Call, Hello, TimeSpan.FromSeconds(ttl)));

        Assert.Equal((DeliveryStatus.Accepted, null), (result.Status, result.Reason));
        Assert.Single(_sandbox.Phones.Find(Browser)!.LockScreen);
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Theory]
    [InlineData(ScriptKind.Unregistered, null, 0, DeliveryStatus.AddressDead, "dropped: push subscription has unsubscribed or expired.")]
    [InlineData(ScriptKind.Throttled, null, 0, DeliveryStatus.Throttled, "channelthrottled: Too many messages for this subscription.")]
    [InlineData(ScriptKind.Answer, "Channel URL is bad", 400, DeliveryStatus.Rejected, "dropped: Channel URL is bad")]
    [InlineData(ScriptKind.Answer, "JWT Authentication Failed", 401, DeliveryStatus.Misconfigured, "dropped: JWT Authentication Failed")]
    [InlineData(ScriptKind.Answer, "Busy", 503, DeliveryStatus.Unavailable, "dropped: Busy")]
    [InlineData(ScriptKind.Answer, "dropped", 200, DeliveryStatus.Rejected, "dropped")]
    [InlineData(ScriptKind.Answer, "channelthrottled", 200, DeliveryStatus.Throttled, "channelthrottled")]
    [InlineData(ScriptKind.Answer, "received", 200, DeliveryStatus.Accepted, null)]
    public async Task SendAsync_RefusedInHeaders_TheyAreTheReason(ScriptKind kind, string? word, int status, DeliveryStatus expected, string? reason)
    {
        _sandbox.Scripts.Set(Browser, new Script(kind) { Reason = word, Status = status });

        var result = await SendAsync(Sample.Event(_time, notification: Hello));

        Assert.Equal((expected, reason), (result.Status, result.Reason));
    }

    [Theory]
    [InlineData("https://db5p.notify.windows.com/w/?token=x", false, true)]
    [InlineData("https://DB5P.Notify.Windows.com/w/?token=x", true, true)]
    [InlineData("https://localhost:8444/w/?token=x", true, true)]
    [InlineData("https://localhost:8444/w/?token=x", false, false)]
    [InlineData("https://push.example.com/w/?token=x", true, false)]
    [InlineData("https://notify.windows.com.example.com/w/?token=x", true, false)]
    [InlineData("https://localhost:8444/fcm/send/x", true, false)]
    public void Serves_ByHost_AndTheSandboxsPathOnThisMachine(string endpoint, bool allowLoopback, bool expected) =>
        Assert.Equal(expected, WindowsPush.Serves(new Uri(endpoint), allowLoopback));

    [Fact]
    public void Reason_Long_Cut()
    {
        var answer = new ProviderAnswer(400, null, 0) { WnsStatus = new string('s', 100), WnsDescription = new string('d', 1000) };
        Assert.Equal($"{new string('s', 32)}: {new string('d', 128)}", WindowsPush.Reason(answer));
    }

    [Fact]
    public async Task SendAsync_ToGoogle_NoWordOfWindows()
    {
        await using var push = await WebPushFixture.StartAsync();

        Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello))).Status);
        Assert.Empty(push.Server.Faults);
    }

    private Task<DeliveryResult> SendAsync(Event accepted) =>
        WebPushSandboxTests.SendAsync(_host, Sample.Delivery(accepted, WebPushSandboxTests.AddressOf(_sandbox.SubscribeToWindows(Browser))));
}
