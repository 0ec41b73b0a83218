using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Events that a provider would not take as they are: too large, or with an override that it refuses.</summary>
public sealed class WakeUpTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Event_LargerThanAnyProviderTakes_WakesTheDevicesAndIsReadFromTheInbox()
    {
        var sandbox = _hub.Host.Start.Sandbox!;
        await _hub.SendAsync("PUT", "/v1/users/ada/devices/ada-laptop", $$"""{"platform":"web","webpush":{{sandbox.Subscribe("ada-laptop").ToJson()}}}""");
        var data = $$"""{"text":"{{new string('d', 20_000)}}"}""";

        var accepted = await _hub.SendAsync("POST", "/v1/events", $$"""{"id":"large","to":{"user":"ada"},"class":"call","notification":{"title":"Grace"},"data":{{data}}}""");

        Assert.Equal(202, accepted.Status);
        var deliveries = await TestHub.EventuallyAsync(
            () => _hub.SendAsync("GET", "/v1/events/large").AsTaskResult().Json.GetProperty("deliveries").EnumerateArray().Select(State).Order(StringComparer.Ordinal).ToList(),
            static states => states.TrueForAll(static state => !state.Contains("pending", StringComparison.Ordinal)));
        Assert.Equal(
            ["ada-android accepted wake-up:payload-too-large", "ada-iphone accepted wake-up:payload-too-large", "ada-laptop accepted wake-up:payload-too-large"], deliveries);
        Assert.All(sandbox.Phones.All, static phone => Assert.Equal("Grace", Assert.Single(phone.LockScreen).Title));
        Assert.Equal(0, sandbox.Violations.Total);
        foreach (var device in (string[])["ada-iphone", "ada-android", "ada-laptop"])
        {
            var inbox = await _hub.SendAsync("GET", $"/v1/inbox?device={device}", credential: _hub.ClientToken("ada", device));
            var waiting = Assert.Single(inbox.Json.GetProperty("events").EnumerateArray());
            Assert.Equal(("large", data), (waiting.GetProperty("id").GetString(), waiting.GetProperty("data").GetRawText()));
        }

        static string State(JsonElement delivery) =>
            $"{delivery.GetProperty("device")} {delivery.GetProperty("state")} {(delivery.TryGetProperty("reason", out var reason) ? reason.GetString() : "")}".TrimEnd();
    }

    [Theory]
    [InlineData("""{"to":{"user":"ada"},"fcm":{"andriod":{},"data":{"n":1}}}""", "/fcm/andriod", "/fcm/data/n")]
    [InlineData("""{"to":{"user":"ada"},"apns":{"aps":null}}""", "/apns/aps")]
    [InlineData("""{"apns":{"aps":null},"webpush":{"a":1,"a":2},"to":{}}""", "/apns/aps", "/to", "/webpush")]
    public async Task Event_OverrideThatItsProviderRefuses_RefusedWithPointers(string body, params string[] pointers)
    {
        var single = await _hub.SendAsync("POST", "/v1/events", body);
        var line = await _hub.SendAsync("POST", "/v1/events", body, "application/x-ndjson");

        Assert.Equal((400, "invalid-body"), (single.Status, single.Code));
        Assert.Equal(pointers, single.Pointers.Order(StringComparer.Ordinal));
        Assert.Equal("invalid-body", line.Lines[0].GetProperty("problem").GetProperty("code").GetString());
        Assert.Equal(
            pointers, line.Lines[0].GetProperty("problem").GetProperty("errors").EnumerateArray().Select(static error => error.GetProperty("pointer").GetString()!).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Event_OverrideLongerThanAnyPayload_Refused()
    {
        var long5k = new string('x', 5000);
        var message = await _hub.SendAsync("POST", "/v1/events", $$$"""{"to":{"user":"ada"},"apns":{"own":"{{{long5k}}}"},"fcm":{"data":{"own":"{{{long5k}}}"}},"webpush":{"own":"{{{long5k}}}"}}""");
        var call = await _hub.SendAsync("POST", "/v1/events", $$$"""{"to":{"user":"ada"},"class":"call","apns":{"own":"{{{long5k}}}"}}""");

        Assert.Equal(["/apns", "/fcm", "/webpush"], message.Pointers.Order(StringComparer.Ordinal));
        Assert.Equal(202, call.Status);
    }
}
