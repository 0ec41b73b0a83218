using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.Endpoints;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Registrations and imports, down to what the registry keeps.</summary>
public sealed class DeviceTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    private IDeviceStore Devices => _hub.Host.Services.GetRequiredService<IDeviceStore>();

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Import_RegisteredAtBehindTheAddresses_DatesThem()
    {
        await ImportAsync("""{"user":"u","device":"d","platform":"ios","apns":{"token":"aa"},"registeredAt":"2020-01-01T00:00:00Z"}""");

        var address = Assert.Single(await AddressesAsync("u"));
        Assert.Equal(new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero), address.RegisteredAt);
        Assert.True(await Devices.RemoveAddressAsync(new UserKey("demo", "u"), "d", address, address.RegisteredAt.AddYears(1), null, CancellationToken.None));
    }

    [Fact]
    public async Task PutMember_UserOfTooManyTopics_Is409UntilOneIsLeft()
    {
        await Task.WhenAll(Enumerable.Range(0, Limits.TopicsPerUser).Select(n => Devices.AddMemberAsync("demo", $"t{n}", "ada", CancellationToken.None)));

        var refused = await _hub.SendAsync("PUT", "/v1/topics/room-7/members/ada");
        Assert.Equal((409, "too-many-topics"), (refused.Status, refused.Code));
        Assert.Equal(204, (await _hub.SendAsync("PUT", "/v1/topics/t0/members/ada")).Status);
        Assert.Equal(204, (await _hub.SendAsync("DELETE", "/v1/topics/t0/members/ada")).Status);
        Assert.Equal(204, (await _hub.SendAsync("PUT", "/v1/topics/room-7/members/ada")).Status);
    }

    [Fact]
    public async Task Get_AddressWasTakenOff_SaysWhenAndWhyUntilThereIsAnother()
    {
        await _hub.SendAsync("PUT", "/v1/users/mia/devices/phone", """{"platform":"ios","apns":{"token":"aa11","voipToken":"bb22"}}""");
        var address = (await AddressesAsync("mia")).First(static one => one.Value == "aa11");
        Assert.True(await Devices.RemoveAddressAsync(new UserKey("demo", "mia"), "phone", address, address.RegisteredAt, "Unregistered", CancellationToken.None));

        var device = (await _hub.SendAsync("GET", "/v1/users/mia/devices/phone")).Json;
        ApiSchema.HoldsAnswer("get", "/v1/users/{user}/devices/{device}", device);
        var removed = Assert.Single(device.GetProperty("removed").EnumerateArray());
        Assert.Equal("apns token Unregistered", string.Join(' ', new[] { "channel", "kind", "reason" }.Select(name => removed.GetProperty(name).GetString())));
        Assert.InRange(TimeProvider.System.GetUtcNow() - removed.GetProperty("at").GetDateTimeOffset(), TimeSpan.Zero, TimeSpan.FromMinutes(1));
        Assert.Equal(1, (await _hub.SendAsync("GET", "/v1/users/mia")).Json.GetProperty("devices")[0].GetProperty("removed").GetArrayLength());

        await _hub.SendAsync("PUT", "/v1/users/mia/devices/phone", """{"platform":"ios","apns":{"token":"cc33","voipToken":"bb22"}}""");
        Assert.False((await _hub.SendAsync("GET", "/v1/users/mia/devices/phone")).Json.TryGetProperty("removed", out _));
        await _hub.SendAsync("PUT", "/v1/users/bob/devices/phone", """{"platform":"ios","apns":{"token":"cc33"}}""");
        await _hub.SendAsync("PUT", "/v1/users/bob/devices/other", """{"platform":"ios","apns":{"token":"bb22"}}""");
        Assert.False((await _hub.SendAsync("GET", "/v1/users/bob/devices/phone")).Json.TryGetProperty("removed", out _));
    }

    [Fact]
    public async Task Import_RegisteredInTheFuture_CountsAsNow()
    {
        await ImportAsync("""{"user":"u","device":"d","platform":"ios","registeredAt":"9000-01-01T00:00:00Z","apns":{"token":"aa"}}""");

        var device = Assert.Single((await Devices.GetUserAsync(new UserKey("demo", "u"), CancellationToken.None)).Devices);
        Assert.True(device.RegisteredAt <= TimeProvider.System.GetUtcNow());
        Assert.Equal(device.RegisteredAt, Assert.Single(device.Addresses).RegisteredAt);
    }

    [Theory]
    [InlineData("https://permanently-removed.invalid/fcm/send/x", "endpoint-removed")]
    [InlineData("https://push.example.net/x", "endpoint-not-allowed")]
    public async Task Browser_WhereNoPushWouldGo_IsRefusedInAPutAndAnImportAndSaidByATestOfAStoredOne(string endpoint, string code)
    {
        var keys = _hub.Host.Start.Sandbox!.Subscribe("ada-laptop");
        var section = $$$$""" "platform":"web","webpush":{"endpoint":"{{{{endpoint}}}}","keys":{"p256dh":"{{{{keys.P256dh}}}}","auth":"{{{{keys.Auth}}}}"}}} """;

        var put = await _hub.SendAsync("PUT", "/v1/users/u/devices/d", "{" + section);
        Assert.Equal((400, $"/webpush/endpoint {code}"), (put.Status, Error(put.Json)));
        var import = await _hub.SendAsync("POST", "/v1/devices:import", $$$"""{"user":"u","device":"d",{{{section}}} """, "application/x-ndjson");
        Assert.Equal($"/webpush/endpoint {code}", Error(import.Lines[0].GetProperty("problem")));
        Assert.Equal(0, import.Lines[^1].GetProperty("imported").GetInt32());

        await Devices.PutDeviceAsync(
            new UserKey("demo", "u"),
            new Device { Id = "d", Platform = Platform.Web, RegisteredAt = TimeProvider.System.GetUtcNow(), Addresses = [new PushAddress("webpush", "subscription", $"{endpoint} {keys.P256dh} {keys.Auth}", "canonical", default)] },
            CancellationToken.None);
        var test = (await _hub.SendAsync("POST", "/v1/users/u/devices/d/test")).Json.GetProperty("links").EnumerateArray().Last();
        Assert.Equal(("account", put.Json.GetProperty("errors")[0].GetProperty("detail").GetString()), (test.GetProperty("link").GetString(), test.GetProperty("text").GetString()));

        static string Error(JsonElement problem) => $"{problem.GetProperty("errors")[0].GetProperty("pointer").GetString()} {problem.GetProperty("errors")[0].GetProperty("code").GetString()}";
    }

    [Theory]
    [InlineData("""{"platform":"android","fcm":{"token":"a"},"fcm":{"token":"b"}}""", "/fcm")]
    [InlineData("""{"platform":"android","platform":"ios"}""", "/platform")]
    [InlineData("""{"platform":"ios","locale":"de","locale":"fr"}""", "/locale")]
    [InlineData("""{"platform":"ios","appVersion":"1","appVersion":"2"}""", "/appVersion")]
    [InlineData("""{"platform":"ios","apns":{"token":"aa","token":"bb"}}""", "/apns/token")]
    public async Task Device_MemberGivenTwice_IsRefused(string body, string pointer) =>
        AssertTwice(await _hub.SendAsync("PUT", "/v1/users/u/devices/d", body), pointer);

    [Theory]
    [InlineData("""{"user":"u","device":"d","platform":"web","user":"v"}""", "/user")]
    [InlineData("""{"user":"u","device":"d","platform":"web","device":"e"}""", "/device")]
    [InlineData("""{"user":"u","device":"d","platform":"web","registeredAt":"2020-01-01T00:00:00Z","registeredAt":"2021-01-01T00:00:00Z"}""", "/registeredAt")]
    public async Task Import_MemberGivenTwice_IsRefused(string line, string pointer)
    {
        var answer = await _hub.SendAsync("POST", "/v1/devices:import", line, "application/x-ndjson");

        var error = Assert.Single(answer.Lines[0].GetProperty("problem").GetProperty("errors").EnumerateArray());
        Assert.Equal((pointer, "duplicate-member"), (error.GetProperty("pointer").GetString(), error.GetProperty("code").GetString()));
    }

    [Theory]
    [InlineData("""{"mutedClasses":["bulk"],"mutedClasses":[]}""", "/mutedClasses")]
    [InlineData("""{"mutedTopics":["a"],"mutedTopics":[]}""", "/mutedTopics")]
    [InlineData("""{"doNotDisturbUntil":"2020-01-01T00:00:00Z","doNotDisturbUntil":"2021-01-01T00:00:00Z"}""", "/doNotDisturbUntil")]
    [InlineData("""{"quietHours":{"from":"22:00","to":"07:00","timeZone":"UTC"},"quietHours":{"from":"22:00","to":"07:00","timeZone":"UTC"}}""", "/quietHours")]
    public async Task Settings_MemberGivenTwice_IsRefused(string body, string pointer) =>
        AssertTwice(await _hub.SendAsync("PUT", "/v1/users/u/settings", body), pointer);

    [Fact]
    public async Task Device_HundredAndFirstByAClientToken_Is409ButNotByAPublisher()
    {
        const string Body = """{"platform":"web"}""";
        var token = _hub.ClientToken("u");
        for (var i = 0; i < 100; i++)
        {
            Assert.Equal(201, (await _hub.SendAsync("PUT", $"/v1/users/u/devices/d{i}", Body, credential: token)).Status);
        }

        var refused = await _hub.SendAsync("PUT", "/v1/users/u/devices/one-more", Body, credential: token);
        var known = await _hub.SendAsync("PUT", "/v1/users/u/devices/d5", Body, credential: token);
        var byPublisher = await _hub.SendAsync("PUT", "/v1/users/u/devices/one-more", Body);

        Assert.Equal((409, "too-many-devices"), (refused.Status, refused.Code));
        Assert.Equal((200, 201), (known.Status, byPublisher.Status));
    }

    private static void AssertTwice(Answer answer, string pointer)
    {
        Assert.Equal((400, "invalid-body"), (answer.Status, answer.Code));
        var error = Assert.Single(answer.Json.GetProperty("errors").EnumerateArray());
        Assert.Equal((pointer, "duplicate-member"), (error.GetProperty("pointer").GetString(), error.GetProperty("code").GetString()));
    }

    private async Task ImportAsync(string line)
    {
        var answer = await _hub.SendAsync("POST", "/v1/devices:import", line, "application/x-ndjson");
        Assert.Equal(1, answer.Lines[^1].GetProperty("imported").GetInt32());
    }

    private async Task<IReadOnlyList<PushAddress>> AddressesAsync(string user) =>
        Assert.Single((await Devices.GetUserAsync(new UserKey("demo", user), CancellationToken.None)).Devices).Addresses;
}
