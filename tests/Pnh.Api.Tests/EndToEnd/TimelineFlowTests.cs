using System.Text.Json;
using Pnh.Api.Tests.Endpoints;
using Pnh.Sandbox.Scripts;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What was sent can be explained, taken back and followed: the whole hub on real ports.</summary>
public sealed class TimelineFlowTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Timeline_AfterDelivery_TellsEveryDevice()
    {
        using var tab = await _hub.ConnectAsync("ada", "tab-1");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"c-1","to":{"user":"ada"},"class":"call","notification":{"title":"Grace"}}""");
        await tab.ReceiveEventAsync();

        var done = await TimelineAsync("c-1", "done");

        var deliveries = done.GetProperty("deliveries").EnumerateArray().ToDictionary(static d => d.GetProperty("device").GetString()!);
        Assert.Equal(["ada-android", "ada-iphone", "tab-1"], deliveries.Keys.Order(StringComparer.Ordinal));
        Assert.Equal("acked", deliveries["tab-1"].GetProperty("state").GetString());
        Assert.All(["ada-android", "ada-iphone"], device => Assert.Equal("accepted", deliveries[device].GetProperty("state").GetString()));
        Assert.All(["ada-android", "ada-iphone"], device => Assert.NotEmpty(deliveries[device].GetProperty("providerId").GetString()!));
        Assert.Equal(3, done.GetProperty("deliveries").GetArrayLength());
        Assert.Equal("tab-1", Assert.Single((await _hub.SendAsync("GET", "/v1/events/c-1")).Json.GetProperty("deliveries").EnumerateArray(),
            static d => d.GetProperty("state").GetString() == "acked").GetProperty("device").GetString());
        Assert.Empty((await _hub.SendAsync("GET", "/v1/events/c-1?user=bea")).Json.GetProperty("deliveries").EnumerateArray());
    }

    [Fact]
    public async Task Metrics_AfterDelivery_BalanceTheLedgerAndTellOfTheJournal()
    {
        await _hub.SendAsync("POST", "/v1/events", """{"id":"l-1","to":{"user":"ada"},"class":"call","notification":{"title":"Grace"}}""");
        await TimelineAsync("l-1", "done");

        await TestHub.EventuallyAsync(() => Metric("pnh_ledger_settled_total{app=\"demo\",class=\"call\",state=\"accepted\"}"), static settled => settled == 2);
        Assert.Equal(2, Metric("pnh_ledger_planned_total{app=\"demo\",class=\"call\"}"));
        var page = (await _hub.SendAsync("GET", "/metrics", operations: true)).Body;
        Assert.Contains("\npnh_ledger_in_flight{app=\"demo\",class=\"call\"} 0\n", page, StringComparison.Ordinal);
        Assert.Contains("\npnh_journal_dropped_notes_total 0\n", page, StringComparison.Ordinal);
        Assert.Contains("\npnh_journal_damaged_records_total 0\n", page, StringComparison.Ordinal);

        long Metric(string series) => EventFlowTests.Metric(_hub, series);
    }

    [Fact]
    public async Task Timeline_NobodyThere_SaysSo()
    {
        await _hub.SendAsync("POST", "/v1/events", """{"id":"n-1","to":{"user":"nobody"}}""");

        Assert.Equal("no-devices", (await TimelineAsync("n-1", "done")).GetProperty("outcome").GetString());
    }

    [Fact]
    public async Task Withdraw_WhatWaits_IsTakenBackOnce()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"w-1","to":{"user":"bea"}}""");

        var first = await _hub.SendAsync("POST", "/v1/events/w-1/withdraw", """{"reason":"sent-by-mistake"}""");
        var again = await _hub.SendAsync("POST", "/v1/events/w-1/withdraw");
        using var tablet = await _hub.ConnectAsync("bea", "tablet");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"w-2","to":{"user":"bea"}}""");

        Assert.Equal("""{"id":"w-1","withdrawn":true}""", first.Body);
        Assert.Equal("""{"id":"w-1","withdrawn":true,"duplicate":true}""", again.Body);
        Assert.Equal("w-2", (await tablet.ReceiveEventAsync()).GetProperty("id").GetString());
        var timeline = await TimelineAsync("w-1", "withdrawn");
        Assert.Equal("sent-by-mistake", Assert.Single(timeline.GetProperty("withdrawn").EnumerateArray()).GetProperty("reason").GetString());
        await TestHub.EventuallyAsync(
            () => _hub.SendAsync("GET", "/v1/events/w-1").AsTaskResult().Json.GetProperty("deliveries")[0].GetProperty("state").GetString(),
            static state => state == "withdrawn");
        var line = Assert.Single(await TestHub.EventuallyAsync(
            () => FeedAsync(_hub, "").AsTaskResult().Where(static l => l.GetProperty("type").GetString() == "withdrawn").ToList(), static lines => lines.Count > 0));
        ApiSchema.HoldsAnswer("get", "/v1/feed", line);
        Assert.Equal(("w-1", "message", "sent-by-mistake"), (
            line.GetProperty("id").GetString(), line.GetProperty("class").GetString(), line.GetProperty("reason").GetString()));
    }

    [Theory]
    [InlineData("nope", null, 404, "no-such-item")]
    [InlineData("a%20b", null, 400, "invalid-id")]
    [InlineData("e-1", """{"reason":"Not OK"}""", 400, "invalid-body")]
    [InlineData("e-1", """{"reason":""}""", 400, "invalid-body")]
    [InlineData("e-1", """{"reason":"ok","why":1}""", 400, "invalid-body")]
    [InlineData("e-1", "7", 400, "invalid-body")]
    [InlineData("e-1", "{", 400, "malformed-body")]
    public async Task Withdraw_NotThatWay_IsAProblem(string id, string? body, int status, string code)
    {
        var answer = await _hub.SendAsync("POST", $"/v1/events/{id}/withdraw", body);

        Assert.Equal((status, code), (answer.Status, answer.Code));
    }

    [Fact]
    public async Task Feed_OutcomesAndAddresses_AreThereAndGoOnAfterARestart()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            string cursor;
            await using (var hub = await TestHub.StartAsync(folder))
            {
                await hub.SendAsync("PUT", "/v1/users/bob/devices/old", """{"platform":"ios","apns":{"token":"aa11","environment":"sandbox"}}""");
                await hub.SendAsync("PUT", "/v1/users/eve/devices/new", """{"platform":"ios","apns":{"token":"aa11","environment":"sandbox"}}""");
                await hub.SendAsync("PUT", "/v1/users/cid/devices/phone", """{"platform":"ios","apns":{"token":"deadbeef","environment":"sandbox"}}""");
                hub.Host.Start.Sandbox!.Scripts.Set("deadbeef", new Script(ScriptKind.Unregistered));
                await hub.SendAsync("POST", "/v1/events", """{"id":"f-1","to":{"user":"cid"},"class":"call","notification":{"title":"Hi"},"ttl":60}""");
                var lines = await TestHub.EventuallyAsync(
                    () => FeedAsync(hub, "").AsTaskResult(), static l => l.Length == 3);

                Assert.All(lines, static line => ApiSchema.HoldsAnswer("get", "/v1/feed", line));
                Assert.Contains("bob/old apns moved registered-elsewhere to eve", lines.Select(Address));
                Assert.Contains("cid/phone apns dead Unregistered", lines.Select(Address));
                Assert.Single(lines, static line => line.GetProperty("type").GetString() == "delivery" && line.GetProperty("id").GetString() == "f-1");
                cursor = lines[1].GetProperty("cursor").GetString()!;
                Assert.Equal([lines[2].GetRawText()], (await FeedAsync(hub, cursor)).Select(static line => line.GetRawText()));
            }

            await using var after = await TestHub.StartAsync(folder);
            Assert.Single(await FeedAsync(after, cursor));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static async Task<JsonElement[]> FeedAsync(TestHub hub, string after) =>
        (await hub.SendAsync("GET", $"/v1/feed?follow=false&after={Uri.EscapeDataString(after)}")).Lines;

    private static string Address(JsonElement line) => line.GetProperty("type").GetString() == "address"
        ? $"{line.GetProperty("user")}/{line.GetProperty("device")} {line.GetProperty("channel")} {line.GetProperty("health")} {line.GetProperty("reason")}"
            + (line.TryGetProperty("movedTo", out var user) ? $" to {user}" : "")
        : "";

    private async Task<JsonElement> TimelineAsync(string id, string state)
    {
        var answer = await TestHub.EventuallyAsync(
            () => _hub.SendAsync("GET", $"/v1/events/{id}").AsTaskResult(), a => a.Status == 200 && a.Json.GetProperty("state").GetString() == state);
        ApiSchema.HoldsAnswer("get", "/v1/events/{id}", answer.Json);
        return answer.Json;
    }
}
