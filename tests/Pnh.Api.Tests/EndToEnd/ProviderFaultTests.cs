using Pnh.Sandbox;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Providers that fail: nothing accepted is lost, and the hub says what it did.</summary>
public sealed class ProviderFaultTests
{
    private const string Token = "ab12";
    private const string Event = """{"to":{"user":"bob"},"class":"call","ttl":60,"notification":{"title":"Hi"}}""";

    [Theory]
    [InlineData(ScriptKind.Unavailable, "unavailable")]
    [InlineData(ScriptKind.Broken, "unavailable")]
    [InlineData(ScriptKind.Throttled, "throttled")]
    [InlineData(ScriptKind.Reset, "unavailable")]
    public async Task Provider_FailsThenHeals_DeliversOnceAfterARetry(ScriptKind kind, string status)
    {
        await using var hub = await StartAsync();
        hub.Host.Start.Sandbox!.Scripts.Set(Token, new Script(kind) { Times = 4, RetryAfter = TimeSpan.FromSeconds(1) });

        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Event)).Status);

        var phone = await TestHub.EventuallyAsync(() => hub.Host.Start.Sandbox!.Phones.Find(Token), static p => p?.LockScreen.Count > 0);
        Assert.Single(phone!.LockScreen);
        Assert.True(EventFlowTests.Metric(hub, $"pnh_deliveries_total{{channel=\"apns\",class=\"call\",status=\"{status}\"}}") > 0);
        await TestHub.EventuallyAsync(
            () => EventFlowTests.Metric(hub, "pnh_deliveries_total{channel=\"apns\",class=\"call\",status=\"accepted\"}"), static v => v == 1);
    }

    [Fact]
    public async Task Provider_SlowForOneDevice_DoesNotDelayAnother()
    {
        await using var hub = await StartAsync();
        await hub.SendAsync("PUT", "/v1/users/eve/devices/phone", """{"platform":"ios","apns":{"token":"ef34"}}""");
        await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"eve"},"class":"call","notification":{"title":"warm up"}}""");
        await TestHub.EventuallyAsync(() => hub.Host.Start.Sandbox!.Phones.Find("ef34"), static p => p?.LockScreen.Count == 1);
        hub.Host.Start.Sandbox!.Scripts.Set(Token, new Script(ScriptKind.Slow) { Delay = TimeSpan.FromSeconds(30) });

        await hub.SendAsync("POST", "/v1/events", Event);
        await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"eve"},"class":"call","notification":{"title":"now"}}""");

        await TestHub.EventuallyAsync(() => hub.Host.Start.Sandbox!.Phones.Find("ef34"), static p => p?.LockScreen.Count == 2, TimeSpan.FromSeconds(20));
    }

    private static async Task<TestHub> StartAsync()
    {
        var hub = await TestHub.StartAsync();
        await hub.SendAsync("PUT", "/v1/users/bob/devices/phone", $$"""{"platform":"ios","apns":{"token":"{{Token}}"} }""");
        return hub;
    }
}
