using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What the API says instead of silence: nobody was there, a parameter is not known, what to do about a refusal.</summary>
public sealed class SurfaceTests
{
    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_ForOneUserWithoutDevices_SaysSoInTheAnswerAndTheFeed(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: [$"--Pnh:Sockets:Transport={transport}"]);
        Assert.Equal(201, (await hub.SendAsync("PUT", "/v1/users/ada/devices/tablet", """{"platform":"desktop"}""")).Status);
        Assert.Equal("""{"id":"none","durable":true,"devices":0}""", (await SendAsync("none", """{"user":"nobody"}""")).Body);
        Assert.Equal("""{"id":"none","durable":true,"duplicate":true}""", (await SendAsync("none", """{"user":"nobody"}""")).Body);
        Assert.Equal("""{"id":"other","durable":true,"devices":0}""", (await SendAsync("other", """{"device":{"user":"ada","device":"phone"}}""")).Body);
        Assert.Equal("""{"id":"one","durable":true}""", (await SendAsync("one", """{"user":"ada"}""")).Body);
        Assert.Equal("""{"id":"topic","durable":true}""", (await SendAsync("topic", """{"topic":"nobody"}""")).Body);
        Assert.Equal("""{"id":"many","durable":true}""", (await SendAsync("many", """{"users":["nobody","none"]}""")).Body);
        Assert.Equal("""{"id":"typing","durable":false}""", (await SendAsync("typing", """{"user":"nobody"}""", "transient")).Body);
        Assert.Equal("""{"id":"muted","durable":true}""", (await SendAsync("muted", """{"user":"ada"}""", "message", ",\"except\":{\"users\":[\"ada\"]}")).Body);

        var lines = await TestHub.EventuallyAsync(
            () => Feed(hub), static lines => lines.Count(static line => line.GetProperty("type").GetString() == "no-devices") >= 2, TimeSpan.FromSeconds(20));
        Assert.Equal(
            ["none nobody message", "other ada message"],
            lines.Where(static line => line.GetProperty("type").GetString() == "no-devices").Select(static line =>
                $"{line.GetProperty("id").GetString()} {line.GetProperty("user").GetString()} {line.GetProperty("class").GetString()}"));

        Task<Answer> SendAsync(string id, string to, string @class = "message", string members = "") =>
            hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{{to}},"class":"{{@class}}"{{members}}}""");
    }

    [Theory]
    [InlineData("GET", "/v1/feed?follow=false&device=phone", "/device")]
    [InlineData("GET", "/v1/users/ada?verbose=1", "/verbose")]
    [InlineData("POST", "/v1/events?Receipts=all", null)]
    [InlineData("POST", "/v1/events?dry=1&x", "/dry /x")]
    [InlineData("GET", "/v1/events/none?user=ada", null)]
    [InlineData("GET", "/v1/openapi.json?a=b", "/a")]
    [InlineData("GET", "/v1/socket?token=x", "/token")]
    public async Task Query_OfAnUnknownParameter_IsRefused(string method, string path, string? pointers)
    {
        await using var hub = await TestHub.StartAsync();
        var answer = await hub.SendAsync(method, path, method == "POST" ? """{"to":{"user":"ada"}}""" : null);
        if (pointers is null)
        {
            Assert.NotEqual(400, answer.Status);
            return;
        }

        Assert.Equal((400, "invalid-query"), (answer.Status, answer.Code));
        Assert.Equal(pointers, string.Join(' ', answer.Pointers));
        Assert.All(answer.Json.GetProperty("errors").EnumerateArray(), static error => Assert.Equal("unknown-parameter", error.GetProperty("code").GetString()));
    }

    [Fact]
    public async Task Refusal_WithNothingMoreToSay_SaysWhatToDo()
    {
        await using var hub = await TestHub.StartAsync();
        foreach (var (path, credential, word) in new[] { ("/v1/feed", "", "Authorization"), ("/v1/feed", "wrong", "Authorization"), ("/v1/nothing", null, "Check the path"), ("/v1/events/none", null, "retention") })
        {
            var answer = await hub.SendAsync("GET", path, credential: credential);
            Assert.Contains(word, answer.Json.GetProperty("detail").GetString(), StringComparison.Ordinal);
        }
    }

#pragma warning disable VSTHRD002 // a test's own thread
    private static JsonElement[] Feed(TestHub hub) => hub.SendAsync("GET", "/v1/feed?follow=false").GetAwaiter().GetResult().Lines;
#pragma warning restore VSTHRD002
}
