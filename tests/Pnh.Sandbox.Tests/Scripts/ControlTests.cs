using System.Text.Json;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.Tests.Apns;
using Pnh.Sandbox.Tests.Fcm;

namespace Pnh.Sandbox.Tests.Scripts;

public sealed class ControlTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Fact]
    public async Task Script_SetAndRemovedOverHttp_InForceBetween()
    {
        string address = FcmCaller.NewAddress();
        FcmCaller fcm = new(_sandbox);

        Answer set = await CallAsync(HttpMethod.Put, "/sandbox/scripts/" + Uri.EscapeDataString(address),
            """{"kind":"throttled","times":5,"retryAfter":7,"delay":0}""");
        Answer throttled = await fcm.SendToAsync(address);
        Answer list = await CallAsync(HttpMethod.Get, "/sandbox/scripts");
        Answer removed = await CallAsync(HttpMethod.Delete, "/sandbox/scripts/" + address);
        Answer removedAgain = await CallAsync(HttpMethod.Delete, "/sandbox/scripts/" + address);
        Answer healthy = await fcm.SendToAsync(address);

        Assert.Equal((204, 429, "7"), (set.Status, throttled.Status, throttled.Headers["Retry-After"]));
        Assert.Equal("throttled", list.Json.GetProperty(address).GetProperty("kind").GetString());
        Assert.Equal((204, 404, 200), (removed.Status, removedAgain.Status, healthy.Status));
    }

    [Fact]
    public async Task Script_EveryMember_ArrivesAsSet()
    {
        await CallAsync(HttpMethod.Put, "/sandbox/scripts/every", """
            {"kind":"answer","times":2,"delay":0.5,"retryAfter":30,"timestamp":1700000000000,"errorCode":7,"status":418,"size":9,"streams":3,"reason":"Teapot","delivered":true}
            """);

        Assert.Equal(new Script(ScriptKind.Answer)
        {
            Times = 2,
            Delay = TimeSpan.FromSeconds(0.5),
            RetryAfter = TimeSpan.FromSeconds(30),
            Timestamp = DateTimeOffset.FromUnixTimeSeconds(1_700_000_000),
            ErrorCode = 7,
            Status = 418,
            Size = 9,
            Streams = 3,
            Reason = "Teapot",
            Delivered = true,
        }, _sandbox.Server.Scripts.All["every"]);
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("{")]
    [InlineData("[]")]
    [InlineData("""{"kind":"angry"}""")]
    [InlineData("""{"kind":7}""")]
    [InlineData("""{"kind":"bad","time":3}""")]
    [InlineData("""{"kind":"bad","times":-1}""")]
    [InlineData("""{"kind":"bad","times":"3"}""")]
    [InlineData("""{"kind":"slow","delay":1e9}""")]
    [InlineData("""{"kind":"answer","status":200}""")]
    [InlineData("""{"kind":"answer","reason":"a\"b"}""")]
    [InlineData("""{"kind":"unregistered","timestamp":1e300}""")]
    public async Task Script_Wrong_OneLineAndNothingSet(string body)
    {
        Answer answer = await CallAsync(HttpMethod.Put, "/sandbox/scripts/wrong", body);

        Assert.Equal(400, answer.Status);
        Assert.Equal(1, answer.Body.Count(c => c == '\n'));
        Assert.False(_sandbox.Server.Scripts.All.ContainsKey("wrong"));
    }

    [Fact]
    public async Task Phones_AsJson_LockScreenWithoutCredentials()
    {
        ApnsCaller push = new(_sandbox);
        await CallAsync(HttpMethod.Put, "/sandbox/phones/" + push.Address, """{"name":"Ada's iPhone"}""");
        await push.SendAsync();

        Answer answer = await CallAsync(HttpMethod.Get, "/sandbox/phones");

        JsonElement phone = answer.Json.EnumerateArray().Single(one => one.GetProperty("address").GetString() == push.Address);
        Assert.Equal("Ada's iPhone", phone.GetProperty("name").GetString());
        JsonElement shown = phone.GetProperty("lockScreen")[0];
        Assert.Equal(("Grace", "Hello"), (shown.GetProperty("title").GetString(), shown.GetProperty("body").GetString()));
        Assert.Equal("e-1", shown.GetProperty("payload").GetProperty("pnh-id").GetString());
        Assert.DoesNotContain("bearer", answer.Body, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task Phones_AsJson_ClearedWithReason()
    {
        ApnsCaller push = new(_sandbox);
        await push.SendAsync();
        ApnsCaller clear = new(_sandbox) { Address = push.Address, Body = """{"aps":{"content-available":1},"pnh-withdraw":"e-1","pnh-reason":"answered"}""" };
        await clear.As("background", "com.example.demo", "5").SendAsync();

        Answer answer = await CallAsync(HttpMethod.Get, "/sandbox/phones");

        JsonElement phone = answer.Json.EnumerateArray().Single(one => one.GetProperty("address").GetString() == push.Address);
        Assert.Equal(0, phone.GetProperty("lockScreen").GetArrayLength());
        JsonElement cleared = Assert.Single(phone.GetProperty("cleared").EnumerateArray());
        Assert.Equal(("e-1", "answered"), (cleared.GetProperty("eventId").GetString(), cleared.GetProperty("reason").GetString()));
    }

    [Fact]
    public async Task Violations_AsJson_AllKinds()
    {
        Answer answer = await CallAsync(HttpMethod.Get, "/sandbox/violations");

        Assert.Equal(Enum.GetValues<ViolationKind>().Length, answer.Json.EnumerateObject().Count());
        Assert.Equal(0, answer.Json.GetProperty("requestsBeforeAuthentication").GetInt64());
    }

    [Theory]
    [InlineData("GET", "/sandbox/nothing", 404)]
    [InlineData("DELETE", "/sandbox/phones", 405)]
    [InlineData("POST", "/sandbox/scripts/a", 405)]
    public async Task Path_Wrong_Status(string method, string path, int status) =>
        Assert.Equal(status, (await CallAsync(new HttpMethod(method), path)).Status);

    private Task<Answer> CallAsync(HttpMethod method, string path, string? body = null)
    {
        HttpRequestMessage request = new(method, new Uri(_sandbox.Server.FcmAddress, path));
        if (body is not null)
        {
            request.Content = SandboxUnderTest.Json(body);
        }

        return _sandbox.SendAsync(request);
    }
}
