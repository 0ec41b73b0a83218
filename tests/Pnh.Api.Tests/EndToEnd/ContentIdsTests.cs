using System.Text;
using System.Text.Json;
using Pnh.Sandbox.Phones;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>An app that keeps its content from providers: what they get on the wire, and what the app gets. The whole hub on real ports.</summary>
public sealed class ContentIdsTests : IAsyncLifetime
{
    private const string Line = "You have a new message";
    private const string Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private const string Event = """
        {"id":"c-1","to":{"user":"ada"},"collapseKey":"secret-key","data":{"n":"secret-data"},"notification":{"title":"secret-title","subtitle":"secret-subtitle","body":"secret-body","image":"https://secret.example.com/p.png",
        "category":"secret-category","thread":"secret-thread","channel":"secret-channel","sound":"secret-sound.caf","badge":3,"link":"https://secret.example.com/","interruption":"time-sensitive",
        "locales":{"de":{"title":"secret-titel"}}}}
        """;

    private TestHub _hub = null!;

    public async Task InitializeAsync()
    {
        _hub = await TestHub.StartAsync(null, null, "--Pnh:Apps:demo:Content=ids", $"--Pnh:Apps:demo:ContentText={Line}");
        var browser = _hub.Host.Start.Sandbox!.Subscribe("chrome");
        await _hub.SendAsync("PUT", "/v1/users/ada/devices/ada-browser", JsonSerializer.Serialize(new { platform = "web", webpush = new { endpoint = browser.Endpoint, keys = new { p256dh = browser.P256dh, auth = browser.Auth } } }));
    }

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Push_CarriesTheLineTheIdAndTheClass_AndNothingElseOfTheEvent()
    {
        Assert.Equal(202, (await _hub.SendAsync("POST", "/v1/events", Event, traceParent: Trace)).Status);
        var phones = await PhonesAsync(static phone => phone.Received == 1);
        Assert.Equal([PhonePlatform.Ios, PhonePlatform.Android, PhonePlatform.Browser], phones.Select(static phone => phone.Platform).Order());
        foreach (var phone in phones)
        {
            var request = Assert.Single(phone.Requests);
            var wire = string.Join('\n', request.Headers.Select(static header => $"{header.Key}: {header.Value}")) + Encoding.UTF8.GetString(request.Body.Span) + string.Join(' ', phone.LockScreen.Select(static shown => shown.Payload));
            Assert.DoesNotContain("secret", wire, StringComparison.Ordinal);
            Assert.DoesNotContain("4bf92f3577b34da6", wire, StringComparison.Ordinal);
            Assert.DoesNotContain("locale", wire, StringComparison.Ordinal);
        }

        // An iPhone and a browser show the line; Android runs the app's code for a data message, which has it too.
        Assert.All(phones.Where(static phone => phone.Platform != PhonePlatform.Android), static phone => Assert.Equal(("", Line, "c-1"), (phone.LockScreen[0].Title, phone.LockScreen[0].Body, phone.LockScreen[0].EventId)));
        var aps = Json(phones, PhonePlatform.Ios).GetProperty("aps");
        Assert.Equal((1, 1, "default", 3), (aps.GetProperty("mutable-content").GetInt32(), aps.GetProperty("content-available").GetInt32(), aps.GetProperty("sound").GetString(), aps.GetProperty("badge").GetInt32()));
        var message = Json(phones, PhonePlatform.Android).GetProperty("message");
        Assert.False(message.TryGetProperty("notification", out _));
        Assert.Equal("HIGH", message.GetProperty("android").GetProperty("priority").GetString());
        Assert.Equal(
            ["pnh-body", "pnh-class", "pnh-fetch", "pnh-id"], message.GetProperty("data").EnumerateObject().Select(static member => member.Name).Order(StringComparer.Ordinal));
        Assert.Equal(Line, message.GetProperty("apns").GetProperty("payload").GetProperty("aps").GetProperty("alert").GetProperty("body").GetString());
    }

    [Fact]
    public async Task Push_WithAnotherOfItsKey_ReplacesItOnEachProviderAlike()
    {
        await _hub.SendAsync("POST", "/v1/events", Event);
        await PhonesAsync(static phone => phone.Received == 1);
        await _hub.SendAsync("POST", "/v1/events", Event.Replace("c-1", "c-2", StringComparison.Ordinal));
        var phones = await PhonesAsync(static phone => phone.Received == 2);
        var keys = phones.Single(static phone => phone.Platform == PhonePlatform.Ios).Requests.Select(static request => request.Header("apns-collapse-id")).Distinct();
        Assert.Equal(32, Assert.Single(keys)!.Length);
        Assert.Single(phones.Single(static phone => phone.Platform == PhonePlatform.Browser).LockScreen);
    }

    [Fact]
    public async Task Withdraw_PublishersWordStaysHere()
    {
        await _hub.SendAsync("POST", "/v1/events", Event);
        await PhonesAsync(static phone => phone.Received == 1);
        await _hub.SendAsync("POST", "/v1/events/c-1/withdraw", """{"reason":"secret-reason"}""");
        var phones = await PhonesAsync(static phone => phone.Received == 2);
        Assert.All(phones, static phone => Assert.DoesNotContain("secret", Encoding.UTF8.GetString(phone.Requests[0].Body.Span), StringComparison.Ordinal));
        Assert.All(phones.Where(static phone => phone.Platform != PhonePlatform.Android), static phone => Assert.Equal("withdrawn", Assert.Single(phone.Cleared).Reason));
    }

    [Theory]
    [InlineData("apns", """{"aps":{"badge":1}}""")]
    [InlineData("fcm", """{"data":{"a":"b"}}""")]
    [InlineData("webpush", """{"a":1}""")]
    public async Task Override_Is400(string channel, string json)
    {
        var answer = await _hub.SendAsync("POST", "/v1/events", $$"""{"to":{"user":"ada"},"{{channel}}":{{json}}}""");
        Assert.Equal((400, true), (answer.Status, answer.Body.Contains("\"content-ids\"", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task App_GetsEverything_AndExplainSaysWhatItHasToFetch()
    {
        Assert.Equal("ids", (await _hub.SendAsync("POST", "/v1/events:explain", Event)).Json.GetProperty("content").GetString());
        using var tab = await _hub.ConnectAsync("ada", "tab-1");
        await _hub.SendAsync("POST", "/v1/events", Event);
        Assert.Equal("secret-data", (await tab.ReceiveEventAsync()).GetProperty("data").GetProperty("n").GetString());
        var inbox = await _hub.SendAsync("GET", "/v1/inbox?device=ada-iphone", credential: _hub.ClientToken("ada"));
        Assert.Equal("secret-title", inbox.Json.GetProperty("events")[0].GetProperty("notification").GetProperty("title").GetString());
    }

    private async Task<List<Phone>> PhonesAsync(Predicate<Phone> isThere) => await TestHub.EventuallyAsync(
        () => _hub.Host.Start.Sandbox!.Phones.All.Where(phone => isThere(phone)).ToList(), static phones => phones.Count == 3);

    private static JsonElement Json(List<Phone> phones, PhonePlatform platform) =>
        JsonDocument.Parse(phones.Single(phone => phone.Platform == platform).Requests[0].Body).RootElement;
}
