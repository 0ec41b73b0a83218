using System.Text.Json;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public class ApnsSenderTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    [Fact]
    public async Task SendAsync_Alert_ExactRequest()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        var accepted = Sample.Event(
            time, notification: Hello, ttl: TimeSpan.FromHours(1), collapseKey: "chat-7", data: """{ "any": 1.50 }""", traceParent: "00-a-b-01");

        var result = await apns.SendAsync(accepted);

        var request = Assert.Single(apns.Server.Requests);
        Assert.Equal(("POST", "/3/device/0011aabbccddeeff", "HTTP/2"), (request.Method, request.Path, request.Protocol));
        Assert.Equal("alert", request.Headers["apns-push-type"]);
        Assert.Equal("com.example", request.Headers["apns-topic"]);
        Assert.Equal("10", request.Headers["apns-priority"]);
        Assert.Equal("1767229200", request.Headers["apns-expiration"]);
        Assert.Equal("chat-7", request.Headers["apns-collapse-id"]);
        Assert.StartsWith("bearer ", request.Headers["authorization"], StringComparison.Ordinal);
        Assert.DoesNotContain("traceparent", request.Headers.Keys);
        Assert.Equal(
            """{"aps":{"alert":{"title":"Grace","body":"Hello"}},"pnh":{"id":"event-1","class":"message","traceparent":"00-a-b-01"},"pnh-id":"event-1","data":{"any":1.50}}""",
            request.Text);
        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        Assert.Equal(request.Headers["apns-id"], result.ProviderId);
        Assert.True(Guid.TryParseExact(result.ProviderId, "D", out _));
        Assert.Equal(result.ProviderId!.ToLowerInvariant(), result.ProviderId);
    }

    [Theory]
    [InlineData("token", EventClass.Message, true, "alert", "com.example", "10")]
    [InlineData("token", EventClass.Call, true, "alert", "com.example", "10")]
    [InlineData("token", EventClass.Bulk, true, "alert", "com.example", "5")]
    [InlineData("token", EventClass.Message, false, "background", "com.example", "5")]
    [InlineData("token", EventClass.Call, false, "background", "com.example", "5")]
    [InlineData("voipToken", EventClass.Call, true, "voip", "com.example.voip", "10")]
    [InlineData("liveActivityToken", EventClass.Message, false, "liveactivity", "com.example.push-type.liveactivity", "10")]
    [InlineData("liveActivityToken", EventClass.Bulk, false, "liveactivity", "com.example.push-type.liveactivity", "5")]
    public async Task SendAsync_KindAndClass_TypeTopicPriority(string kind, EventClass @class, bool visible, string type, string topic, string priority)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        await apns.SendAsync(Sample.Event(apns.Time, @class, visible ? Hello : null), kind);

        var headers = Assert.Single(apns.Server.Requests).Headers;
        Assert.Equal((type, topic, priority), (headers["apns-push-type"], headers["apns-topic"], headers["apns-priority"]));
    }

    [Fact]
    public async Task SendAsync_TtlZero_NowOrNever()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello, ttl: TimeSpan.Zero));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        Assert.Equal("0", Assert.Single(apns.Server.Requests).Headers["apns-expiration"]);
    }

    [Fact]
    public async Task SendAsync_Expired_NotSent()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        var accepted = Sample.Event(time, notification: Hello, ttl: TimeSpan.FromSeconds(30));
        time.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(DeliveryStatus.Expired, (await apns.SendAsync(accepted)).Status);
        Assert.Empty(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_CollapseKeyThatNoHeaderCarries_HashedAndStable()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        await apns.SendAsync(Sample.Event(apns.Time, notification: Hello, collapseKey: "Gruppe ü\n"));
        await apns.SendAsync(Sample.Event(apns.Time, notification: Hello, collapseKey: "Gruppe ü\n", id: "event-2"));
        await apns.SendAsync(Sample.Event(apns.Time, notification: Hello, collapseKey: "Gruppe ü", id: "event-3"));

        var ids = apns.Server.Requests.Select(request => request.Headers["apns-collapse-id"]).ToArray();
        Assert.Equal(ids[0], ids[1]);
        Assert.NotEqual(ids[0], ids[2]);
        Assert.All(ids, id => Assert.True(id.Length <= 64 && id.All(char.IsAscii)));
    }

    [Theory]
    [InlineData("token", 4096)]
    [InlineData("voipToken", 5120)]
    public async Task SendAsync_PayloadAtAndOverTheLimit_TheSecondIsAWakeUp(string kind, int limit)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        Event WithBody(int characters) => Sample.Event(apns.Time, EventClass.Call, new Notification { Body = new string('x', characters) });
        await apns.SendAsync(WithBody(0), kind);
        var empty = apns.Server.Requests[0].Body.Length;

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(WithBody(limit - empty), kind)).Status);
        var cut = await apns.SendAsync(WithBody(limit - empty + 1), kind);

        Assert.Equal((DeliveryStatus.Accepted, FetchPush.Reason), (cut.Status, cut.Reason));
        Assert.Equal(limit, apns.Server.Requests[1].Body.Length);
        Assert.DoesNotContain("pnh-fetch", apns.Server.Requests[1].Text, StringComparison.Ordinal);
        Assert.InRange(apns.Server.Requests[2].Body.Length, limit - 10, limit);
        Assert.Contains("""x…"}""", apns.Server.Requests[2].Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task SendAsync_TooManyTokenUpdates_OnceMoreOnTheNextConnection()
    {
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(429, """{"reason":"TooManyProviderTokenUpdates"}""") : new Reply(200));

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(apns.Time))).Status);

        Assert.Equal(2, apns.Server.Requests.Select(request => request.Connection).Distinct().Count());
        Assert.Single(apns.Server.Requests.Select(request => request.Headers["authorization"]).Distinct());
    }

    [Fact]
    public async Task SendAsync_TooManyTokenUpdatesOnTheNextConnectionToo_TwentyMinutes()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(429, """{"reason":"TooManyProviderTokenUpdates"}"""));

        var result = await apns.SendAsync(Sample.Event(apns.Time));

        Assert.Equal((DeliveryStatus.Unavailable, "TooManyProviderTokenUpdates", TimeSpan.FromMinutes(20)), (result.Status, result.Reason, result.RetryAfter!.Value));
        Assert.Equal(2, apns.Server.Requests.Count);
    }

    [Fact]
    public async Task SendAsync_ServerErrorsThenOk_SameIdOnEveryAttempt()
    {
        await using var apns = await ApnsFixture.StartAsync((_, n) => n < 2 ? new Reply(503, """{"reason":"ServiceUnavailable"}""") : new Reply(200));

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(apns.Time, notification: Hello))).Status);

        Assert.Equal(3, apns.Server.Requests.Count);
        Assert.Single(apns.Server.Requests.Select(request => request.Headers["apns-id"]).Distinct());
    }

    [Fact]
    public async Task SendAsync_OneEventTwoDevices_TwoIds()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        var accepted = Sample.Event(apns.Time, notification: Hello, id: "0198c0de-0000-7000-8000-000000000001");

        var first = await apns.SendAsync(accepted);
        var second = await apns.SendAsync(accepted, device: "phone-2");

        Assert.NotEqual(first.ProviderId, second.ProviderId);
        Assert.NotEqual(accepted.Id, first.ProviderId);
    }

    [Fact]
    public async Task SendAsync_RetryAfterNamed_NotTriedAgainHere()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(503, """{"reason":"ServiceUnavailable"}""", RetryAfter: "90"));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Unavailable, TimeSpan.FromSeconds(90)), (result.Status, result.RetryAfter!.Value));
        Assert.Single(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_StreamRefused_SentAgain()
    {
        const int refusedStream = 7;
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(0, Reset: refusedStream) : new Reply(200));

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(apns.Time, notification: Hello))).Status);
        Assert.Equal(2, apns.Server.Requests.Count);
    }

    [Fact]
    public async Task SendAsync_StreamBrokenOff_AmbiguousSoNotSentAgain()
    {
        const int internalError = 2;
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(0, Reset: internalError));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Unavailable, "connection-lost"), (result.Status, result.Reason));
        Assert.Single(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_ProviderDown_UnavailableAndThenBreakerOpen()
    {
        await using var apns = ApnsFixture.WithoutServer();
        var reasons = new List<string?>();
        for (var i = 0; i < 6; i++)
        {
            var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));
            Assert.Equal(DeliveryStatus.Unavailable, result.Status);
            reasons.Add(result.Reason);
        }

        Assert.Equal("connect-failed", reasons[0]);
        Assert.Equal("breaker-open", reasons[^1]);
    }

    [Theory]
    [InlineData(502)]
    [InlineData(404)]
    [InlineData(410)]
    public async Task SendAsync_Html_UnavailableAndNoAddressDies(int status)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(status, "<html>gateway</html>"));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Unavailable, $"http-{status}"), (result.Status, result.Reason));
    }

    [Fact]
    public async Task SendAsync_HugeErrorBody_SurvivedAndConnectionStillUsed()
    {
        var huge = $$"""{"padding":"{{new string('x', 1024 * 1024)}}","reason":"BadDeviceToken"}""";
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(400, huge) : new Reply(200));

        var first = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));
        var second = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello, id: "event-2"));

        Assert.Equal((DeliveryStatus.Unavailable, "http-400"), (first.Status, first.Reason));
        Assert.Equal(DeliveryStatus.Accepted, second.Status);
    }

    [Fact]
    public async Task SendAsync_SilentProvider_TimeoutAsResult()
    {
        var never = new TaskCompletionSource();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200, Gate: never.Task));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Unavailable, "timeout"), (result.Status, result.Reason));
        Assert.Single(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_CallerStopsWithTheRequestOnItsWay_UnknownAndNotThrown()
    {
        var never = new TaskCompletionSource();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200, Gate: never.Task));
        using var stop = new CancellationTokenSource();
        var delivery = Sample.Delivery(Sample.Event(apns.Time, notification: Hello), ApnsFixture.Address());
        var send = apns.Sender.SendAsync(delivery, stop.Token).AsTask();
        while (apns.Server.Requests.Count == 0)
        {
            await Task.Delay(5);
        }

        await stop.CancelAsync();
        var result = await send.WaitAsync(Sample.Limit);
        Assert.Equal((DeliveryStatus.Unavailable, "stopped", true, null), (result.Status, result.Reason, result.IsUnknown, result.Late));

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => apns.Sender.SendAsync(delivery, stop.Token).AsTask().WaitAsync(Sample.Limit));
    }

    [Fact]
    public async Task SendAsync_ColdConnection_OneRequestUntilTheFirstAnswer()
    {
        var first = new TaskCompletionSource();
        var rest = new TaskCompletionSource();
        await using var apns = await ApnsFixture.StartAsync((_, n) => new Reply(200, Gate: n == 0 ? first.Task : rest.Task));
        var sends = Enumerable.Range(0, 20).Select(i => apns.SendAsync(Sample.Event(apns.Time, notification: Hello, id: $"event-{i}"))).ToList();

        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 1);
        await Task.Delay(200);
        Assert.Single(apns.Server.Requests);
        Assert.Equal((1, 0), (apns.Gauges.Connections(ConnectionState.Cold), apns.Gauges.Connections(ConnectionState.Warm)));
        Assert.Equal(1, apns.Gauges.InFlight);

        first.SetResult();
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 20);
        Assert.Equal((0, 1), (apns.Gauges.Connections(ConnectionState.Cold), apns.Gauges.Connections(ConnectionState.Warm)));
        Assert.Equal(19, apns.Gauges.InFlight);

        rest.SetResult();
        Assert.All(await Task.WhenAll(sends), result => Assert.Equal(DeliveryStatus.Accepted, result.Status));
        Assert.Single(apns.Server.Requests.Select(request => request.Connection).Distinct());
        Assert.Equal(0, apns.Gauges.InFlight);
    }

    [Fact]
    public async Task SendAsync_ExpiredProviderToken_RenewedOnNewConnectionWhenOldEnough()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync(
            (_, n) => n == 1 ? new Reply(403, """{"reason":"ExpiredProviderToken"}""") : new Reply(200), time);
        await apns.SendAsync(Sample.Event(time, notification: Hello));
        time.Advance(TimeSpan.FromMinutes(21));

        var result = await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var requests = apns.Server.Requests;
        Assert.Equal(3, requests.Count);
        Assert.Equal(requests[0].Headers["authorization"], requests[1].Headers["authorization"]);
        Assert.NotEqual(requests[1].Headers["authorization"], requests[2].Headers["authorization"]);
        Assert.NotEqual(requests[1].Connection, requests[2].Connection);
        Assert.Equal(requests[1].Headers["apns-id"], requests[2].Headers["apns-id"]);
    }

    [Fact]
    public async Task SendAsync_FreshTokenCalledExpired_MisconfiguredWithoutAnotherToken()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(403, """{"reason":"ExpiredProviderToken"}"""));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: Hello));

        Assert.Equal((DeliveryStatus.Misconfigured, "ExpiredProviderToken"), (result.Status, result.Reason));
        Assert.Single(apns.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_DeviceLocale_ItsLanguage()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        var localised = Hello with { Locales = new Dictionary<string, LocalizedText> { ["de"] = new(null, null, "Hallo ü") } };
        var accepted = Sample.Event(apns.Time, notification: localised);

        await apns.SendAsync(accepted, locale: "de-AT");
        await apns.SendAsync(accepted, locale: "fr");

        var alerts = apns.Server.Requests
            .Select(request => JsonDocument.Parse(request.Body).RootElement.GetProperty("aps").GetProperty("alert").GetRawText());
        Assert.Equal(["""{"title":"Grace","body":"Hallo ü"}""", """{"title":"Grace","body":"Hello"}"""], alerts);
    }
}
