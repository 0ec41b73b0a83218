using System.Diagnostics.CodeAnalysis;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;

namespace Pnh.Channels.Tests;

/// <summary>
/// Every request that PNH makes, against stand-ins that share no code with the channels: Apple's header matrix (push type, topic, priority, size), FCM's
/// published message schema with its patterns and limits, and the RFCs of Web Push. What they refuse, the providers refuse.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit ends it by DisposeAsync.")]
public sealed class SandboxMatrixTests : IAsyncLifetime
{
    private static readonly EventClass[] Classes = [EventClass.Call, EventClass.Message, EventClass.Bulk];

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-matrix-").FullName;
    private SandboxServer _sandbox = null!;
    private ChannelHost _host = null!;

    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        _sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0 }, timeout.Token);
        _host = new ChannelHost(TimeProvider.System, new()
        {
            ["Apps:demo:Apns:0:TeamId"] = _sandbox.Credentials.TeamId,
            ["Apps:demo:Apns:0:KeyId"] = _sandbox.Credentials.KeyId,
            ["Apps:demo:Apns:0:KeyFile"] = _sandbox.Credentials.KeyFile,
            ["Apps:demo:Apns:0:Topic"] = "com.example",
            ["Apps:demo:Apns:0:Environment"] = "sandbox",
            ["Apps:demo:Apns:0:BaseAddress"] = _sandbox.ApnsAddress.AbsoluteUri,
            ["Apps:demo:Fcm:0:ServiceAccountFile"] = _sandbox.Credentials.ServiceAccountFile,
            ["Apps:demo:Fcm:0:BaseAddress"] = _sandbox.FcmAddress.AbsoluteUri,
            ["Apps:demo:WebPush:0:Subject"] = "mailto:ops@example.com",
            ["Apps:demo:WebPush:0:KeyFile"] = _sandbox.Credentials.VapidKeyFile,
            ["Apps:demo:WebPush:0:AllowedHosts"] = _sandbox.FcmAddress.Authority,
            ["Apps:demo:WebPush:0:AllowLoopback"] = "true",
        });
        Assert.Empty(_host.Check());
        _host.Trust(_sandbox.ApnsAddress, _sandbox.CaCertificate);
        _host.Trust(_sandbox.FcmAddress, _sandbox.CaCertificate);
    }

    public async Task DisposeAsync()
    {
        await _host.DisposeAsync();
        await _sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Apns_DevelopmentEnvironment_ProviderIdEndsWithApplesOwn()
    {
        await using var sender = _host.Channel("apns").Open("demo/0", EventClass.Message);
        var accepted = Sample.Event(TimeProvider.System, notification: new Notification { Title = "Hi" });

        var result = await sender.SendAsync(Sample.Delivery(accepted, new PushAddress("apns", "token", "aa01", "sandbox/com.example", default)), CancellationToken.None);

        var ids = result.ProviderId!.Split(' ');
        Assert.Equal(_sandbox.Phones.Find("aa01")!.Requests[0].Header("apns-id"), ids[0]);
        Assert.True(Guid.TryParse(Assert.Single(ids[1..]), out _));
    }

    [Fact]
    public async Task Apns_EveryEventOnEveryKindOfAddress_AcceptedAndNothingCounted()
    {
        var sent = 0;
        await using var sender = _host.Channel("apns").Open("demo/0", EventClass.Message);
        foreach (var accepted in Events())
        {
            var isActivity = accepted.Overrides?.ContainsKey("apns") == true;
            foreach (var kind in isActivity ? ["liveActivityToken"] : accepted.Class == EventClass.Call ? ["token", "voipToken"] : (string[])["token"])
            {
                await AssertAcceptedAsync(sender, accepted, new PushAddress("apns", kind, "aa" + kind.Length.ToString("x2"), "sandbox/com.example", default));
                sent++;
            }
        }

        await AssertClearsAsync(sender, new PushAddress("apns", "token", "aabb", "sandbox/com.example", default));
        Assert.InRange(sent, 100, 10_000);
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Fact]
    public async Task Fcm_EveryEventOnEveryKindOfAddress_FitsThePublishedSchema()
    {
        var sent = 0;
        await using var sender = _host.Channel("fcm").Open("demo/0", EventClass.Message);
        foreach (var accepted in Events())
        {
            foreach (var kind in (string[])["token", "fid"])
            {
                await AssertAcceptedAsync(sender, accepted, new PushAddress("fcm", kind, kind == "fid" ? $"fYx-0_9aBcDeFgHiJkLmNo{sent / 200}" : $"fYx:APA91b_x-{sent / 200}", "", default)); // 240 a minute and device
                sent++;
            }
        }

        foreach (var kind in (string[])["token", "fid"])
        {
            await AssertClearsAsync(sender, new PushAddress("fcm", kind, "fYx-0_9aBcDeFgHiJkLmNo", "", default));
        }

        Assert.InRange(sent, 200, 10_000);
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Fact]
    public async Task WebPush_EveryEvent_AcceptedAndReadByTheBrowser()
    {
        var browser = _sandbox.Subscribe("ada-laptop");
        var address = new PushAddress("webpush", "subscription", $"{browser.Endpoint.AbsoluteUri} {browser.P256dh} {browser.Auth}", "", default);
        var channel = _host.Channel("webpush");
        await using var sender = channel.Open(channel.FindAccount("demo", address)!, EventClass.Message);
        var sent = 0;
        foreach (var accepted in Events())
        {
            await AssertAcceptedAsync(sender, accepted, address);
            sent++;
        }

        await AssertClearsAsync(sender, address);
        Assert.InRange(sent, 100, 10_000);
        Assert.Equal(0, _sandbox.Violations.Total);
        Assert.Equal(sent + Classes.Length, _sandbox.Phones.Find("ada-laptop")!.Received);
    }

    [Fact]
    public async Task Schema_IsHeldAgainstUs_AWrongOverrideIsRefused()
    {
        // The matrix would prove nothing if the stand-in took anything.
        await using var sender = _host.Channel("fcm").Open("demo/0", EventClass.Message);
        var wrong = Sample.Event(TimeProvider.System, overrides: new() { ["fcm"] = """{"android":{"priority":"urgent"}}""" });

        var result = await SendAsync(sender, Sample.Delivery(wrong, new PushAddress("fcm", "token", "fYx:APA91b_x-1", "", default)));

        Assert.Equal((DeliveryStatus.Rejected, "INVALID_ARGUMENT"), (result.Status, result.Reason));
    }

    /// <summary>Classes by notifications by data by TTL and collapse key, and the overrides.</summary>
    private static IEnumerable<Event> Events()
    {
        var n = 0;
        foreach (var @class in Classes)
        {
            foreach (var notification in Notifications())
            {
                foreach (var data in (string?[])[null, "{}", """{"n":1.50,"text":"ü \" \\ \u2028","deep":{"a":[1,null,true]}}""", "[1,2]", "\"text\""])
                {
                    foreach (var (ttl, key) in ((TimeSpan, string?)[])[(TimeSpan.Zero, null), (TimeSpan.FromSeconds(30), "chat-7"), (TimeSpan.FromDays(28), "Gruppe ü\n")])
                    {
                        yield return Sample.Event(
                            TimeProvider.System, @class, notification, ttl, key, data, id: $"event-{n++}", traceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
                    }
                }
            }

            yield return Sample.Event(
                TimeProvider.System, @class, id: $"activity-{@class}",
                overrides: new()
                {
                    ["apns"] = """{"aps":{"event":"update","timestamp":1700000000,"content-state":{"score":1}}}""",
                    ["fcm"] = """{"android":{"ttl":"3.5s","priority":"HIGH","notification":{"channel_id":"c","color":"#aabbcc"}},"fcm_options":{"analytics_label":"a-1"}}""",
                });
        }
    }

    private static IEnumerable<Notification?> Notifications()
    {
        yield return null;
        yield return new Notification { Title = "Grace" };
        yield return new Notification { Body = "Zeile 1\nZeile 2 \"quoted\" ü 🙂" };
        yield return new Notification
        {
            Title = "Grace",
            Subtitle = "at work",
            Body = "Hello",
            Sound = "default",
            Badge = 0,
            Image = "https://example.com/a.png",
            Category = "chat",
            Thread = "room-7",
            Locales = new Dictionary<string, LocalizedText> { ["de"] = new("Grace", "bei der Arbeit", "Hallo") },
        };
        yield return new Notification { Badge = 3 };
        yield return new Notification { Sound = "ring.caf", Category = "chat", Thread = "t" };
        yield return new Notification { Title = "T", Interruption = Interruption.Critical, Volume = 0.5, Channel = "alarms", Relevance = 1, IsMutable = true, Link = "https://example.com/7" };
        yield return new Notification { TitleKey = "t", TitleArgs = ["a", "b"], BodyKey = "b", BodyArgs = ["c"], Interruption = Interruption.Passive, Link = "myapp://7" };
    }

    private static async Task AssertClearsAsync(IPushSender sender, PushAddress address)
    {
        foreach (var @class in Classes)
        {
            var shown = Sample.Event(TimeProvider.System, @class, new Notification { Title = "Grace" });
            var result = await SendAsync(sender, Sample.Clear(shown, new Withdrawal("demo", shown.Id, "answered", shown.AcceptedAt), address));
            Assert.Equal((DeliveryStatus.Accepted, null), (result.Status, result.Reason));
        }
    }

    private static async Task AssertAcceptedAsync(IPushSender sender, Event accepted, PushAddress address)
    {
        var result = await SendAsync(sender, Sample.Delivery(accepted, address, locale: "de-AT"));
        Assert.True(result.Status == DeliveryStatus.Accepted, $"{accepted.Id} {accepted.Class} to {address}: {result.Status} {result.Reason}");
    }

    private static Task<DeliveryResult> SendAsync(IPushSender sender, Delivery delivery) =>
        sender.SendAsync(delivery, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);
}
