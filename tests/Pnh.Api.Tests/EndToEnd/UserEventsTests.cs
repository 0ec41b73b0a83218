using System.Text.Json;
using Pnh.Api.Tests.Endpoints;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>"Why did Ada's phone not ring?": what a user had, newest first, with the reasons.</summary>
public sealed class UserEventsTests : IAsyncLifetime, IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync(_folder.FullPath);

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Events_OfAUser_AreNewestFirstWithTheirDevicesAlone()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("PUT", "/v1/users/eve/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("one", """{"user":"bea"}""");
        await SendAsync("both", """{"users":["bea","eve"]}""", "call");
        await SendAsync("other", """{"user":"eve"}""");
        await SendAsync("typing", """{"user":"bea"}""", "transient");

        var page = await ReadAsync("/v1/users/bea/events", 2);

        ApiSchema.HoldsAnswer("get", "/v1/users/{user}/events", page);
        Assert.Equal("bea", page.GetProperty("user").GetString());
        Assert.Equal(["both", "one"], Ids(page));
        var both = page.GetProperty("events")[0];
        Assert.Equal("call", both.GetProperty("class").GetString());
        var delivery = Assert.Single(both.GetProperty("deliveries").EnumerateArray());
        Assert.Equal("no-address", delivery.GetProperty("reason").GetString());
        Assert.Equal(("bea", "tablet", "pending", true), (
            delivery.GetProperty("user").GetString(), delivery.GetProperty("device").GetString(), delivery.GetProperty("state").GetString(), delivery.GetProperty("mailbox").GetBoolean()));
        Assert.Equal("no-address", delivery.GetProperty("milestones")[0].GetProperty("reason").GetString());
        Assert.False(page.TryGetProperty("next", out _));
    }

    [Fact]
    public async Task Events_ForNobody_SayThatThereWasNoDevice()
    {
        await SendAsync("lost", """{"user":"nobody"}""");

        var lost = Assert.Single((await ReadAsync("/v1/users/nobody/events", 1)).GetProperty("events").EnumerateArray());

        Assert.Equal("no-devices", lost.GetProperty("outcome").GetString());
        Assert.Empty(lost.GetProperty("deliveries").EnumerateArray());
    }

    [Fact]
    public async Task Events_AskedForByDeviceStateAndTime_AreThose()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("early", """{"user":"bea"}""");
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/till", """{"platform":"desktop"}""");
        var since = TimeProvider.System.GetUtcNow().ToString("O").Replace("+", "%2B", StringComparison.Ordinal);
        await SendAsync("late", """{"user":"bea"}""");
        await SendAsync("back", """{"user":"bea"}""");
        await _hub.SendAsync("POST", "/v1/events/back/withdraw", """{"reason":"cancelled"}""");
        await ReadAsync("/v1/events?user=bea&state=withdrawn", 1);

        Assert.Equal(["back", "late", "early"], Ids(await ReadAsync("/v1/events?user=bea", 3)));
        Assert.Equal(["back", "late"], Ids(await ReadAsync("/v1/events?user=bea&device=till", 2)));
        Assert.Equal(["late"], Ids(await ReadAsync("/v1/events?user=bea&device=till&state=pending", 1)));
        Assert.Equal(["late", "early"], Ids(await ReadAsync("/v1/users/bea/events?state=pending&device=tablet", 2)));
        Assert.Equal(["back", "late"], Ids(await ReadAsync($"/v1/events?user=bea&since={since}", 2)));
        Assert.Empty(Ids(await ReadAsync("/v1/events?user=bea&state=acked", 0)));
    }

    [Fact]
    public async Task Events_PageByPage_AreEachOnceAndComeBackAfterARestart()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("POST", "/v1/events", string.Join('\n', Enumerable.Range(0, 130).Select(static n => $$"""{"id":"p-{{n}}","to":{"user":"bea"} }""")), "application/x-ndjson");
        await ReadAsync("/v1/users/bea/events", 50);
        await _hub.DisposeAsync();
        _hub = await TestHub.StartAsync(_folder.FullPath);

        var (ids, pages) = (new List<string>(), 0);
        for (string? next = ""; next is not null; pages++)
        {
            var page = await ReadAsync($"/v1/users/bea/events?limit=60&before={next}", 0);
            ids.AddRange(Ids(page));
            next = page.TryGetProperty("next", out var cursor) ? cursor.GetString() : null;
        }

        Assert.Equal(Enumerable.Range(0, 130).Select(static n => $"p-{129 - n}"), ids);
        Assert.Equal(3, pages);
    }

    [Theory]
    [InlineData("/v1/events?device=phone", "required /user")]
    [InlineData("/v1/events?state=acked", "required /user")]
    [InlineData("/v1/events?user=a&state=lost&limit=0&since=yesterday&verbose=1", "unknown-parameter /verbose")]
    [InlineData("/v1/events?user=a&state=lost&limit=0&since=yesterday", "unknown-value /state, invalid-time /since, out-of-range /limit")]
    [InlineData("/v1/users/a/events?limit=101", "out-of-range /limit")]
    [InlineData("/v1/users/a/events?channel=pigeon", "unknown-value /channel")]
    [InlineData("/v1/events?channel=apns", "required /user")]
    [InlineData("/v1/users/a/events?before=x", "invalid-cursor /before")]
    [InlineData("/v1/users/a/events?since=2026-05-01", "invalid-time /since")]
    public async Task Events_WrongQuery_NamesEachFault(string path, string faults)
    {
        var answer = await _hub.SendAsync("GET", path);

        Assert.Equal((400, "invalid-query"), (answer.Status, answer.Code));
        Assert.Equal(faults, string.Join(", ", answer.Json.GetProperty("errors").EnumerateArray().Select(static error => $"{error.GetProperty("code").GetString()} {error.GetProperty("pointer").GetString()}")));
    }

    [Fact]
    public async Task Events_OfNobodyInParticular_AreThoseThatDidNotArrive()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/ipad", """{"platform":"ios","apns":{"token":"aa11","environment":"production","topic":"com.other"}}""");
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("lost", """{"user":"bea"}""");
        await SendAsync("fine", """{"user":"ada"}""");

        var page = await ReadAsync("/v1/events?state=failed", 1);

        ApiSchema.HoldsAnswer("get", "/v1/events", page);
        Assert.Equal(["lost"], Ids(page));
        var delivery = Assert.Single(page.GetProperty("events")[0].GetProperty("deliveries").EnumerateArray());
        Assert.Equal("bea ipad failed no-provider", string.Join(' ', new[] { "user", "device", "state", "reason" }.Select(name => delivery.GetProperty(name).GetString())));
        Assert.Empty(Ids(await ReadAsync("/v1/events?state=expired", 0)));
        Assert.Equal(["lost"], Ids(await ReadAsync("/v1/events?state=failed&channel=none", 1)));
        Assert.Empty(Ids(await ReadAsync("/v1/events?state=failed&channel=apns", 0)));
    }

    [Fact]
    public async Task Events_WithoutAFilter_AreTheNewestOfTheApp()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("first", """{"user":"bea"}""");
        await SendAsync("room", """{"topic":"room-7"}""");
        await SendAsync("last", """{"user":"nobody"}""", "call");
        await _hub.SendAsync("PUT", "/v1/topics/crowd/members/bea", "{}");
        await ReadAsync("/v1/users/bea/events", 1);
        await ReadAsync("/v1/users/nobody/events", 1);

        var page = await ReadAsync("/v1/events", 3);

        ApiSchema.HoldsAnswer("get", "/v1/events", page);
        Assert.Equal(["last", "room", "first"], Ids(page));
        Assert.Equal("no-devices", page.GetProperty("events")[0].GetProperty("outcome").GetString());
        Assert.Equal("room-7", page.GetProperty("events")[1].GetProperty("topic").GetString());
        Assert.Equal("tablet", Assert.Single(page.GetProperty("events")[2].GetProperty("deliveries").EnumerateArray()).GetProperty("device").GetString());
        var older = await ReadAsync("/v1/events?limit=2", 2);
        Assert.Equal(["first"], Ids(await ReadAsync($"/v1/events?before={older.GetProperty("next").GetString()}", 1)));
    }

    [Fact]
    public async Task Feed_ForAUserOrAState_HasOnlyTheirLines()
    {
        await SendAsync("a", """{"user":"nobody"}""");
        await SendAsync("b", """{"user":"somebody"}""");
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("c", """{"user":"bea"}""");
        await _hub.SendAsync("POST", "/v1/events/c/withdraw", """{"reason":"cancelled"}""");
        await ReadAsync("/v1/users/somebody/events", 1);
        await ReadAsync("/v1/users/bea/events?state=withdrawn", 1);

        Assert.Equal(["b"], await FeedAsync("&user=somebody"));
        Assert.Equal(["c"], await FeedAsync("&state=withdrawn"));
        Assert.Empty(await FeedAsync("&state=acked&user=bea"));
    }

    private static List<string> Ids(JsonElement page) => [.. page.GetProperty("events").EnumerateArray().Select(static one => one.GetProperty("id").GetString()!)];

    private async Task<List<string>> FeedAsync(string query) =>
        [.. (await _hub.SendAsync("GET", "/v1/feed?follow=false" + query)).Lines.Select(static line => line.GetProperty("id").GetString()!)];

    private async Task SendAsync(string id, string to, string @class = "message") =>
        Assert.Equal(202, (await _hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{{to}},"class":"{{@class}}"}""")).Status);

    /// <summary>Once so many are there: a delivery begins behind the answer to its POST.</summary>
    private async Task<JsonElement> ReadAsync(string path, int atLeast)
    {
        for (var n = 0; ; n++)
        {
            var answer = await _hub.SendAsync("GET", path);
            Assert.True(answer.Status == 200, answer.Body);
            if (answer.Json.GetProperty("events").GetArrayLength() >= atLeast || n == 200)
            {
                return answer.Json;
            }

            await Task.Delay(25);
        }
    }
}
