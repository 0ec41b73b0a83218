using System.Text.Json;
using Pnh.Api.Tests.Endpoints;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A phone that a push woke up: fetches and acknowledges without a socket.</summary>
public sealed class InboxTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Inbox_WhatWaits_IsTheFrameWithoutTypeAndSeqUntilItIsAcked()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"w-1","to":{"user":"bea"},"collapseKey":"k","data":{"a":[1,"ü"]},"notification":{"title":"Hi","badge":2}}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"w-2","to":{"user":"bea"},"class":"bulk"}""");

        var inbox = await ReadAsync("tablet");
        var acked = await AckAsync("tablet", "w-1", "never-heard-of");
        var again = await AckAsync("tablet", "w-1");
        var rest = await ReadAsync("tablet");
        using var tablet = await _hub.ConnectAsync("bea", "tablet");
        var frame = await tablet.ReceiveEventAsync();

        ApiSchema.HoldsAnswer("get", "/v1/inbox", inbox);
        ApiSchema.HoldsAnswer("post", "/v1/inbox/ack", acked);
        Assert.Equal(["w-1", "w-2"], Ids(inbox));
        Assert.Equal((1, 0), (acked.GetProperty("acked").GetInt32(), again.GetProperty("acked").GetInt32()));
        Assert.Equal(["w-2"], Ids(rest));
        Assert.Equal(
            frame.EnumerateObject().Where(static member => member.Name is not ("type" or "seq")).Select(static member => $"{member.Name} {member.Value.GetRawText()}"),
            rest.GetProperty("events")[0].EnumerateObject().Select(static member => $"{member.Name} {member.Value.GetRawText()}"));
        Assert.Equal("""{"a":[1,"ü"]}""", inbox.GetProperty("events")[0].GetProperty("data").GetRawText());
    }

    [Fact]
    public async Task Inbox_MoreThanAPage_GoesOnWithItsCursor()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("POST", "/v1/events", string.Join('\n', Enumerable.Range(0, 230).Select(static n => $$"""{"id":"p-{{n}}","to":{"user":"bea"} }""")), "application/x-ndjson");

        var ids = new List<string>();
        var pages = 0;
        for (string? next = ""; next is not null; pages++)
        {
            var page = await ReadAsync("tablet", next);
            ApiSchema.HoldsAnswer("get", "/v1/inbox", page);
            ids.AddRange(Ids(page));
            next = page.TryGetProperty("next", out var cursor) ? cursor.GetString() : null;
        }

        Assert.Equal(Enumerable.Range(0, 230).Select(static n => $"p-{n}"), ids);
        Assert.Equal(3, pages);
    }

    [Fact]
    public async Task Inbox_UnknownUser_IsEmpty()
    {
        var page = await ReadAsync("tablet");

        Assert.Empty(Ids(page));
        Assert.False(page.TryGetProperty("next", out _));
    }

    [Theory]
    [InlineData("", 400, "invalid-query")]
    [InlineData("?device=", 400, "invalid-query")]
    [InlineData("?device=..", 400, "invalid-query")]
    [InlineData("?device=tablet&after=nonsense", 400, "invalid-query")]
    [InlineData("?device=phone", 403, "forbidden")]
    public async Task Inbox_NotThatWay_IsAProblem(string query, int status, string code)
    {
        var answer = await _hub.SendAsync("GET", $"/v1/inbox{query}", credential: _hub.ClientToken("bea", "tablet"));

        Assert.Equal((status, code), (answer.Status, answer.Code));
    }

    [Theory]
    [InlineData("{}", "/device", "/ids")]
    [InlineData("""{"device":"tablet","ids":[]}""", "/ids")]
    [InlineData("""{"device":"","ids":["ok","not ok",7],"all":true}""", "/all", "/device", "/ids/1", "/ids/2")]
    [InlineData("""{"device":"tablet","device":"tablet","ids":"ok"}""", "/device", "/ids")]
    public async Task Ack_BadBody_NamesEveryMember(string body, params string[] pointers)
    {
        var answer = await _hub.SendAsync("POST", "/v1/inbox/ack", body, credential: _hub.ClientToken("bea"));

        Assert.Equal((400, "invalid-body"), (answer.Status, answer.Code));
        Assert.Equal(pointers, answer.Pointers.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Ack_TooManyOrForAnotherDevice_IsRefused()
    {
        var many = JsonSerializer.Serialize(new { device = "tablet", ids = Enumerable.Range(0, 101).Select(static n => $"e-{n}") });

        Assert.Equal(["/ids"], (await _hub.SendAsync("POST", "/v1/inbox/ack", many, credential: _hub.ClientToken("bea"))).Pointers);
        Assert.Equal("malformed-body", (await _hub.SendAsync("POST", "/v1/inbox/ack", "{", credential: _hub.ClientToken("bea"))).Code);
        Assert.Equal(403, (await _hub.SendAsync(
            "POST", "/v1/inbox/ack", """{"device":"phone","ids":["e-1"]}""", credential: _hub.ClientToken("bea", "tablet"))).Status);
        Assert.Equal(403, (await _hub.SendAsync("POST", "/v1/inbox/ack", """{"device":"phone","ids":["e-1"]}""")).Status);
    }

    private async Task<JsonElement> ReadAsync(string device, string after = "")
    {
        var answer = await _hub.SendAsync("GET", $"/v1/inbox?device={device}&after={Uri.EscapeDataString(after)}", credential: _hub.ClientToken("bea", device));
        Assert.Equal(200, answer.Status);
        return answer.Json;
    }

    private async Task<JsonElement> AckAsync(string device, params string[] ids)
    {
        var answer = await _hub.SendAsync("POST", "/v1/inbox/ack", JsonSerializer.Serialize(new { device, ids }), credential: _hub.ClientToken("bea"));
        Assert.Equal(200, answer.Status);
        return answer.Json;
    }

    private static string[] Ids(JsonElement page) => [.. page.GetProperty("events").EnumerateArray().Select(static e => e.GetProperty("id").GetString()!)];
}
