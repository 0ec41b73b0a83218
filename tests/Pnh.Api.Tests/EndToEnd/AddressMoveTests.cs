using System.Text.Json;
using Pnh.Api.Tests.Endpoints;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Push addresses that go from one user to another over HTTP: the ordinary way, and one that takes what others have.</summary>
public sealed class AddressMoveTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync(null, null, "--Pnh:Addresses:MovesPerHour=2");

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task ClientToken_TakesMoreThanItMay_Is429AndTheOthersKeepTheirs()
    {
        await GiveAsync(4);
        var mallory = _hub.ClientToken("mallory");

        Assert.Equal((201, 201), ((await PutAsync("mallory", "d0", "a0", mallory)).Status, (await PutAsync("mallory", "d1", "a1", mallory)).Status));
        var refused = await PutAsync("mallory", "d2", "a2", mallory);

        Assert.Equal((429, "too-many-requests", "application/problem+json"), (refused.Status, refused.Code, refused.Type));
        Assert.InRange(refused.RetryAfter!.Value, TimeSpan.FromMinutes(50), TimeSpan.FromHours(1));
        Assert.Equal(404, (await _hub.SendAsync("GET", "/v1/users/mallory/devices/d2")).Status);
        Assert.Equal("a2", await TokenAsync("u2"));

        // The back-end's key is not counted, and what is nobody's is free.
        Assert.Equal((201, 201), ((await PutAsync("mallory", "d2", "a2", null)).Status, (await PutAsync("mallory", "d9", "ff", mallory)).Status));
        Assert.Null(await TokenAsync("u2"));
    }

    [Fact]
    public async Task ClientToken_PhonePassedOn_MovesAndTheFeedNamesBoth()
    {
        Assert.Equal(201, (await PutAsync("ada", "phone", "aa", _hub.ClientToken("ada"))).Status);
        Assert.Equal(201, (await PutAsync("bob", "phone", "aa", _hub.ClientToken("bob"))).Status);

        Assert.Equal((null, "aa"), (await TokenAsync("ada"), await TokenAsync("bob")));
        var line = Assert.Single(await TestHub.EventuallyAsync(
            () => _hub.SendAsync("GET", "/v1/feed?follow=false").AsTaskResult().Lines, static lines => lines.Length > 0));
        ApiSchema.HoldsAnswer("get", "/v1/feed", line);
        Assert.Equal(
            ("address", "moved", "ada", "phone", "bob"),
            (Text(line, "type"), Text(line, "health"), Text(line, "user"), Text(line, "device"), Text(line, "movedTo")));
    }

    [Fact]
    public async Task ClientToken_OneSignsOutAndAnotherIn_AsOftenAsTheyLike()
    {
        for (var i = 0; i < 8; i++)
        {
            var user = i % 2 == 0 ? "ada" : "bob";
            Assert.Equal(201, (await PutAsync(user, "phone", "aa", _hub.ClientToken(user))).Status);
            Assert.Equal(204, (await _hub.SendAsync("DELETE", $"/v1/users/{user}/devices/phone", credential: _hub.ClientToken(user))).Status);
        }
    }

    [Fact]
    public async Task ClientToken_BrowserInAnotherSpellingOrWithOtherKeys_MovesIsCountedAndToldWithoutTheEndpoint()
    {
        var sandbox = _hub.Host.Start.Sandbox!;
        for (var i = 0; i < 3; i++)
        {
            var browser = sandbox.Subscribe($"shared-{i}");
            var padded = Browser(browser.Endpoint.AbsoluteUri.Replace("https://localhost", "HTTPS://LOCALHOST", StringComparison.Ordinal), browser.P256dh + "=", browser.Auth + "==");
            Assert.Equal(201, (await _hub.SendAsync("PUT", $"/v1/users/ada-{i}/devices/browser", padded)).Status);
        }

        var (first, second, third) = (sandbox.Subscribe("shared-0"), sandbox.Subscribe("shared-1"), sandbox.Subscribe("shared-2"));
        var bob = _hub.ClientToken("bob");
        Assert.Equal(201, (await PutBrowserAsync("b0", Browser(first.Endpoint.AbsoluteUri, first.P256dh, first.Auth), bob)).Status);
        Assert.Equal(201, (await PutBrowserAsync("b1", Browser(second.Endpoint.AbsoluteUri, third.P256dh, third.Auth), bob)).Status);
        Assert.Equal(429, (await PutBrowserAsync("b2", Browser(third.Endpoint.AbsoluteUri, first.P256dh, first.Auth), bob)).Status);

        var left = await Task.WhenAll(Enumerable.Range(0, 3).Select(async i =>
            (await _hub.SendAsync("GET", $"/v1/users/ada-{i}/devices/browser")).Json.TryGetProperty("webpush", out _)));
        Assert.Equal([false, false, true], left);
        var lines = await TestHub.EventuallyAsync(() => _hub.SendAsync("GET", "/v1/feed?follow=false").AsTaskResult().Lines, static lines => lines.Length == 2);
        Assert.Equal(["ada-0 moved bob", "ada-1 moved bob"], lines.Select(static line => $"{Text(line, "user")} {Text(line, "health")} {Text(line, "movedTo")}").Order());
        Assert.All(lines, line => Assert.DoesNotContain("https://", line.GetRawText(), StringComparison.OrdinalIgnoreCase));
    }

    private static string Browser(string endpoint, string p256dh, string auth) => JsonSerializer.Serialize(new { platform = "web", webpush = new { endpoint, keys = new { p256dh, auth } } });

    private Task<Answer> PutBrowserAsync(string device, string body, string credential) => _hub.SendAsync("PUT", $"/v1/users/bob/devices/{device}", body, credential: credential);

    private static string Text(JsonElement line, string name) => line.GetProperty(name).GetString()!;

    private async Task GiveAsync(int users)
    {
        for (var i = 0; i < users; i++)
        {
            Assert.Equal(201, (await PutAsync($"u{i}", "phone", $"a{i}", null)).Status);
        }
    }

    private Task<Answer> PutAsync(string user, string device, string token, string? credential) => _hub.SendAsync(
        "PUT", $"/v1/users/{user}/devices/{device}", $$$"""{"platform":"ios","apns":{"token":"{{{token}}}","environment":"sandbox"}}""", credential: credential);

    private async Task<string?> TokenAsync(string user)
    {
        var device = (await _hub.SendAsync("GET", $"/v1/users/{user}/devices/phone")).Json;
        return device.TryGetProperty("apns", out var apns) ? apns.GetProperty("token").GetString() : null;
    }
}
