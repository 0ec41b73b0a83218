using System.Text.Json;
using Pnh.Api.Tests.Endpoints;
using Pnh.Sandbox.Scripts;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The test push that a user sends to the own device: each link of the way, up to the one that is broken.</summary>
public sealed class DeviceTestTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Test_OfAPhoneThatIsReached_HoldsToTheScreenAndIsOnePush()
    {
        var token = _hub.ClientToken("ada");

        var answer = await TestAsync("ada", "ada-iphone", token);
        var again = await TestAsync("ada", "ada-iphone", token);

        ApiSchema.HoldsAnswer("post", "/v1/users/{user}/devices/{device}/test", answer);
        Assert.True(answer.GetProperty("sent").GetBoolean(), answer.GetRawText());
        Assert.Equal("registration address account provider screen", Links(answer));
        Assert.Contains("apns took the push after", answer.GetProperty("links")[3].GetProperty("text").GetString(), StringComparison.Ordinal);
        var shown = _hub.Host.Start.Sandbox!.Phones.All.SelectMany(static phone => phone.LockScreen).Count(static item => item.Title == "Test");
        Assert.InRange(shown, 1, answer.GetProperty("id").GetString() == again.GetProperty("id").GetString() ? 1 : 2);
    }

    [Fact]
    public async Task Test_BrokenLinks_AreNamedWhereTheyBreak()
    {
        Assert.Equal("-registration", Links(await TestAsync("bea", "phone")));
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tab", """{"platform":"desktop"}""");
        Assert.Equal("registration -address", Links(await TestAsync("bea", "tab")));
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/ipad", """{"platform":"ios","apns":{"token":"aa11","environment":"production","topic":"com.other"}}""");
        Assert.Equal("registration address -account", Links(await TestAsync("bea", "ipad")));
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone", """{"platform":"ios","apns":{"token":"deadbeef","environment":"sandbox"}}""");
        _hub.Host.Start.Sandbox!.Scripts.Set("deadbeef", new Script(ScriptKind.Unregistered));
        var dead = await TestAsync("bea", "phone");
        Assert.Equal("registration address account -provider", Links(dead));
        Assert.False(dead.GetProperty("sent").GetBoolean());
        Assert.Equal("Unregistered", dead.GetProperty("links")[3].GetProperty("reason").GetString());
    }

    [Fact]
    public async Task Test_UserNotToBeDisturbed_IsToldOfTheSettings()
    {
        await _hub.SendAsync("PUT", "/v1/users/ada/settings", """{"mutedClasses":["message"]}""");

        var muted = await TestAsync("ada", "ada-iphone");

        Assert.Equal("registration address account -settings", Links(muted));
        Assert.Equal("muted-class", muted.GetProperty("links")[3].GetProperty("reason").GetString());
    }

    [Fact]
    public async Task Test_OfAnotherUser_IsForbidden() =>
        Assert.Equal(403, (await _hub.SendAsync("POST", "/v1/users/ada/devices/ada-iphone/test", credential: _hub.ClientToken("bea"))).Status);

    /// <summary>A minus is before one that is broken.</summary>
    private static string Links(JsonElement answer) => string.Join(
        ' ', answer.GetProperty("links").EnumerateArray().Select(static link => (link.GetProperty("holds").GetBoolean() ? "" : "-") + link.GetProperty("link").GetString()));

    private async Task<JsonElement> TestAsync(string user, string device, string? credential = null)
    {
        var answer = await _hub.SendAsync("POST", $"/v1/users/{user}/devices/{device}/test", credential: credential);
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json;
    }
}
