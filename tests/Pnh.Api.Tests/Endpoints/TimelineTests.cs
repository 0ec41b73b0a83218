using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Endpoints;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Endpoints;

/// <summary><c>GET /v1/events/{id}</c> over a port, from a journal with known contents.</summary>
public sealed class TimelineTests : IAsyncLifetime
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
    private readonly MemoryJournal _journal = new();
    private readonly FakeTimeProvider _time = new(Noon.AddMinutes(1));
    private readonly (string Secret, PublisherKey Key) _read = PublisherKey.Create("demo", Scope.Read);
    private readonly (string Secret, PublisherKey Key) _other = PublisherKey.Create("other", Scope.Read);
    private ApiHost _host = null!;

    public async Task InitializeAsync() => _host = await ApiHost.StartAsync(
        app => new TimelineEndpoint(_journal, new HistoryReads(new ReaderPlaces(_time)), _time, app.Lifetime).Map(app), keys: new PublisherKeys([_read.Key, _other.Key]));

    public Task DisposeAsync() => _host.DisposeAsync().AsTask();

    [Fact]
    public async Task Get_EverythingThatCanHappen_IsToldInOrderPerDelivery()
    {
        _journal.Put(
            MemoryJournal.Event("e-1", Noon, """{"to":{"user":"ada"},"class":"call"}""") with { TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
            Of(MilestoneKind.Planned, 0, "ada", "phone") with { Reason = "no-session", IsKept = true },
            Of(MilestoneKind.Planned, 1, "ada", "tab") with { Reason = "active-session", IsKept = true },
            Of(MilestoneKind.Framed, 2, "ada", "tab") with { Channel = "websocket" },
            Of(MilestoneKind.Dispatched, 3),
            Of(MilestoneKind.Retry, 4, "ada", "phone") with { Channel = "apns", Reason = "TooManyRequests", Attempts = 1, NextAttemptAt = Noon.AddSeconds(6) },
            Of(MilestoneKind.Settled, 5, "ada", "tab") with { State = "acked", Channel = "websocket" },
            Of(MilestoneKind.Settled, 6, "ada", "phone") with { State = "accepted", Channel = "apns", ProviderId = "A-1", IsKept = true });

        var answer = await JsonAsync("e-1");

        Assert.Equal(
            """
            {"id":"e-1","class":"call","state":"done","acceptedAt":"2026-01-01T12:00:00+00:00","expiresAt":"2026-01-01T13:00:00+00:00",
            "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "milestones":[{"at":"2026-01-01T12:00:03+00:00","kind":"dispatched"}],
            "deliveries":[
            {"user":"ada","device":"phone","state":"accepted","channel":"apns","providerId":"A-1","mailbox":true,"milestones":[
            {"at":"2026-01-01T12:00:00+00:00","kind":"planned","reason":"no-session"},
            {"at":"2026-01-01T12:00:04+00:00","kind":"retry","reason":"TooManyRequests","channel":"apns","attempts":1,"nextAttemptAt":"2026-01-01T12:00:06+00:00"},
            {"at":"2026-01-01T12:00:06+00:00","kind":"settled","state":"accepted","channel":"apns","providerId":"A-1"}]},
            {"user":"ada","device":"tab","state":"acked","channel":"websocket","milestones":[
            {"at":"2026-01-01T12:00:01+00:00","kind":"planned","reason":"active-session"},
            {"at":"2026-01-01T12:00:02+00:00","kind":"framed","channel":"websocket"},
            {"at":"2026-01-01T12:00:05+00:00","kind":"settled","state":"acked","channel":"websocket"}]}]}
            """.ReplaceLineEndings(""),
            answer.GetRawText());
    }

    [Fact]
    public async Task Get_NoMilestonesYet_IsOpenAndTakesTheClassFromTheBody()
    {
        _journal.Put(MemoryJournal.Event("e-1", Noon, """{"to":{"user":"ada"},"class":"bulk"}"""));
        _journal.Put(MemoryJournal.Event("e-2", Noon));

        Assert.Equal(("bulk", "open"), ClassAndState(await JsonAsync("e-1")));
        Assert.Equal(("message", "open"), ClassAndState(await JsonAsync("e-2")));
    }

    [Fact]
    public async Task Get_OneDeliveryPending_IsOpenUntilItIsSettled()
    {
        var planned = Of(MilestoneKind.Planned, 0, "ada", "phone") with { IsKept = true };
        _journal.Put(MemoryJournal.Event("e-1", Noon), planned, Of(MilestoneKind.Dispatched, 1));

        var open = await JsonAsync("e-1");

        Assert.Equal("open", open.GetProperty("state").GetString());
        Assert.Equal("pending", open.GetProperty("deliveries")[0].GetProperty("state").GetString());
        Assert.True(open.GetProperty("deliveries")[0].GetProperty("mailbox").GetBoolean());
        _journal.Put(
            MemoryJournal.Event("e-1", Noon), planned, Of(MilestoneKind.Dispatched, 1), Of(MilestoneKind.Settled, 2, "ada", "phone") with { State = "failed", Reason = "no-provider" });
        var done = await JsonAsync("e-1");
        Assert.Equal("done", done.GetProperty("state").GetString());
        Assert.Equal("no-provider", done.GetProperty("deliveries")[0].GetProperty("reason").GetString());
        Assert.False(done.GetProperty("deliveries")[0].TryGetProperty("mailbox", out _));
    }

    [Fact]
    public async Task Get_NoDevices_IsDoneWithThatOutcome()
    {
        _journal.Put(MemoryJournal.Event("e-1", Noon), Of(MilestoneKind.Dispatched, 0) with { Reason = "no-devices" });

        var json = await JsonAsync("e-1");

        Assert.Equal(("done", "no-devices"), (json.GetProperty("state").GetString(), json.GetProperty("outcome").GetString()));
        Assert.Equal(0, json.GetProperty("deliveries").GetArrayLength());
    }

    [Fact]
    public async Task Get_DispatchedAgainByAnOlderVersion_HasTheFirstOnesOutcome()
    {
        _journal.Put(
            MemoryJournal.Event("e-1", Noon), Of(MilestoneKind.Dispatched, 0), Of(MilestoneKind.Dispatched, 1) with { Reason = "no-devices" });

        Assert.False((await JsonAsync("e-1")).TryGetProperty("outcome", out _));
    }

    [Fact]
    public async Task Get_Withdrawn_SaysByWhomAndWhy()
    {
        _journal.Put(
            MemoryJournal.Event("e-1", Noon), Of(MilestoneKind.Dispatched, 0), Of(MilestoneKind.Withdrawn, 1, "ada") with { Reason = "answered" },
            Of(MilestoneKind.Cleared, 2, "ada", "phone") with { Channel = "apns" });
        _journal.Put(MemoryJournal.Event("e-2", Noon), Of(MilestoneKind.Withdrawn, 1) with { Reason = "withdrawn" });

        var one = await JsonAsync("e-1");
        var all = await JsonAsync("e-2");

        Assert.Equal("""[{"at":"2026-01-01T12:00:01+00:00","reason":"answered","user":"ada"}]""", one.GetProperty("withdrawn").GetRawText());
        Assert.Equal("""[{"at":"2026-01-01T12:00:01+00:00","reason":"withdrawn"}]""", all.GetProperty("withdrawn").GetRawText());
        Assert.NotEqual("withdrawn", one.GetProperty("state").GetString());
        Assert.Equal("withdrawn", all.GetProperty("state").GetString());
        Assert.Equal("cleared", one.GetProperty("deliveries")[0].GetProperty("milestones")[0].GetProperty("kind").GetString());
    }

    [Theory]
    [InlineData(MilestoneKind.AckedLate, 1, false)]
    [InlineData(MilestoneKind.Dropped, 1, false)]
    [InlineData(MilestoneKind.Cleared, 1, true)]
    [InlineData(MilestoneKind.PushedLate, 1, true)]
    [InlineData(MilestoneKind.Cleared, 61, false)]
    public async Task Get_Mailbox_HoldsUntilAckDropOrTtl(MilestoneKind last, int minutes, bool isKept)
    {
        _time.AdjustTime(Noon.AddMinutes(minutes));
        _journal.Put(
            MemoryJournal.Event("e-1", Noon), Of(MilestoneKind.Planned, 0, "ada", "phone") with { IsKept = true },
            Of(MilestoneKind.Settled, 1, "ada", "phone") with { State = "accepted", IsKept = true }, Of(last, 2, "ada", "phone"));

        var delivery = (await JsonAsync("e-1")).GetProperty("deliveries")[0];

        Assert.Equal("accepted", delivery.GetProperty("state").GetString());
        Assert.Equal(isKept, delivery.TryGetProperty("mailbox", out _));
    }

    [Fact]
    public async Task Get_OneUser_GetsThatUsersShare()
    {
        _journal.Put(
            MemoryJournal.Event("e-1", Noon), Of(MilestoneKind.Planned, 0, "ada", "phone"), Of(MilestoneKind.Planned, 0, "grace hopper", "phone"),
            Of(MilestoneKind.Withdrawn, 1, "ada"), Of(MilestoneKind.Dispatched, 2));

        var json = await JsonAsync("e-1?user=grace%20hopper");

        Assert.Equal("grace hopper", Assert.Single(json.GetProperty("deliveries").EnumerateArray()).GetProperty("user").GetString());
        Assert.False(json.TryGetProperty("withdrawn", out _));
        Assert.Equal(1, json.GetProperty("milestones").GetArrayLength());
    }

    [Fact]
    public async Task Get_TenThousandDeliveries_AreAllThereInTheirOrder()
    {
        // Planned all first, settled all after: every chain spans the list.
        var milestones = Enumerable.Range(0, 10_000).Select(static n => Of(MilestoneKind.Planned, 0, "ada", $"d-{n}"))
            .Concat(Enumerable.Range(0, 10_000).Select(static n => Of(MilestoneKind.Settled, 1, "ada", $"d-{9_999 - n}") with { State = "expired", Reason = $"r-{9_999 - n}" }));
        _journal.Put(MemoryJournal.Event("e-1", Noon), [.. milestones, Of(MilestoneKind.Dispatched, 2)]);

        var deliveries = (await JsonAsync("e-1")).GetProperty("deliveries").EnumerateArray().ToList();

        Assert.Equal(Enumerable.Range(0, 10_000).Select(static n => $"d-{n} r-{n}"), deliveries.Select(
            static d => $"{d.GetProperty("device").GetString()} {d.GetProperty("reason").GetString()}"));
        Assert.All(deliveries, static d => Assert.Equal(2, d.GetProperty("milestones").GetArrayLength()));
    }

    [Theory]
    [InlineData("nope", 404, "no-such-item")]
    [InlineData("a%20b", 400, "invalid-id")]
    [InlineData("e-1?user=%00", 400, "invalid-query")]
    [InlineData("e-1?user=a&user=b", 400, "invalid-query")]
    public async Task Get_WhatIsNotThereOrNotAllowed_IsAProblem(string path, int status, string code)
    {
        _journal.Put(MemoryJournal.Event("e-1", Noon));

        var answer = await GetAsync(path);

        Assert.Equal((status, code), (answer.Status, JsonSerializer.Deserialize<JsonElement>(answer.Body).GetProperty("code").GetString()));
    }

    [Fact]
    public async Task Get_OfAnotherApp_Is404()
    {
        _journal.Put(MemoryJournal.Event("e-1", Noon));

        Assert.Equal(404, (await Wire.GetAsync(_host.Public, "/v1/events/e-1", $"Authorization: Bearer {_other.Secret}")).Status);
        Assert.Equal(401, (await Wire.GetAsync(_host.Public, "/v1/events/e-1")).Status);
    }

    [Fact]
    public async Task Get_JournalCannotBeRead_Is503()
    {
        _journal.IsUnavailable = true;

        var answer = await GetAsync("e-1");

        Assert.Equal((503, "5"), (answer.Status, answer.Header("Retry-After")));
    }

    [Fact]
    public void Label_EveryKind_HasAName() => Assert.Equal(
        Enum.GetValues<MilestoneKind>().Length, Enum.GetValues<MilestoneKind>().Select(static kind => kind.Label()).Distinct().Count());

    private static Milestone Of(MilestoneKind kind, int second, string? user = null, string? device = null) =>
        new("demo", "e-1", EventClass.Call, kind, Noon.AddSeconds(second)) { User = user, Device = device };

    private static (string?, string?) ClassAndState(JsonElement json) => (json.GetProperty("class").GetString(), json.GetProperty("state").GetString());

    private Task<WireAnswer> GetAsync(string path) => Wire.GetAsync(_host.Public, $"/v1/events/{path}", $"Authorization: Bearer {_read.Secret}");

    private async Task<JsonElement> JsonAsync(string path)
    {
        await using var reader = ApiReader.Of(_host.Public, _read.Secret);
        var json = JsonSerializer.Deserialize<JsonElement>(await reader.GetTextAsync($"/v1/events/{path}"));
        ApiSchema.HoldsAnswer("get", "/v1/events/{id}", json);
        return json;
    }
}
