using System.Text.Json;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public class FcmSenderTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    [Fact]
    public async Task SendAsync_Notification_ExactRequest()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: time);
        var accepted = Sample.Event(
            time,
            notification: Hello with { Sound = "default", Badge = 3, Image = "https://example.com/i.png" },
            ttl: TimeSpan.FromHours(1),
            collapseKey: "chat-7",
            data: """{"any":"json"}""",
            traceParent: "00-a-b-01");

        var result = await fcm.SendAsync(accepted);

        var request = Assert.Single(fcm.Server.Requests);
        Assert.Equal(("POST", "/v1/projects/pnh-test/messages:send", "HTTP/2"), (request.Method, request.Path, request.Protocol));
        Assert.Equal("Bearer access-0", request.Headers["authorization"]);
        Assert.Equal("application/json", request.Headers["content-type"]);
        Assert.Equal(
            """{"message":{"token":"dev:APA91b_x-1","android":{"ttl":"3600s","priority":"HIGH","collapse_key":"chat-7","notification":{"sound":"default","tag":"chat-7","notification_count":3}}"""
            + ""","notification":{"title":"Grace","body":"Hello","image":"https://example.com/i.png"}"""
            + ""","data":{"pnh-id":"event-1","pnh-class":"message","data":"{\"any\":\"json\"}","traceparent":"00-a-b-01"}"""
            + ""","apns":{"headers":{"apns-push-type":"alert","apns-priority":"10","apns-expiration":"1767229200","apns-collapse-id":"chat-7"},"payload":{"aps":{"sound":"default","badge":3,"mutable-content":1}}}"""
            + ""","webpush":{"headers":{"TTL":"3600","Urgency":"normal"}}}}""",
            request.Text);
        Assert.Equal((DeliveryStatus.Accepted, "projects/pnh-test/messages/0:1"), (result.Status, result.ProviderId));
    }

    [Fact]
    public async Task SendAsync_LaterAttemptOfOneEvent_TtlIsWhatIsLeft()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: time);
        var accepted = Sample.Event(time, notification: Hello, ttl: TimeSpan.FromMinutes(10));

        await fcm.SendAsync(accepted);
        time.Advance(TimeSpan.FromMinutes(9));
        await fcm.SendAsync(accepted, FcmFixture.Address("fid", "fid-1"));
        time.Advance(TimeSpan.FromMinutes(1));
        var late = await fcm.SendAsync(accepted);

        Assert.Equal(["600s", "60s"], fcm.Server.Requests.Select(request => Message(request).GetProperty("android").GetProperty("ttl").GetString()));
        Assert.Equal("fid-1", Message(fcm.Server.Requests[1]).GetProperty("fid").GetString());
        Assert.False(Message(fcm.Server.Requests[1]).TryGetProperty("token", out _));
        Assert.Equal(DeliveryStatus.Expired, late.Status);
    }

    [Theory]
    [InlineData("""{"badge":3}""", """{"badge":3}""")]
    [InlineData("""{"sound":"ring.caf"}""", """{"sound":"ring.caf"}""")]
    [InlineData("""{"category":"reply"}""", """{"category":"reply"}""")]
    [InlineData("""{"thread":"t"}""", """{"thread-id":"t"}""")]
    [InlineData("""{"subtitle":"s"}""", """{"alert":{"subtitle":"s"}}""")]
    public async Task SendAsync_NothingThatAndroidShows_IsADataMessageAndAnIPhonesPart(string given, string aps)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        var notification = JsonSerializer.Deserialize<Notification>(given, JsonSerializerOptions.Web);

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: notification));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.False(message.TryGetProperty("notification", out _));
        Assert.Equal(("NORMAL", false), (message.GetProperty("android").GetProperty("priority").GetString(), message.GetProperty("android").TryGetProperty("notification", out _)));
        Assert.Equal(aps, message.GetProperty("apns").GetProperty("payload").GetProperty("aps").GetRawText());
    }

    [Fact]
    public async Task SendAsync_CategoryAndSound_AreNamedAsAndroidNamesThem()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello with { Category = "reply", Sound = "my.ring.wav" }));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal("""{"sound":"my.ring","tag":"event-1"}""", message.GetProperty("android").GetProperty("notification").GetRawText());
        Assert.Equal("reply", message.GetProperty("data").GetProperty("pnh-category").GetString());
        Assert.Equal("""{"sound":"my.ring.wav","category":"reply"}""", message.GetProperty("apns").GetProperty("payload").GetProperty("aps").GetRawText());
    }

    [Theory]
    [InlineData(EventClass.Message, PushPriority.Saving, "NORMAL", "5", "low")]
    [InlineData(EventClass.Bulk, PushPriority.Now, "HIGH", "10", "high")]
    [InlineData(EventClass.Bulk, PushPriority.ByClass, "NORMAL", "5", "low")]
    public async Task SendAsync_Priority_IsApartFromTheClass(EventClass @class, PushPriority priority, string android, string apns, string webpush)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, @class, Hello, priority: priority));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal(
            (android, apns, webpush),
            (message.GetProperty("android").GetProperty("priority").GetString(), message.GetProperty("apns").GetProperty("headers").GetProperty("apns-priority").GetString(), message.GetProperty("webpush").GetProperty("headers").GetProperty("Urgency").GetString()));
    }

    [Theory]
    [InlineData(Interruption.Passive, "PRIORITY_LOW")]
    [InlineData(Interruption.TimeSensitive, "PRIORITY_HIGH")]
    [InlineData(Interruption.Critical, "PRIORITY_MAX")]
    public async Task SendAsync_ChannelAndInterruption_AreAndroidsAndApples(Interruption interruption, string priority)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello with { Channel = "orders", Interruption = interruption, Relevance = 0.5, IsMutable = true }));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal($$"""{"tag":"event-1","channel_id":"orders","notification_priority":"{{priority}}"}""", message.GetProperty("android").GetProperty("notification").GetRawText());
        var aps = message.GetProperty("apns").GetProperty("payload").GetProperty("aps");
        Assert.Equal((interruption.Label(), 0.5, 1), (aps.GetProperty("interruption-level").GetString(), aps.GetProperty("relevance-score").GetDouble(), aps.GetProperty("mutable-content").GetInt32()));
    }

    [Theory]
    [InlineData("https://example.com/7", true)]
    [InlineData("myapp://orders/7", false)]
    public async Task SendAsync_TextsOfTheAppAndALink_AreAndroidsAndApples(string link, bool isForTheWeb)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: new Notification { TitleKey = "t", TitleArgs = ["x"], BodyKey = "b", Link = link }));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.False(message.TryGetProperty("notification", out _));
        Assert.Equal("""{"tag":"event-1","title_loc_key":"t","body_loc_key":"b","title_loc_args":["x"]}""", message.GetProperty("android").GetProperty("notification").GetRawText());
        Assert.Equal("""{"title-loc-key":"t","loc-key":"b","title-loc-args":["x"]}""", message.GetProperty("apns").GetProperty("payload").GetProperty("aps").GetProperty("alert").GetRawText());
        Assert.Equal((link, "HIGH"), (message.GetProperty("data").GetProperty("pnh-link").GetString(), message.GetProperty("android").GetProperty("priority").GetString()));
        Assert.Equal(isForTheWeb ? link : null, message.GetProperty("webpush").TryGetProperty("fcm_options", out var options) ? options.GetProperty("link").GetString() : null);
    }

    [Theory]
    [InlineData("chat-7", "chat-7")]
    [InlineData("größe", null)]
    [InlineData("chat 7", null)]
    [InlineData(null, "event-1")]
    public async Task SendAsync_CollapseKey_ToAnIPhoneIsTheOneOfADirectPush(string? key, string? header)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        var accepted = Sample.Event(fcm.Time, notification: Hello, collapseKey: key);

        await fcm.SendAsync(accepted);

        var headers = Message(Assert.Single(fcm.Server.Requests)).GetProperty("apns").GetProperty("headers");
        var direct = Pnh.Channels.Apns.ApnsPush.For(accepted, "token").CollapseId;
        Assert.Equal(direct, headers.GetProperty("apns-collapse-id").GetString());
        Assert.Matches("^[!-~]{1,64}$", direct);
        Assert.Equal(header ?? direct, direct);
    }

    [Fact]
    public async Task SendAsync_OverrideInTheOtherSpelling_TakesThePlaceOfOurs()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello with { Badge = 2 }, collapseKey: "chat-7", overrides: new()
        {
            ["fcm"] = """{"android":{"collapseKey":"own","notification":{"notificationCount":9}},"fcmOptions":{"analyticsLabel":"l"}}""",
        }));

        var message = Message(Assert.Single(fcm.Server.Requests));
        var android = message.GetProperty("android");
        Assert.Equal(("own", false), (android.GetProperty("collapse_key").GetString(), android.TryGetProperty("collapseKey", out _)));
        Assert.Equal("""{"tag":"chat-7","notification_count":9}""", android.GetProperty("notification").GetRawText());
        Assert.Equal("""{"analytics_label":"l"}""", message.GetProperty("fcm_options").GetRawText());
    }

    [Fact]
    public async Task SendAsync_FifthCollapseKeyByTheOverridesOtherSpelling_GoesWithoutOne()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        for (var i = 0; i < 5; i++)
        {
            await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, id: $"e{i}", overrides: new() { ["fcm"] = $$$"""{"android":{"collapseKey":"k{{{i}}}"}}""" }));
        }

        Assert.Equal([true, true, true, true, false], fcm.Server.Requests.Select(static one => Message(one).GetProperty("android").TryGetProperty("collapse_key", out _)));
    }

    [Fact]
    public async Task SendAsync_FieldGivenTwiceInAStoredEvent_IsRefusedUnasked()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, overrides: new() { ["fcm"] = """{"android":{"collapseKey":"a","collapse_key":"b"}}""" }));
        var reserved = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, overrides: new() { ["fcm"] = """{"android":{"data":{"google.x":"a"}}}""" }));

        Assert.Equal(("invalid-override", "reserved-data-key"), (result.Reason, reserved.Reason));
        Assert.Empty(fcm.Server.Requests);
    }

    [Theory]
    [InlineData("token calls=data", EventClass.Call, true)]
    [InlineData("fid calls=data", EventClass.Call, true)]
    [InlineData("token calls=data", EventClass.Message, false)]
    [InlineData("token", EventClass.Call, false)]
    public async Task SendAsync_CallAsData_IsOneForAnAppThatWantsIt(string kind, EventClass @class, bool isData)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, @class, Hello, data: """{"room":7}"""), FcmFixture.Address(kind, "dev:APA91b_x-1"));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal("dev:APA91b_x-1", message.GetProperty(kind.Split(' ')[0]).GetString());
        Assert.Equal("HIGH", message.GetProperty("android").GetProperty("priority").GetString());
        Assert.Equal((!isData, !isData), (message.TryGetProperty("notification", out _), message.GetProperty("android").TryGetProperty("notification", out _)));
        Assert.Equal(
            isData ? """{"pnh-id":"event-1","pnh-class":"call","pnh-title":"Grace","pnh-body":"Hello","data":"{\"room\":7}"}""" : $$"""{"pnh-id":"event-1","pnh-class":"{{@class.Label()}}","data":"{\"room\":7}"}""",
            message.GetProperty("data").GetRawText());
    }

    [Theory]
    [InlineData(EventClass.Call, true, "HIGH")]
    [InlineData(EventClass.Call, false, "HIGH")]
    [InlineData(EventClass.Message, true, "HIGH")]
    [InlineData(EventClass.Message, false, "NORMAL")]
    [InlineData(EventClass.Bulk, true, "NORMAL")]
    public async Task SendAsync_Class_AndroidPriorityAndDataOnly(EventClass @class, bool visible, string priority)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, @class, visible ? Hello : null, ttl: TimeSpan.Zero));

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal(priority, message.GetProperty("android").GetProperty("priority").GetString());
        Assert.Equal("0s", message.GetProperty("android").GetProperty("ttl").GetString());
        Assert.Equal(visible, message.TryGetProperty("notification", out _));
        Assert.Equal(!visible, message.GetProperty("apns").GetProperty("payload").GetProperty("aps").TryGetProperty("content-available", out _));
    }

    [Fact]
    public async Task SendAsync_Override_MergedLastMemberByMember()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        var accepted = Sample.Event(fcm.Time, notification: Hello, overrides: new()
        {
            ["fcm"] = """{"android":{"ttl":"5s","notification":{"channel_id":"news"}},"notification":{"body":null},"data":{"own":"1"},"fcm_options":{"analytics_label":"a"}}""",
        });

        await fcm.SendAsync(accepted);

        var message = Message(Assert.Single(fcm.Server.Requests));
        Assert.Equal("""{"priority":"HIGH","notification":{"tag":"event-1","channel_id":"news"},"ttl":"5s"}""", Normal(message.GetProperty("android")));
        Assert.Equal("""{"title":"Grace"}""", message.GetProperty("notification").GetRawText());
        Assert.Equal("1", message.GetProperty("data").GetProperty("own").GetString());
        Assert.Equal("event-1", message.GetProperty("data").GetProperty("pnh-id").GetString());
        Assert.True(message.TryGetProperty("fcm_options", out _));
    }

    [Theory]
    [InlineData("""{"data":{"n":1}}""", "data-not-string")]
    [InlineData("""{"data":{"google.x":"1"}}""", "reserved-data-key")]
    [InlineData("""{"data":{"from":"1"}}""", "reserved-data-key")]
    [InlineData("""{"token":"other"}""", "override-names-target")]
    [InlineData("""[]""", "invalid-override")]
    public async Task SendAsync_OverrideFcmWouldRefuse_RefusedBefore(string json, string reason)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, overrides: new() { ["fcm"] = json }));

        Assert.Equal((DeliveryStatus.Rejected, reason), (result.Status, result.Reason));
        Assert.Empty(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_PayloadAtAndOverTheLimit_TheSecondIsAWakeUp()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        // body + "body" + pnh-id, event-1, pnh-class, message
        var rest = 4096 - "bodypnh-idevent-1pnh-classmessage".Length;
        var fits = await fcm.SendAsync(Sample.Event(fcm.Time, notification: new Notification { Body = new string('x', rest) }));
        var over = await fcm.SendAsync(Sample.Event(fcm.Time, notification: new Notification { Body = new string('x', rest - 1) + "ü" }));

        Assert.Equal(DeliveryStatus.Accepted, fits.Status);
        Assert.Equal((DeliveryStatus.Accepted, FetchPush.Reason), (over.Status, over.Reason));
        Assert.Null(fits.Reason);
        Assert.EndsWith("x…", Message(fcm.Server.Requests[1]).GetProperty("notification").GetProperty("body").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task SendAsync_DataTooLarge_TextsIdAndFetch()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, data: $"\"{new string('d', 4100)}\""));
        await fcm.SendAsync(Sample.Event(fcm.Time, data: $"\"{new string('d', 4100)}\"", id: "event-2"));

        Assert.Equal((DeliveryStatus.Accepted, "wake-up:payload-too-large"), (result.Status, result.Reason));
        var message = Message(fcm.Server.Requests[0]);
        Assert.Equal("""{"pnh-id":"event-1","pnh-class":"message","pnh-fetch":"true"}""", message.GetProperty("data").GetRawText());
        Assert.Equal("Grace", message.GetProperty("notification").GetProperty("title").GetString());
        Assert.Equal("""{"pnh-id":"event-2","pnh-class":"message","pnh-fetch":"true"}""", Message(fcm.Server.Requests[1]).GetProperty("data").GetRawText());
    }

    [Theory]
    [InlineData("""{"badge":3}""", "NORMAL")]
    [InlineData("""{"badge":3,"title":"Grace"}""", "HIGH")]
    [InlineData("""{"sound":"default"}""", "NORMAL")]
    public async Task SendAsync_NotificationOfABadgeOnly_WakesNobody(string notification, string priority)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        using var json = System.Text.Json.JsonDocument.Parse(notification);
        var members = json.RootElement;
        var shown = new Notification
        {
            Badge = members.TryGetProperty("badge", out var badge) ? badge.GetInt32() : null,
            Title = members.TryGetProperty("title", out var title) ? title.GetString() : null,
            Sound = members.TryGetProperty("sound", out var sound) ? sound.GetString() : null,
        };

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: shown));

        Assert.Equal(priority, Message(Assert.Single(fcm.Server.Requests)).GetProperty("android").GetProperty("priority").GetString());
    }

    [Theory]
    [InlineData("""a","topic":"all""")]
    [InlineData("a\\")]
    [InlineData("a\u0001")]
    [InlineData("")]
    public async Task SendAsync_AddressThatWouldBreakTheJson_NeverSent(string value)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello), FcmFixture.Address(value: value));

        Assert.Equal((DeliveryStatus.Rejected, "invalid-address"), (result.Status, result.Reason));
        Assert.Empty(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_ManyDevicesAtOnce_EachItsOwnAddress()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        var accepted = Sample.Event(fcm.Time, notification: Hello);

        await Task.WhenAll(Enumerable.Range(0, 200).Select(i => fcm.SendAsync(accepted, FcmFixture.Address(value: $"device-{i}"))));

        Assert.Equal(
            Enumerable.Range(0, 200).Select(i => $"device-{i}").Order(StringComparer.Ordinal),
            fcm.Server.Requests.Select(request => Message(request).GetProperty("token").GetString()!).Order(StringComparer.Ordinal));
        Assert.InRange(fcm.Server.MostInFlight, 1, fcm.Sender.MaxInFlight);
        Assert.Single(fcm.OAuth.Requests);
    }

    [Fact]
    public async Task SendAsync_Unauthorized_NewTokenAndOneMoreTry()
    {
        await using var fcm = await FcmFixture.StartAsync((request, _) =>
            request.Headers["authorization"] == "Bearer access-0" ? new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}""") : FcmFixture.Ok());

        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello))).Status);
        Assert.Equal(2, fcm.OAuth.Requests.Count);
        Assert.Equal(2, fcm.Server.Requests.Count);
    }

    [Fact]
    public async Task SendAsync_LooksAfterARefusalWithAnOldToken_MayTryTheNewOne()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync(
            (_, n) => n switch
            {
                0 => new Reply(403, """{"error":{"status":"PERMISSION_DENIED"}}"""),
                1 => new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}"""),
                _ => FcmFixture.Ok(),
            },
            time: time);

        Assert.Equal(DeliveryStatus.Misconfigured, (await fcm.SendAsync(Sample.Event(time, notification: Hello))).Status);
        time.Advance(ConfigurationStop.Pause);
        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Event(time, notification: Hello))).Status);
        Assert.Equal(["Bearer access-0", "Bearer access-0", "Bearer access-1"], fcm.Server.Requests.Select(static one => one.Headers["authorization"]));
    }

    [Fact]
    public async Task SendAsync_AlwaysUnauthorized_TenSecondsThenMisconfiguredWithoutAStormOfTokens()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, _) => new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}"""), time: time);

        for (var i = 0; i < 3; i++)
        {
            // The token that took the refused one's place is new: it may be some seconds until all of Google knows it.
            var early = await fcm.SendAsync(Sample.Event(time, notification: Hello, id: $"event-{i}"));
            Assert.Equal((DeliveryStatus.Unavailable, "UNAUTHENTICATED"), (early.Status, early.Reason));
            Assert.InRange(early.RetryAfter!.Value, TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(20));
            Assert.False(early.IsUnasked);
            time.Advance(TimeSpan.FromSeconds(1));
        }

        time.Advance(TimeSpan.FromSeconds(10));
        for (var i = 0; i < 5; i++)
        {
            var result = await fcm.SendAsync(Sample.Event(time, notification: Hello, id: $"late-{i}"));
            Assert.Equal((DeliveryStatus.Misconfigured, "UNAUTHENTICATED"), (result.Status, result.Reason));
            time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(2, fcm.OAuth.Requests.Count);
    }

    [Fact]
    public async Task SendAsync_NewTokenRefusedOnce_AcceptedTenSecondsLater()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, n) => n < 2 ? new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}""") : FcmFixture.Ok(), time: time);

        Assert.Equal(DeliveryStatus.Unavailable, (await fcm.SendAsync(Sample.Event(time, notification: Hello))).Status);
        time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Event(time, notification: Hello))).Status);
        Assert.Equal(2, fcm.OAuth.Requests.Count);
    }

    [Theory]
    [InlineData(500)]
    [InlineData(503)]
    public async Task SendAsync_ServerError_OneAttemptAndAtLeastTenSeconds(int status)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => new Reply(status, "<html>oops</html>"));

        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Unavailable, $"http-{status}"), (result.Status, result.Reason));
        Assert.InRange(result.RetryAfter!.Value, TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(20));
        Assert.Single(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_ProjectOverItsQuota_NothingMoreIsSentUntilTheMinuteIsOver()
    {
        var time = new FakeTimeProvider();
        await using var fcm = await FcmFixture.StartAsync((_, n) => n == 0 ? new Reply(429, FcmResponseTests.FrontEnd) : FcmFixture.Ok(), time: time);

        var first = await fcm.SendAsync(Sample.Event(time, notification: Hello));
        Assert.Equal((DeliveryStatus.Unavailable, "QUOTA_EXCEEDED:project", TimeSpan.FromSeconds(60)), (first.Status, first.Reason, first.RetryAfter!.Value));
        time.Advance(TimeSpan.FromSeconds(20));
        var second = await fcm.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"), FcmFixture.Address(value: "another"));
        Assert.Equal((DeliveryStatus.Unavailable, "QUOTA_EXCEEDED:project", TimeSpan.FromSeconds(40)), (second.Status, second.Reason, second.RetryAfter!.Value));
        Assert.Single(fcm.Server.Requests);

        time.Advance(TimeSpan.FromSeconds(40));
        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Event(time, notification: Hello, id: "event-3"))).Status);
    }

    [Fact]
    public async Task SendAsync_SenderIdMismatched_IsSaidToBePerhapsTheAccounts()
    {
        const string Mismatch = """{"error":{"details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"SENDER_ID_MISMATCH"}]}}""";
        await using var fcm = await FcmFixture.StartAsync((_, _) => new Reply(403, Mismatch));
        var result = await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.AddressDead, "SENDER_ID_MISMATCH", true), (result.Status, result.Reason, result.MayBeAccounts));
    }

    [Fact]
    public async Task SendAsync_HugeAnswer_Survived()
    {
        await using var fcm = await FcmFixture.StartAsync((_, n) => n == 0 ? new Reply(404, new string('x', 1024 * 1024)) : FcmFixture.Ok());

        Assert.Equal(DeliveryStatus.Unavailable, (await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello))).Status);
        Assert.Equal(DeliveryStatus.Accepted, (await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello))).Status);
    }

    private static JsonElement Message(Received request) => JsonDocument.Parse(request.Body).RootElement.GetProperty("message");

    private static string Normal(JsonElement element) => JsonSerializer.Serialize(element);
}
