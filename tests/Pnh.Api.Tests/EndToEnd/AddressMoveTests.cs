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
