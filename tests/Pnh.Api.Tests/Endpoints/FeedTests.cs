using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Access;
using Pnh.Api.Endpoints;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Endpoints;

/// <summary><c>GET /v1/feed</c> over a port: a stream that follows, and one that ends.</summary>
public sealed class FeedTests : IAsyncLifetime
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
    private readonly MemoryJournal _journal = new();
    private readonly FakeTimeProvider _time = new();
    private readonly (string Secret, PublisherKey Key) _read = PublisherKey.Create("demo", Scope.Read);
    private IHostApplicationLifetime _lifetime = null!;
    private ApiHost _host = null!;
    private ApiReader _reader = null!;

    public async Task InitializeAsync()
    {
        _host = await ApiHost.StartAsync(
            app =>
            {
                _lifetime = app.Services.GetRequiredService<IHostApplicationLifetime>();
                new FeedEndpoint(_journal, new HistoryReads(new ReaderPlaces(_time)), _time, _lifetime).Map(app);
            },
            keys: new PublisherKeys([_read.Key]));
        _reader = ApiReader.Of(_host.Public, _read.Secret);
    }

    public async Task DisposeAsync()
    {
        await _reader.DisposeAsync();
        await _host.DisposeAsync();
    }

    [Fact]
    public async Task Read_NotFollowing_TellsEveryKindOnALineAndEnds()
    {
        _journal.Feed("demo", Settled("e-1") with { Reason = "BadDeviceToken", State = "failed", Channel = "apns", ProviderId = "A-1" });
        _journal.Feed("other", Settled("secret"));
        _journal.Feed("demo", Of("e-2", MilestoneKind.AckedLate) with { User = "ada", Device = "phone" });
        _journal.Feed("demo", Of("e-3", MilestoneKind.Withdrawn) with { Reason = "answered", User = "ada" });
        _journal.Feed("demo", address: new AddressNote("demo", "ada", "phone", "fcm", "dead", "UNREGISTERED", Noon));
        _journal.Feed("demo", address: new AddressNote("demo", "bob", "phone", "apns", "moved", null, Noon));
        _journal.Feed("demo", Of("e-4", MilestoneKind.Held) with { User = "ada", Device = "phone", Reason = "breaker-open", Channel = "apns", NextAttemptAt = Noon });
        _journal.Feed("demo", Of("e-5", MilestoneKind.Unanswered) with { User = "ada", Device = "phone", Reason = "timeout", Channel = "apns" });

        using var answer = await _reader.GetAsync("/v1/feed?follow=false");

        Assert.Equal("application/x-ndjson", answer.Content.Headers.ContentType?.MediaType);
        Assert.Equal(
            """
            {"cursor":"1","type":"delivery","id":"e-1","user":"ada","device":"phone","class":"call","state":"failed","reason":"BadDeviceToken","channel":"apns","providerId":"A-1","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"3","type":"delivery","id":"e-2","user":"ada","device":"phone","class":"call","state":"acked-late","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"4","type":"withdrawn","id":"e-3","user":"ada","class":"call","reason":"answered","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"5","type":"address","user":"ada","device":"phone","channel":"fcm","health":"dead","reason":"UNREGISTERED","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"6","type":"address","user":"bob","device":"phone","channel":"apns","health":"moved","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"7","type":"delivery","id":"e-4","user":"ada","device":"phone","class":"call","state":"held","reason":"breaker-open","channel":"apns","nextAttemptAt":"2026-01-01T12:00:00+00:00","at":"2026-01-01T12:00:00+00:00"}
            {"cursor":"8","type":"delivery","id":"e-5","user":"ada","device":"phone","class":"call","state":"unanswered","reason":"timeout","channel":"apns","at":"2026-01-01T12:00:00+00:00"}

            """,
            await answer.Content.ReadAsStringAsync(),
            ignoreLineEndingDifferences: true);
        Assert.All(await LinesAsync("?follow=false"), static line => ApiSchema.HoldsAnswer("get", "/v1/feed", line));
    }

    [Fact]
    public async Task Read_AfterACursor_GoesOnBehindItAndTellsAGap()
    {
        foreach (var n in Enumerable.Range(1, 5))
        {
            _journal.Feed("demo", Settled($"e-{n}"));
        }

        Assert.Equal(["e-3", "e-4", "e-5"], await IdsAsync("?follow=false&after=2"));
        Assert.Empty(await IdsAsync("?follow=false&after=5"));
        _journal.Removed = 4;
        var lines = await LinesAsync("?follow=false&after=2");
        ApiSchema.HoldsAnswer("get", "/v1/feed", lines[0]);
        Assert.Equal("gap", lines[0].GetProperty("type").GetString());
        Assert.Equal("e-5", lines[1].GetProperty("id").GetString());
    }

    [Fact]
    public async Task Read_ManyEntries_ComesInPagesOf256()
    {
        foreach (var n in Enumerable.Range(0, 1_000))
        {
            _journal.Feed("demo", Settled($"e-{n}"));
        }

        Assert.Equal(Enumerable.Range(0, 1_000).Select(static n => $"e-{n}"), await IdsAsync("?follow=false"));
        Assert.Equal((256, 4), (_journal.MostAsked, _journal.Reads));
    }

    [Fact]
    public async Task Read_Following_TellsWhatComesLater()
    {
        using var lines = await FollowAsync();
        _journal.Feed("demo", Settled("late"));

        var line = await NextAsync(lines);

        Assert.Equal("late", line.GetProperty("id").GetString());
    }

    [Fact]
    public async Task Read_NothingForFifteenSeconds_SendsAnIdleLineWithACursor()
    {
        _journal.Feed("demo", Settled("e-1"));
        using var lines = await FollowAsync();
        Assert.Equal("e-1", (await NextAsync(lines)).GetProperty("id").GetString());

        var line = await NextAsync(lines);

        ApiSchema.HoldsAnswer("get", "/v1/feed", line);
        Assert.Equal(("idle", "1"), (line.GetProperty("type").GetString(), line.GetProperty("cursor").GetString()));
        Assert.True(_time.GetUtcNow() - _time.Start >= TimeSpan.FromSeconds(15));
    }

    [Fact]
    public async Task Read_HubStops_EndsWithAWholeAnswer()
    {
        using var lines = await FollowAsync();

        _lifetime.StopApplication();

        Assert.Null(await lines.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(30)));
    }

    [Fact]
    public async Task Read_ReaderGoes_StopsLooking()
    {
        using (await FollowAsync())
        {
            await TestHub.EventuallyAsync(() => _time.PendingTimers, static timers => timers == 1);
        }

        await TestHub.EventuallyAsync(() => _time.PendingTimers, static timers => timers == 0);
    }

    [Theory]
    [InlineData("?after=nonsense", "/after")]
    [InlineData("?follow=maybe", "/follow")]
    [InlineData("?after=1&after=2", "/after")]
    public async Task Read_BadQuery_Is400(string query, string pointer)
    {
        using var answer = await _reader.GetAsync($"/v1/feed{query}");

        var problem = JsonSerializer.Deserialize<JsonElement>(await answer.Content.ReadAsStringAsync());
        Assert.Equal((400, "invalid-query"), ((int)answer.StatusCode, problem.GetProperty("code").GetString()));
        Assert.Equal(pointer, Assert.Single(problem.GetProperty("errors").EnumerateArray()).GetProperty("pointer").GetString());
    }

    [Fact]
    public async Task Read_JournalCannotBeRead_Is503()
    {
        _journal.IsUnavailable = true;

        using var answer = await _reader.GetAsync("/v1/feed");

        Assert.Equal(503, (int)answer.StatusCode);
    }

    [Fact]
    public async Task Read_JournalBreaksMidway_BreaksTheAnswerOff()
    {
        using var lines = await FollowAsync();

        _journal.IsUnavailable = true;

        await Assert.ThrowsAnyAsync<IOException>(() => NextAsync(lines));
    }

    private static Milestone Settled(string id) => Of(id, MilestoneKind.Settled) with { User = "ada", Device = "phone", State = "acked" };

    private static Milestone Of(string id, MilestoneKind kind) => new("demo", id, EventClass.Call, kind, Noon);

    private async Task<StreamReader> FollowAsync()
    {
        var answer = await _reader.GetAsync("/v1/feed");
        Assert.Equal(200, (int)answer.StatusCode);
        return new StreamReader(await answer.Content.ReadAsStreamAsync());
    }

    /// <summary>The next line, with the clock going on until it is there.</summary>
    private async Task<JsonElement> NextAsync(StreamReader lines)
    {
        var line = lines.ReadLineAsync();
        for (var i = 0; i < 3_000 && !line.IsCompleted; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(250));
            await Task.Delay(10);
        }

        return JsonSerializer.Deserialize<JsonElement>((await line.WaitAsync(TimeSpan.FromSeconds(30)))!);
    }

    private async Task<JsonElement[]> LinesAsync(string query) =>
        [.. (await _reader.GetTextAsync($"/v1/feed{query}")).Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static l => JsonSerializer.Deserialize<JsonElement>(l))];

    private async Task<string[]> IdsAsync(string query) => [.. (await LinesAsync(query)).Select(static l => l.GetProperty("id").GetString()!)];
}
