using System.Buffers.Text;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A service worker replaces its browser's subscription by the key that came with it, and can do nothing else with that.</summary>
public sealed class RenewalTests
{
    private const string Device = "/v1/users/ada/devices/tab";

    [Fact]
    public async Task Renew_ByTheKeyOfTheSubscription_ReplacesItAndGivesTheNextKey()
    {
        await using var hub = await TestHub.StartAsync();
        var (first, second, third) = (NewSubscription(hub, "1"), NewSubscription(hub, "2"), NewSubscription(hub, "3"));
        var registered = await hub.SendAsync("PUT", Device, $$"""{"platform":"web","locale":"de","webpush":{{first}}}""", credential: hub.ClientToken("ada"));
        Assert.Equal(201, registered.Status);
        var key = KeyOf(registered.Body);
        Assert.DoesNotContain("renewal", (await hub.SendAsync("GET", Device)).Body, StringComparison.Ordinal);

        var renewed = await RenewAsync(hub, key, second);
        Assert.Equal(200, renewed.Status);
        var device = (await hub.SendAsync("GET", Device)).Json;
        Assert.Equal(("de", EndpointOf(second)), (device.GetProperty("locale").GetString(), device.GetProperty("webpush").GetProperty("endpoint").GetString()));
        Assert.Equal(200, (await RenewAsync(hub, key, second)).Status); // its answer was lost
        Assert.Equal(401, (await RenewAsync(hub, key, third)).Status);
        Assert.Equal(200, (await RenewAsync(hub, KeyOf(renewed.Body), third)).Status);
    }

    /// <summary>Push services call a subscription dead before the browser says that it has another.</summary>
    [Fact]
    public async Task Renew_SubscriptionWasCalledDead_IsTaken()
    {
        await using var hub = await TestHub.StartAsync();
        var key = KeyOf((await hub.SendAsync("PUT", Device, $$"""{"platform":"web","webpush":{{NewSubscription(hub, "1")}}}""")).Body);
        var devices = hub.Host.Services.GetRequiredService<IDeviceStore>();
        var user = new UserKey("demo", "ada");
        var address = (await devices.GetUserAsync(user, CancellationToken.None)).Find("tab")!.Addresses.Single();
        Assert.True(await devices.RemoveAddressAsync(user, "tab", address, TimeProvider.System.GetUtcNow(), "gone", CancellationToken.None));
        Assert.Equal(200, (await RenewAsync(hub, key, NewSubscription(hub, "2"))).Status);
    }

    /// <summary>What a page ended, an app removed, or a user's erasure took away does not come back.</summary>
    [Theory]
    [InlineData("PUT", Device, """{"platform":"web"}""")]
    [InlineData("DELETE", Device, null)]
    [InlineData("DELETE", "/v1/users/ada", null)]
    public async Task Renew_WhatWasEnded_IsRefused(string method, string path, string? body)
    {
        await using var hub = await TestHub.StartAsync();
        var key = KeyOf((await hub.SendAsync("PUT", Device, $$"""{"platform":"web","webpush":{{NewSubscription(hub, "1")}}}""")).Body);
        Assert.InRange((await hub.SendAsync(method, path, body)).Status, 200, 204);
        Assert.Equal(401, (await RenewAsync(hub, key, NewSubscription(hub, "2"))).Status);
    }

    [Theory]
    [InlineData("")]
    [InlineData("r1")]
    [InlineData("r1..")]
    [InlineData("r1.####.####")]
    [InlineData("r1.ZGVtbwphZGEKdGFiCjEKeA.AAAA")]
    public async Task Renew_NoKeyOfThisHub_IsRefused(string key)
    {
        await using var hub = await TestHub.StartAsync();
        var good = KeyOf((await hub.SendAsync("PUT", Device, $$"""{"platform":"web","webpush":{{NewSubscription(hub, "1")}}}""")).Body);
        Assert.Equal(401, (await RenewAsync(hub, key, NewSubscription(hub, "2"))).Status);
        Assert.Equal(401, (await RenewAsync(hub, hub.ClientToken("ada"), NewSubscription(hub, "2"))).Status);
        Assert.Equal(401, (await RenewAsync(hub, OfUser(good, "bob"), NewSubscription(hub, "2"))).Status);
        Assert.Equal(401, (await hub.SendAsync("GET", Device, credential: good)).Status);
        Assert.Equal(400, (await hub.SendAsync("POST", "/v1/webpush/renew", """{"platform":"web"}""", credential: good)).Status);
    }

    [Fact]
    public async Task Put_WithoutASubscription_GivesNoKey()
    {
        await using var hub = await TestHub.StartAsync();
        Assert.DoesNotContain("renewal", (await hub.SendAsync("PUT", Device, """{"platform":"web"}""")).Body, StringComparison.Ordinal);
    }

    private static Task<Answer> RenewAsync(TestHub hub, string key, string subscription) =>
        hub.SendAsync("POST", "/v1/webpush/renew", $$"""{"platform":"web","webpush":{{subscription}}}""", credential: key);

    private static string KeyOf(string body) => JsonDocument.Parse(body).RootElement.GetProperty("renewal").GetString()!;

    private static string OfUser(string key, string user)
    {
        var parts = key.Split('.');
        var whose = Base64Url.DecodeFromChars(parts[1]);
        parts[1] = Base64Url.EncodeToString(System.Text.Encoding.UTF8.GetBytes(System.Text.Encoding.UTF8.GetString(whose).Replace("\nada\n", $"\n{user}\n", StringComparison.Ordinal)));
        return string.Join('.', parts);
    }

    private static string EndpointOf(string subscription) => JsonDocument.Parse(subscription).RootElement.GetProperty("endpoint").GetString()!;

    private static string NewSubscription(TestHub hub, string name)
    {
        var browser = hub.Host.Start.Sandbox!.Subscribe(name);
        return JsonSerializer.Serialize(new { endpoint = browser.Endpoint.AbsoluteUri, keys = new { p256dh = browser.P256dh, auth = browser.Auth } });
    }
}
