using System.Text.Json;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushSenderTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    [Theory]
    [InlineData(HttpProtocols.Http1AndHttp2, "HTTP/2")]
    [InlineData(HttpProtocols.Http1, "HTTP/1.1")]
    public async Task SendAsync_Notification_ExactRequestInTheProtocolTheServiceSpeaks(HttpProtocols offered, string spoken)
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(201, Location: "https://push.example.net/m/id-1"), offered);
        var accepted = Sample.Event(
            push.Time,
            notification: Hello with { Subtitle = "Work", Sound = "default", Badge = 3, Image = "https://example.com/i.png", Category = "reply", Thread = "t-1" },
            ttl: TimeSpan.FromHours(1),
            collapseKey: "chat-7",
            data: """{"any":"json"}""",
            traceParent: "00-a-b-01");

        var result = await push.SendAsync(accepted);

        Assert.Empty(push.Server.Faults);
        var message = Assert.Single(push.Server.Messages);
        Assert.Equal(("/p/secret-1", spoken, "3600", "high", "chat-7"), (message.Path, message.Protocol, message.Ttl, message.Urgency, message.Topic));
        Assert.Equal(
            """{"id":"event-1","class":"message","title":"Grace","subtitle":"Work","body":"Hello","sound":"default","image":"https://example.com/i.png","category":"reply","thread":"t-1","badge":3"""
            + ""","tag":"chat-7","traceparent":"00-a-b-01","data":{"any":"json"}}""",
            message.Text);
        Assert.Equal((DeliveryStatus.Accepted, "id-1"), (result.Status, result.ProviderId));

        // The framework's handler, told by ALPN that it is HTTP/1.1 after all, now and then dials a second time for the same request: 2 of 3,200 runs beside busy cores.
        Assert.InRange(push.Gauges.Connections(ConnectionState.Warm), 1, offered == HttpProtocols.Http1 ? 2 : 1);
    }

    [Fact]
    public async Task SendAsync_LocaleOfTheDevice_ItsTextsAndItsName()
    {
        await using var push = await WebPushFixture.StartAsync();
        var accepted = Sample.Event(push.Time, notification: Hello with
        {
            Locales = new Dictionary<string, LocalizedText> { ["de"] = new(null, null, "Hallo") },
        });

        await push.SendAsync(accepted, locale: "de-AT");
        await push.SendAsync(accepted, locale: "fr");

        Assert.Equal(
            ["""{"id":"event-1","class":"message","title":"Grace","body":"Hallo","locale":"de","tag":"event-1"}""", """{"id":"event-1","class":"message","title":"Grace","body":"Hello","tag":"event-1"}"""],
            push.Server.Messages.Select(message => message.Text));
    }

    [Theory]
    [InlineData(EventClass.Call, true, "high")]
    [InlineData(EventClass.Call, false, "high")]
    [InlineData(EventClass.Message, true, "high")]
    [InlineData(EventClass.Message, false, "normal")]
    [InlineData(EventClass.Bulk, true, "low")]
    public async Task SendAsync_Class_Urgency(EventClass @class, bool visible, string urgency)
    {
        await using var push = await WebPushFixture.StartAsync();

        await push.SendAsync(Sample.Event(push.Time, @class, visible ? Hello : null, ttl: TimeSpan.Zero));

        var message = Assert.Single(push.Server.Messages);
        Assert.Equal((urgency, "0", "event-1"), (message.Urgency, message.Ttl, message.Topic));
    }

    [Fact]
    public async Task SendAsync_LaterAttempt_TtlIsWhatIsLeft()
    {
        await using var push = await WebPushFixture.StartAsync();
        var accepted = Sample.Event(push.Time, notification: Hello, ttl: TimeSpan.FromMinutes(10));

        push.Time.Advance(TimeSpan.FromMinutes(9));
        await push.SendAsync(accepted);
        push.Time.Advance(TimeSpan.FromMinutes(1));
        var late = await push.SendAsync(accepted);

        Assert.Equal("60", Assert.Single(push.Server.Messages).Ttl);
        Assert.Equal(DeliveryStatus.Expired, late.Status);
    }

    [Fact]
    public async Task SendAsync_CollapseKeyThatIsNoTopic_HashedAndStable()
    {
        await using var push = await WebPushFixture.StartAsync();

        foreach (var key in new[] { "chat/7", "chat/7", "chat/8", new string('k', 32), new string('k', 33) })
        {
            Assert.Equal(DeliveryStatus.Accepted, (await push.SendAsync(Sample.Event(push.Time, notification: Hello, collapseKey: key))).Status);
        }

        var topics = push.Server.Messages.Select(message => message.Topic!).ToList();
        Assert.All(topics, topic => Assert.Equal(32, topic.Length));
        Assert.Equal(topics[0], topics[1]);
        Assert.NotEqual(topics[1], topics[2]);
        Assert.Equal(new string('k', 32), topics[3]);
        Assert.NotEqual(topics[3], topics[4]);
    }

    [Theory]
    [InlineData("order-100", true)]
    [InlineData("V1StGXR8_Z5jdHi6B-myT", true)]
    [InlineData("cjld2cjxh0000qzrmn831i7rn", true)]
    [InlineData("k", true)]
    [InlineData("order-10", false)]
    [InlineData("order-1000", false)]
    [InlineData("9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d", false)]
    public async Task SendAsync_KeyOfALengthThatNoBase64Has_IsHashed(string key, bool isHashed)
    {
        await using var push = await WebPushFixture.StartAsync();

        await push.SendAsync(Sample.Event(push.Time, notification: Hello, id: key));
        await push.SendAsync(Sample.Event(push.Time, notification: Hello, collapseKey: key));

        var topics = push.Server.Messages.Select(message => message.Topic!).ToList();
        Assert.Equal(topics[0], topics[1]);
        Assert.Equal(isHashed ? 32 : key.Length, topics[0].Length);
        Assert.Equal(!isHashed, topics[0] == key);
    }

    [Theory]
    [InlineData(401)]
    [InlineData(403)]
    public async Task SendAsync_StaleSubscriptionAmongGoodOnes_IsItsOwnFaultUntilAllAreRefused(int status)
    {
        var stale = new HashSet<int> { 1, 3 };
        await using var push = await WebPushFixture.StartAsync(count => new Answer(count is 1 or 3 or > 4 ? status : 201));

        var results = new List<DeliveryResult>();
        for (var i = 0; i < 12; i++)
        {
            results.Add(await push.SendAsync(Sample.Event(push.Time, notification: Hello), push.Address($"{push.Endpoint}-{i}")));
        }

        Assert.Equal(
            [.. Enumerable.Range(0, 5).Select(i => stale.Contains(i) ? DeliveryStatus.Rejected : DeliveryStatus.Accepted),
                .. Enumerable.Repeat(DeliveryStatus.Rejected, 5), .. Enumerable.Repeat(DeliveryStatus.Misconfigured, 2)],
            results.Select(static one => one.Status));
        Assert.Equal($"http-{status}", results[1].Reason);
    }

    [Fact]
    public async Task SendAsync_TooLargeForThisBrowser_GoesOnceMoreAsAWakeUp()
    {
        await using var push = await WebPushFixture.StartAsync(count => new Answer(count == 0 ? 413 : 201));

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello with { Body = new string('x', 2_500) }, data: $$"""{"a":"{{new string('y', 500)}}"}"""));

        Assert.Equal((DeliveryStatus.Accepted, "wake-up:payload-too-large"), (result.Status, result.Reason));
        Assert.Equal(2, push.Server.Messages.Count);
        var small = JsonDocument.Parse(push.Server.Messages[1].Text).RootElement;
        Assert.True(push.Server.Messages[1].Text.Length is > 1_900 and <= 2_048);
        Assert.Equal(("Grace", true, false), (small.GetProperty("title").GetString(), small.GetProperty("pnh-fetch").GetBoolean(), small.TryGetProperty("data", out _)));
    }

    [Fact]
    public async Task SendAsync_TooLargeAsAWakeUpToo_IsRejectedAndNotSentAThirdTime()
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(413));

        var withData = await push.SendAsync(Sample.Event(push.Time, notification: Hello, data: $$"""{"a":"{{new string('y', 100)}}"}"""));
        var wakeUp = await push.SendAsync(Sample.Event(push.Time, notification: Hello with { Body = new string('x', 5_000) }));
        var smallest = await push.SendAsync(Sample.Event(push.Time, notification: Hello));

        Assert.All([withData, wakeUp, smallest], static result => Assert.Equal((DeliveryStatus.Rejected, "payload-too-large"), (result.Status, result.Reason)));
        Assert.Equal(5, push.Server.Messages.Count);
    }

    [Fact]
    public async Task SendAsync_Override_MergedLast()
    {
        await using var push = await WebPushFixture.StartAsync();

        await push.SendAsync(Sample.Event(push.Time, notification: Hello, data: """{"a":1,"b":2}""", overrides: new()
        {
            ["webpush"] = """{"body":null,"data":{"b":3},"actions":["reply"]}""",
        }));
        var refused = await push.SendAsync(Sample.Event(push.Time, notification: Hello, overrides: new() { ["webpush"] = "[]" }));

        Assert.Equal(
            """{"id":"event-1","class":"message","title":"Grace","tag":"event-1","data":{"a":1,"b":3},"actions":["reply"]}""", Assert.Single(push.Server.Messages).Text);
        Assert.Equal((DeliveryStatus.Rejected, "invalid-override"), (refused.Status, refused.Reason));
    }

    [Fact]
    public async Task SendAsync_PayloadAtAndOverTheLimit_TheSecondIsAWakeUp()
    {
        await using var push = await WebPushFixture.StartAsync();
        var rest = 3993 - """{"id":"event-1","class":"message","body":"","tag":"event-1"}""".Length;

        var fits = await push.SendAsync(Sample.Event(push.Time, notification: new Notification { Body = new string('x', rest) }));
        var over = await push.SendAsync(Sample.Event(push.Time, notification: new Notification { Body = new string('x', rest - 1) + "ü" }));

        Assert.Equal(DeliveryStatus.Accepted, fits.Status);
        Assert.Equal((DeliveryStatus.Accepted, FetchPush.Reason), (over.Status, over.Reason));
        Assert.Null(fits.Reason);
        Assert.Equal(4096, push.Server.Messages[0].BodyBytes);
        Assert.EndsWith("""x…","tag":"event-1","pnh-fetch":true}""", push.Server.Messages[1].Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task SendAsync_DataTooLarge_TextsIdAndFetch()
    {
        await using var push = await WebPushFixture.StartAsync();

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello, data: $"\"{new string('d', 4000)}\""));

        Assert.Equal((DeliveryStatus.Accepted, "wake-up:payload-too-large"), (result.Status, result.Reason));
        Assert.Equal("""{"id":"event-1","class":"message","title":"Grace","body":"Hello","tag":"event-1","pnh-fetch":true}""", Assert.Single(push.Server.Messages).Text);
    }

    [Theory]
    [InlineData(EventClass.Call, "high")]
    [InlineData(EventClass.Message, "normal")]
    [InlineData(EventClass.Bulk, "low")]
    public async Task SendAsync_ClearAfterTheEventsEnd_DataAloneWithoutTopicForAnHour(EventClass @class, string urgency)
    {
        await using var push = await WebPushFixture.StartAsync();
        var shown = Sample.Event(push.Time, @class, Hello, collapseKey: "chat-7", data: """{"secret":1}""");
        push.Time.Advance(TimeSpan.FromHours(25));

        var result = await push.SendAsync(Sample.Clear(shown, new Withdrawal("demo", "event-1", "seen", push.Time.GetUtcNow()), push.Address()));

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var message = Assert.Single(push.Server.Messages);
        Assert.Equal("""{"id":"event-1","pnh-withdraw":"event-1","pnh-reason":"seen"}""", message.Text);
        Assert.Equal(("3600", urgency, null), (message.Ttl, message.Urgency, message.Topic));
    }

    [Fact]
    public async Task SendAsync_ManyDevicesAtOnce_OneCredentialAndOneConnection()
    {
        await using var push = await WebPushFixture.StartAsync();
        var accepted = Sample.Event(push.Time, notification: Hello);

        var results = await Task.WhenAll(Enumerable.Range(0, 200).Select(i => push.SendAsync(accepted, push.Address(push.Endpoint + i))));

        Assert.All(results, result => Assert.Equal(DeliveryStatus.Accepted, result.Status));
        Assert.Equal(200, push.Server.Messages.Select(message => message.Path).Distinct().Count());
        Assert.Single(push.Server.Messages.Select(message => message.Authorization).Distinct());
        Assert.Equal(1, push.Gauges.Connections(ConnectionState.Warm));
    }

    [Theory]
    [InlineData("https://localhost:1/p/1", "endpoint-not-allowed")]
    [InlineData("http://localhost/p/1", "invalid-address")]
    [InlineData("", "invalid-address")]
    public async Task SendAsync_AddressNotOfThisRoute_NeverSent(string endpoint, string reason)
    {
        await using var push = await WebPushFixture.StartAsync();

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello), push.Address(endpoint));

        Assert.Equal((DeliveryStatus.Rejected, reason), (result.Status, result.Reason));
        Assert.Empty(push.Server.Messages);
    }

    [Fact]
    public async Task SendAsync_KeyOffTheCurve_RejectedNotThrown()
    {
        await using var push = await WebPushFixture.StartAsync();
        var off = Convert.ToBase64String([4, .. Enumerable.Repeat((byte)1, 64)]).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        var address = push.Address() with { Value = $"{push.Endpoint} {off} {push.Server.Browser.Auth}" };

        var result = await push.SendAsync(Sample.Event(push.Time, notification: Hello), address);

        Assert.Equal((DeliveryStatus.Rejected, "invalid-address"), (result.Status, result.Reason));
    }
}
