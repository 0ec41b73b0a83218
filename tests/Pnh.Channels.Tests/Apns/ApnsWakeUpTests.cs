using System.Text.Json;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

/// <summary>What goes out for an event that APNs would not take whole; and what a live activity needs.</summary>
public sealed class ApnsWakeUpTests
{
    private static readonly string Data = $"\"{new string('d', 5200)}\"";

    [Fact]
    public async Task SendAsync_DataTooLarge_TextsIdAndFetch()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        var result = await apns.SendAsync(Sample.Event(apns.Time, notification: new Notification { Title = "Grace", Body = "Hello", Badge = 3 }, data: Data));

        Assert.Equal((DeliveryStatus.Accepted, "wake-up:payload-too-large"), (result.Status, result.Reason));
        var request = Assert.Single(apns.Server.Requests);
        Assert.Equal(
            """{"aps":{"alert":{"title":"Grace","body":"Hello"},"badge":3,"content-available":1,"mutable-content":1},"pnh":{"id":"event-1","class":"message"},"pnh-id":"event-1","pnh-fetch":true}""",
            request.Text);
        Assert.Equal("alert", request.Headers["apns-push-type"]);
    }

    [Fact]
    public async Task SendAsync_DataAloneTooLarge_BackgroundAndFetch()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        var result = await apns.SendAsync(Sample.Event(apns.Time, data: Data));

        Assert.Equal(FetchPush.Reason, result.Reason);
        Assert.Equal(
            """{"aps":{"content-available":1},"pnh":{"id":"event-1","class":"message"},"pnh-id":"event-1","pnh-fetch":true}""", Assert.Single(apns.Server.Requests).Text);
    }

    [Theory]
    [InlineData(100, true)]
    [InlineData(4000, false)]
    public async Task SendAsync_DataTooLargeWithOverride_ItStaysWhereItFits(int characters, bool stays)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        var accepted = Sample.Event(
            apns.Time, notification: new Notification { Title = "Grace" }, data: Data, overrides: new() { ["apns"] = $$"""{"own":"{{new string('o', characters)}}"}""" });

        Assert.Equal(FetchPush.Reason, (await apns.SendAsync(accepted)).Reason);

        using var payload = JsonDocument.Parse(Assert.Single(apns.Server.Requests).Text);
        Assert.Equal(stays, payload.RootElement.TryGetProperty("own", out _));
        Assert.True(payload.RootElement.GetProperty("pnh-fetch").GetBoolean());
    }

    [Fact]
    public async Task SendAsync_TextsTooLarge_CutFromTheBodyOnAtWholeCharacters()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        var accepted = Sample.Event(apns.Time, notification: new Notification { Title = "T" + string.Concat(Enumerable.Repeat("🙂", 1500)), Body = new string('b', 5000), Image = "https://example.com/x.png" });

        Assert.Equal(FetchPush.Reason, (await apns.SendAsync(accepted)).Reason);

        var request = Assert.Single(apns.Server.Requests);
        using var payload = JsonDocument.Parse(request.Text);
        var alert = payload.RootElement.GetProperty("aps").GetProperty("alert");
        Assert.Equal("…", alert.GetProperty("body").GetString());
        Assert.Matches("^T(\ud83d\ude42)+…$", alert.GetProperty("title").GetString());
        Assert.InRange(request.Body.Length, 4096 - 8, 4096);
    }

    [Fact]
    public async Task SendAsync_LiveActivity_TimestampUnlessGiven()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        await apns.SendAsync(Update("""{"event":"update","content-state":{"score":1}}"""), "liveActivityToken");
        await apns.SendAsync(Update("""{"event":"update","timestamp":7,"content-state":{}}"""), "liveActivityToken");

        Assert.Equal([time.Start.ToUnixTimeSeconds(), 7], apns.Server.Requests.Select(static request =>
        {
            using var payload = JsonDocument.Parse(request.Text);
            return payload.RootElement.GetProperty("aps").GetProperty("timestamp").GetInt64();
        }));

        Event Update(string aps) => Sample.Event(time, overrides: new() { ["apns"] = $$"""{"aps":{{aps}}}""" });
    }

    [Fact]
    public async Task SendAsync_LiveActivityWithTooMuchData_KeepsItsStateAndLosesTheData()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        var result = await apns.SendAsync(
            Sample.Event(apns.Time, data: Data, overrides: new() { ["apns"] = """{"aps":{"event":"update","content-state":{"score":1}}}""" }), "liveActivityToken");

        Assert.Equal(FetchPush.Reason, result.Reason);
        Assert.Contains("\"content-state\":{\"score\":1}", Assert.Single(apns.Server.Requests).Text, StringComparison.Ordinal);
    }
}
