namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The HTTP API as a stranger meets it.</summary>
public sealed class ApiTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Device_PutGetDelete_RoundTrips()
    {
        const string Body = """{"platform":"ios","apns":{"token":"A1B2","voipToken":"c3d4","topic":"com.example","environment":"production"},"locale":"de","appVersion":"7.1"}""";

        var created = await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone-1", Body);
        var updated = await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone-1", Body);
        var read = await _hub.SendAsync("GET", "/v1/users/bea/devices/phone-1");
        var user = await _hub.SendAsync("GET", "/v1/users/bea");
        var deleted = await _hub.SendAsync("DELETE", "/v1/users/bea/devices/phone-1");
        var gone = await _hub.SendAsync("GET", "/v1/users/bea/devices/phone-1");

        Assert.Equal((201, 200, 200, 200, 204, 404), (created.Status, updated.Status, read.Status, user.Status, deleted.Status, gone.Status));
        Assert.Equal("a1b2", read.Json.GetProperty("apns").GetProperty("token").GetString());
        Assert.Equal("c3d4", read.Json.GetProperty("apns").GetProperty("voipToken").GetString());
        Assert.Equal("de", read.Json.GetProperty("locale").GetString());
        Assert.Equal("phone-1", user.Json.GetProperty("devices")[0].GetProperty("device").GetString());
        Assert.Equal("no-such-item", gone.Code);
    }

    [Fact]
    public async Task Device_WithEveryMemberWrong_NamesThemAll()
    {
        var answer = await _hub.SendAsync(
            "PUT", "/v1/users/bea/devices/phone-1", """{"platform":"palm","apns":{"token":"xyz"},"fcm":7,"locale":1,"color":"red"}""");

        Assert.Equal(400, answer.Status);
        Assert.Equal("invalid-body", answer.Code);
        Assert.Equal(["/apns/token", "/color", "/fcm", "/locale", "/platform"], answer.Pointers.Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("%F0%9F%A6%84%20unicorn", "🦄 unicorn")]
    [InlineData("a%2Fb", "a/b")]
    [InlineData("a%252Fb", "a%2Fb")]
    [InlineData("%E2%80%9Cquoted%E2%80%9D", "“quoted”")]
    public async Task Device_WithOddId_KeepsIt(string encoded, string id)
    {
        var put = await _hub.SendAsync("PUT", $"/v1/users/odd/devices/{encoded}", """{"platform":"web"}""");

        Assert.Equal(id, put.Json.GetProperty("device").GetString());
        Assert.Equal(200, (await _hub.SendAsync("GET", $"/v1/users/odd/devices/{encoded}")).Status);
        Assert.Equal(204, (await _hub.SendAsync("DELETE", $"/v1/users/odd/devices/{encoded}")).Status);
    }

    [Theory]
    [InlineData("%00")]
    [InlineData("%FF")]
    [InlineData("%E2%80%8B")]
    [InlineData("a%ED%A0%80b")]
    public async Task Device_WithForbiddenId_Is400(string encoded) =>
        Assert.Equal(400, (await _hub.SendAsync("PUT", $"/v1/users/odd/devices/{encoded}", """{"platform":"web"}""")).Status);

    [Fact]
    public async Task Settings_PutThenExplain_MutesWithReason()
    {
        var put = await _hub.SendAsync("PUT", "/v1/users/ada/settings", """{"mutedClasses":["bulk"],"quietHours":{"from":"22:00","to":"07:00","timeZone":"Europe/Berlin"}}""");
        var read = await _hub.SendAsync("GET", "/v1/users/ada/settings");
        var plan = await _hub.SendAsync("POST", "/v1/events:explain", """{"to":{"user":"ada"},"class":"bulk"}""");

        Assert.Equal((200, 200, 200), (put.Status, read.Status, plan.Status));
        Assert.Equal("22:00", read.Json.GetProperty("quietHours").GetProperty("from").GetString());
        var devices = plan.Json.GetProperty("users")[0].GetProperty("devices");
        Assert.Equal(2, devices.GetArrayLength());
        Assert.All(devices.EnumerateArray(), static device => Assert.Equal("muted-class", device.GetProperty("reason").GetString()));
        Assert.All(devices.EnumerateArray(), static device => Assert.Empty(device.GetProperty("steps").EnumerateArray()));
    }

    [Fact]
    public async Task Topic_AddListRemove_RoundTrips()
    {
        await _hub.SendAsync("PUT", "/v1/topics/room-7/members/bea");
        await _hub.SendAsync("PUT", "/v1/topics/room-7/members/ada");
        var both = await _hub.SendAsync("GET", "/v1/topics/room-7/members");
        await _hub.SendAsync("DELETE", "/v1/topics/room-7/members/bea");
        var one = await _hub.SendAsync("GET", "/v1/topics/room-7/members");

        Assert.Equal(["ada", "bea"], both.Json.GetProperty("members").EnumerateArray().Select(static m => m.GetString()));
        Assert.Equal(["ada"], one.Json.GetProperty("members").EnumerateArray().Select(static m => m.GetString()));
    }

    [Fact]
    public async Task Explain_Topic_AnswersAPageOfItsMembersAndWhereToGoOn()
    {
        await Task.WhenAll(Enumerable.Range(0, 101).Select(i => _hub.SendAsync("PUT", $"/v1/topics/hall/members/u{i:000}")));
        var first = await _hub.SendAsync("POST", "/v1/events:explain", """{"to":{"topic":"hall"}}""");
        var next = first.Json.GetProperty("next").GetString();
        var last = await _hub.SendAsync("POST", $"/v1/events:explain?after={next}", """{"to":{"topic":"hall"}}""");

        Assert.Equal((100, 101, "u099"), (first.Json.GetProperty("users").GetArrayLength(), first.Json.GetProperty("members").GetInt32(), next));
        Assert.Equal("u100", Assert.Single(last.Json.GetProperty("users").EnumerateArray()).GetProperty("user").GetString());
        Assert.False(last.Json.TryGetProperty("next", out _));
    }

    [Fact]
    public async Task Presence_OfConnectedUser_ListsSessionsAndKickEndsThem()
    {
        using var tab = await _hub.ConnectAsync("ada", "tab-1", "background");

        var online = await _hub.SendAsync("GET", "/v1/users/ada/presence");
        var kicked = await _hub.SendAsync("DELETE", "/v1/users/ada/sessions");

        Assert.True(online.Json.GetProperty("online").GetBoolean());
        Assert.False(online.Json.GetProperty("active").GetBoolean());
        Assert.Equal("tab-1", online.Json.GetProperty("sessions")[0].GetProperty("device").GetString());
        Assert.Equal(1, kicked.Json.GetProperty("closed").GetInt32());
        Assert.Equal("closed", (await tab.ReceiveAsync()).GetProperty("type").GetString());
        Assert.Equal(4503, (int)tab.CloseStatus!.Value);
        await TestHub.EventuallyAsync(
            () => _hub.SendAsync("GET", "/v1/users/ada/presence").AsTaskResult(), static p => !p.Json.GetProperty("online").GetBoolean());
    }

    [Fact]
    public async Task Ndjson_MixedLines_AnswersRefusedOnesAndACount()
    {
        var lines = string.Join('\n', Enumerable.Range(0, 2_500).Select(static i => $$"""{"id":"n-{{i}}","to":{"user":"nobody"} }""")
            .Append("""{"to":{}}""").Append("not json").Append("").Append("""{"id":"n-7","to":{"user":"nobody"}}"""));

        var answer = await _hub.SendAsync("POST", "/v1/events", lines, "application/x-ndjson");

        Assert.Equal(207, answer.Status);
        var refused = answer.Lines.Where(static l => l.TryGetProperty("problem", out _)).ToList();
        Assert.Equal([2_500, 2_501], refused.Select(static l => l.GetProperty("index").GetInt32()));
        Assert.Equal([1_000, 2_000], answer.Lines.Where(static l => l.TryGetProperty("accepted", out _) && !l.TryGetProperty("done", out _)).Select(static l => l.GetProperty("accepted").GetInt32()));
        var end = answer.Lines[^1];
        Assert.True(end.GetProperty("done").GetBoolean());
        Assert.Equal((2_500, 1, 2), (end.GetProperty("accepted").GetInt32(), end.GetProperty("duplicates").GetInt32(), end.GetProperty("refused").GetInt32()));
    }

    [Fact]
    public async Task Array_WithReceipts_AnswersEveryEvent()
    {
        var answer = await _hub.SendAsync("POST", "/v1/events?receipts=all", """ [ {"id":"a-1","to":{"user":"x"}} , {"id":"a-2","to":{"user":"x"}} ] """);

        Assert.Equal(["a-1", "a-2"], answer.Lines[..^1].Select(static l => l.GetProperty("id").GetString()));
        Assert.Equal(2, answer.Lines[^1].GetProperty("accepted").GetInt32());
    }

    [Theory]
    [InlineData("[{\"to\":{\"user\":\"x\"}},")]
    [InlineData("[{\"to\":{\"user\":\"x\"}} {}]")]
    [InlineData("[{\"to\":{\"user\":\"x\"}}")]
    public async Task Array_BrokenOff_TakesWhatWasWholeAndSaysSo(string body)
    {
        var answer = await _hub.SendAsync("POST", "/v1/events", body);

        Assert.False(answer.Lines[^1].GetProperty("done").GetBoolean());
        Assert.Equal(1, answer.Lines[^1].GetProperty("accepted").GetInt32());
    }

    [Fact]
    public async Task Export_ThenImportElsewhere_GivesTheSameDevices()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone", """{"platform":"android","fcm":{"fid":"fid-of-bea"},"locale":"fr"}""");
        var exported = await _hub.SendAsync("GET", "/v1/devices:export");
        await using var other = await TestHub.StartAsync();

        var imported = await other.SendAsync("POST", "/v1/devices:import", exported.Body + "{\"user\":\"x\"}\n", "application/x-ndjson");
        var again = await other.SendAsync("GET", "/v1/devices:export");

        Assert.Equal(3, exported.Lines.Length);
        Assert.Equal((3, 1), (imported.Lines[^1].GetProperty("imported").GetInt32(), imported.Lines[^1].GetProperty("refused").GetInt32()));
        Assert.Equal(exported.Body, again.Body);
    }

    [Fact]
    public async Task Requests_WithoutOrWithWrongCredentials_AreRefused()
    {
        Assert.Equal(401, (await _hub.SendAsync("POST", "/v1/events", "{}", credential: "")).Status);
        Assert.Equal(401, (await _hub.SendAsync("POST", "/v1/events", "{}", credential: "pnh_demo_wrong-wrong-wrong-wrong")).Status);
        Assert.Equal(403, (await _hub.SendAsync("POST", "/v1/events", "{}", credential: _hub.ClientToken("ada"))).Status);
        Assert.Equal(200, (await _hub.SendAsync("GET", "/v1/users/ada", credential: _hub.ClientToken("ada"))).Status);
        Assert.Equal(403, (await _hub.SendAsync("GET", "/v1/users/bea", credential: _hub.ClientToken("ada"))).Status);
    }

    [Theory]
    [InlineData("{\"to\":{\"user\":\"a\"", 400, "malformed-body")]
    [InlineData("[]x", 207, null)]
    [InlineData("7", 400, "invalid-body")]
    [InlineData("", 400, "malformed-body")]
    [InlineData("{\"to\":{\"user\":\"a\",\"topic\":\"b\"}}", 400, "invalid-body")]
    public async Task Event_BadBody_IsAProblem(string body, int status, string? code)
    {
        var answer = await _hub.SendAsync("POST", "/v1/events", body);

        Assert.Equal(status, answer.Status);
        if (code is not null)
        {
            Assert.Equal(("application/problem+json", code), (answer.Type, answer.Code));
        }
    }

    [Fact]
    public async Task Event_TooLarge_Is413_WrongType_Is415()
    {
        var large = $$"""{"to":{"user":"a"},"data":"{{new string('x', 70_000)}}"}""";

        Assert.Equal(413, (await _hub.SendAsync("POST", "/v1/events", large)).Status);
        Assert.Equal(415, (await _hub.SendAsync("POST", "/v1/events", "{}", "text/plain")).Status);
    }

    [Fact]
    public async Task Event_ToUnknownUser_IsAcceptedWithAnEmptyPlan()
    {
        var plan = await _hub.SendAsync("POST", "/v1/events:explain", """{"to":{"user":"nobody"}}""");

        Assert.Equal(202, (await _hub.SendAsync("POST", "/v1/events", """{"to":{"user":"nobody"}}""")).Status);
        Assert.Equal("no-devices", plan.Json.GetProperty("users")[0].GetProperty("outcome").GetString());
    }
}
