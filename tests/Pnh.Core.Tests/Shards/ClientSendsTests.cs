using System.Text;
using Pnh.Core.Hubs;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>Events that clients publish over their sockets.</summary>
public sealed class ClientSendsTests
{
    [Fact]
    public async Task Send_AppDoesNotAllow_IsRefused()
    {
        await using var hub = new HubUnderTest();
        Assert.Equal("not-allowed", await SendAsync(hub, """{"type":"send","to":{"user":"ada"},"data":1}"""));
        Assert.Empty(hub.Journal.Milestones);
    }

    [Theory]
    [InlineData("""{"type":"send","to":{"topic":"room-7"},"class":"transient","data":{"typing":true}}""")]
    [InlineData("""{"type":"send","to":{"topic":"room-7"},"data":"hello","ttl":60,"collapseKey":"k"}""")]
    public async Task Send_ToATopicOfTheToken_Arrives(string frame)
    {
        await using var hub = Sending();
        var (link, key) = await hub.OpenAsync("tab", user: "eve");
        hub.Hub.Router.Joined(key, ["room-7"]);
        Assert.Null(await SendAsync(hub, frame));
        Assert.Equal("demo", Assert.Single(link.Frames).App);
    }

    [Fact]
    public async Task Send_ToTheOwnUser_ReachesTheOtherDevicesAndRepeatsCountOnce()
    {
        await using var hub = Sending();
        var (link, _) = await hub.OpenAsync("tab");
        const string frame = """{"type":"send","id":"mine","to":{"user":"ada"},"data":1}""";
        Assert.Null(await SendAsync(hub, frame));
        Assert.Null(await SendAsync(hub, frame));
        Assert.Equal("id-conflict", await SendAsync(hub, """{"type":"send","id":"mine","to":{"user":"ada"},"data":2}"""));
        Assert.Equal(["mine"], link.Ids);
    }

    [Theory]
    [InlineData("""{"to":{"user":"eve"},"data":1}""", "not-allowed")]
    [InlineData("""{"to":{"users":["ada","eve"]},"data":1}""", "not-allowed")]
    [InlineData("""{"to":{"device":{"user":"eve","device":"pad"}},"data":1}""", "not-allowed")]
    [InlineData("""{"to":{"topic":"secret"},"data":1}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"class":"call"}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"class":"bulk"}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"notification":{"title":"x"}}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"fcm":{"x":1}}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"channels":["fcm"]}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"ack":{"within":1}}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"except":{"devices":["d"]}}""", "not-allowed")]
    [InlineData("""{"to":{"user":"ada"},"surprise":1}""", "bad-event")]
    [InlineData("""{"data":1}""", "bad-event")]
    [InlineData("""[1]""", "bad-event")]
    [InlineData("""{"to":""", "bad-event")]
    public async Task Send_NotAClientsBusiness_IsRefused(string frame, string code)
    {
        await using var hub = Sending();
        hub.Store.Put("ada", hub.Phone("phone"));
        Assert.Equal(code, await SendAsync(hub, frame));
        Assert.Empty(hub.Journal.Milestones);
        Assert.Empty(hub.Pushed);
    }

    [Fact]
    public async Task Send_Stopping_IsUnavailable()
    {
        await using var hub = Sending();
        await hub.Hub.StopAsync(CancellationToken.None);
        Assert.Equal("unavailable", await SendAsync(hub, """{"to":{"user":"ada"},"data":1}"""));
    }

    private static HubUnderTest Sending() => new(options: new HubOptions { SendingApps = new HashSet<string> { "demo" } });

    private static async Task<string?> SendAsync(HubUnderTest hub, string frame)
    {
        var identity = new ClientIdentity("demo", "ada", null, ["room-*"], hub.Now.AddHours(1));
        var refusal = await hub.Hub.Router.SendAsync(new("demo", "ada", "phone", "s"), identity, Encoding.UTF8.GetBytes(frame), CancellationToken.None);
        await hub.RestAsync();
        return refusal?.Code;
    }
}
