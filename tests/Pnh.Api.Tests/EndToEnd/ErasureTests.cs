using Pnh.Api.Tests.Endpoints;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary><c>DELETE /v1/users/{user}</c>: nothing of the user is left but what the log tells, and the answer says until when.</summary>
public sealed class ErasureTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Erase_AUserWithEverything_LeavesNothingThatWaitsOrReaches()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("PUT", "/v1/users/eve/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("PUT", "/v1/users/bea/settings", """{"mutedClasses":["bulk"]}""");
        await _hub.SendAsync("PUT", "/v1/topics/room/members/bea");
        await SendAsync("hers", """{"user":"bea"}""");
        await SendAsync("both", """{"users":["bea","eve"]}""");
        using var socket = await _hub.ConnectAsync("bea", "till");
        await TestHub.EventuallyAsync(() => Events("bea"), static events => events == "both pending hers pending");

        var answer = await _hub.SendAsync("DELETE", "/v1/users/bea");

        Assert.Equal(200, answer.Status);
        ApiSchema.HoldsAnswer("delete", "/v1/users/{user}", answer.Json);
        Assert.StartsWith("""{"user":"bea","devices":1,"topics":1,"sessions":1,"withdrawn":2,"goneBy":""", answer.Body, StringComparison.Ordinal);
        Assert.Equal("both withdrawn hers withdrawn", Events("bea"));
        Assert.Equal("both pending", Events("eve"));
        var user = (await _hub.SendAsync("GET", "/v1/users/bea")).Json;
        Assert.Empty(user.GetProperty("devices").EnumerateArray());
        Assert.DoesNotContain("bulk", user.GetRawText(), StringComparison.Ordinal);
        Assert.DoesNotContain("bea", (await _hub.SendAsync("GET", "/v1/topics/room/members")).Body, StringComparison.Ordinal);
        await TestHub.EventuallyAsync(() => _hub.SendAsync("GET", "/v1/users/bea/presence").AsTaskResult().Json.GetProperty("online").GetBoolean(), static online => !online);
        Assert.Equal("""{"id":"after","durable":true,"devices":0}""", (await SendAsync("after", """{"user":"bea"}""")).Body);
        Assert.StartsWith("""{"user":"bea","devices":0,"topics":0,"sessions":0,"withdrawn":0""", (await _hub.SendAsync("DELETE", "/v1/users/bea")).Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Erase_NobodyKnown_FindsNothing()
    {
        Assert.Equal("""{"user":"nobody","devices":0,"topics":0,"sessions":0,"withdrawn":0}""", (await _hub.SendAsync("DELETE", "/v1/users/nobody")).Body);
        Assert.Equal(403, (await _hub.SendAsync("DELETE", "/v1/users/bea", credential: _hub.ClientToken("bea"))).Status);
    }

    private string Events(string user) => string.Join(' ', _hub.SendAsync("GET", $"/v1/users/{user}/events").AsTaskResult().Json.GetProperty("events").EnumerateArray()
        .SelectMany(static one => one.GetProperty("deliveries").EnumerateArray().Select(delivery => $"{one.GetProperty("id").GetString()} {delivery.GetProperty("state").GetString()}")));

    private Task<Answer> SendAsync(string id, string to) => _hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{{to}}}""");
}
