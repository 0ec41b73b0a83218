using System.Globalization;
using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A push that the user's settings hold back: told in the plan, the timeline, the feed and the metrics, and made when they let it. The whole hub on real ports.</summary>
public sealed class QuietHoursFlowTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Push_UnderDoNotDisturb_IsHeldUntilItEnds()
    {
        var until = TimeProvider.System.GetUtcNow().AddHours(1).ToString("yyyy-MM-ddTHH:mm:ssZ", CultureInfo.InvariantCulture);
        await _hub.SendAsync("PUT", "/v1/users/ada/settings", $$"""{"doNotDisturbUntil":"{{until}}"}""");
        const string Event = """{"id":"q-1","to":{"user":"ada"},"notification":{"title":"Grace"}}""";

        var plan = await _hub.SendAsync("POST", "/v1/events:explain", Event);
        var step = plan.Json.GetProperty("users")[0].GetProperty("devices")[0].GetProperty("steps")[0];
        Assert.Equal(("held-until", DateTimeOffset.Parse(until, CultureInfo.InvariantCulture)), (step.GetProperty("when").GetString(), step.GetProperty("until").GetDateTimeOffset()));

        await _hub.SendAsync("POST", "/v1/events", Event);
        var held = await TestHub.EventuallyAsync(() => LinesOf("q-1", "held"), static lines => lines.Count == 2);
        Assert.All(held, line => Assert.Equal(("do-not-disturb", DateTimeOffset.Parse(until, CultureInfo.InvariantCulture)), (line.GetProperty("reason").GetString(), line.GetProperty("nextAttemptAt").GetDateTimeOffset())));
        Assert.Equal((2, 0), (EventFlowTests.Metric(_hub, "pnh_ledger_held{app=\"demo\",class=\"message\"}"), EventFlowTests.Metric(_hub, "pnh_ledger_in_flight{app=\"demo\",class=\"message\"}")));
        Assert.Contains("\"held\"", (await _hub.SendAsync("GET", "/v1/feed?follow=false")).Body, StringComparison.Ordinal);

        await _hub.SendAsync("PUT", "/v1/users/ada/settings", "{}");
        await TestHub.EventuallyAsync(() => EventFlowTests.Metric(_hub, "pnh_ledger_settled_total{app=\"demo\",class=\"message\",state=\"accepted\"}"), static settled => settled == 2);
        Assert.Equal(0, EventFlowTests.Metric(_hub, "pnh_ledger_held{app=\"demo\",class=\"message\"}"));
    }

    [Fact]
    public async Task Push_ModeDrop_IsSuppressedAndReadBack()
    {
        var put = await _hub.SendAsync("PUT", "/v1/users/ada/settings", """{"doNotDisturbUntil":"2100-01-01T00:00:00Z","mode":"drop"}""");
        Assert.Equal("drop", put.Json.GetProperty("mode").GetString());
        Assert.Equal("drop", (await _hub.SendAsync("GET", "/v1/users/ada/settings")).Json.GetProperty("mode").GetString());
        await _hub.SendAsync("POST", "/v1/events", """{"id":"q-2","to":{"user":"ada"},"notification":{"title":"Grace"}}""");
        await TestHub.EventuallyAsync(() => EventFlowTests.Metric(_hub, "pnh_ledger_settled_total{app=\"demo\",class=\"message\",state=\"suppressed\"}"), static settled => settled == 2);
    }

    [Theory]
    [InlineData("""{"mode":"later"}""")]
    [InlineData("""{"mode":"drop","mode":"hold"}""")]
    [InlineData("""{"mode":1}""")]
    public async Task Settings_WrongMode_Is400(string body)
    {
        var answer = await _hub.SendAsync("PUT", "/v1/users/ada/settings", body);
        Assert.Equal((400, true), (answer.Status, answer.Body.Contains("/mode", StringComparison.Ordinal)));
    }

    // Of all devices.
    private List<JsonElement> LinesOf(string id, string kind) =>
    [
        .. _hub.SendAsync("GET", $"/v1/events/{id}").AsTaskResult().Json.GetProperty("deliveries").EnumerateArray()
            .SelectMany(static delivery => delivery.GetProperty("milestones").EnumerateArray()).Where(line => line.GetProperty("kind").GetString() == kind),
    ];
}
