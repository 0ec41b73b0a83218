using System.Globalization;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Engines;
using Pnh.Api.Ingest;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Refusals that need a hub in trouble, each over the wire of both transports: whatever serves the connection, the answer is the same.</summary>
public sealed class RefusalTests
{
    private const string Bulk = """{"to":{"user":"ada"},"class":"bulk"}""";
    private const string Transient = """{"to":{"user":"ada"},"class":"transient"}""";
    private const string Call = """{"to":{"user":"ada"},"class":"call"}""";

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_PlacesOfItsClassAreTaken_Is429AndOtherClassesGoOn(string transport)
    {
        await using var hub = await StartAsync(transport);
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        journal.IsClosed = true;

        // All that came over connections would, until the class has no place left; 4,096 connections take longer than they show.
        var inside = new List<Task<AcceptResult>>();
        do
        {
            inside.Add(intake.AcceptAsync(intake.Read("demo", Encoding.UTF8.GetBytes(Bulk), null, out _)!, place: default).AsTask());
        }
        while (!inside[^1].IsCompleted);

        // So many at once may have made the hub narrow its limit, and then it refuses in other words.
        var limit = hub.Host.Services.GetRequiredService<Hub>().Acceptor.Gate.Limit;
        await TestHub.EventuallyAsync(() => limit.IsNarrow, static isNarrow => !isNarrow);
        var refused = await hub.SendAsync("POST", "/v1/events", Bulk);
        var transient = await hub.SendAsync("POST", "/v1/events", Transient);
        var call = hub.SendAsync("POST", "/v1/events", Call);
        Assert.Equal((429, "too-many-requests", "application/problem+json"), (refused.Status, refused.Code, refused.Type));
        Assert.InRange(refused.RetryAfter!.Value.TotalSeconds, 1, 4);
        Assert.Contains("class bulk", refused.Json.GetProperty("detail").GetString(), StringComparison.Ordinal);
        Assert.Equal(202, transient.Status);

        journal.IsClosed = false;
        Assert.Equal(202, (await call).Status);
        Assert.All((await Task.WhenAll(inside))[..^1], static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        Assert.Equal(AcceptStatus.Overloaded, (await inside[^1]).Status);
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Bulk)).Status);
    }

    [Fact]
    public async Task Uploads_MeetInOneSlowFlush_WaitAndLeaveSingleEventsTheirPlaces()
    {
        await using var hub = await StartAsync("Direct");
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        journal.IsClosed = true;
        var lines = string.Join('\n', Enumerable.Repeat(Bulk, 256));
        var uploads = Enumerable.Range(0, 10).Select(_ => hub.SendAsync("POST", "/v1/events", lines, "application/x-ndjson")).ToArray();

        // A batch is what has arrived: with over 512 of an app's 768 taken the next whole one waits.
        await TestHub.EventuallyAsync(() => journal.Waiting.Count, static count => count > 512);

        var single = hub.SendAsync("POST", "/v1/events", """{"id":"single","to":{"user":"ada"},"class":"bulk"}""");
        await TestHub.EventuallyAsync(() => single.IsCompleted || journal.Waiting.Contains("single"), static isThrough => isThrough);
        Assert.False(single.IsCompleted);
        journal.IsClosed = false;

        Assert.Equal(202, (await single).Status);
        foreach (var upload in await Task.WhenAll(uploads))
        {
            var end = upload.Lines[^1];
            Assert.Equal((256, 0), (end.GetProperty("accepted").GetInt32(), end.GetProperty("refused").GetInt32()));
            Assert.True(end.GetProperty("done").GetBoolean());
        }
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_CoresAreTooBusy_IsRefusedUnreadButNoCall(string transport)
    {
        var time = new FakeTimeProvider(DateTimeOffset.UnixEpoch.AddYears(56));
        await using var hub = await StartAsync(transport, time);
        var limit = hub.Host.Services.GetRequiredService<Hub>().Acceptor.Gate.Limit;

        // With few events inside nothing is refused.
        Overload(limit, time);
        Assert.Equal(0, await RefusedAsync(hub, Transient));
        var crowd = Crowd(hub, ConcurrencyLimit.Least * 3 / 4);
        var refused = await hub.SendAsync("POST", "/v1/events", Transient);

        Assert.Equal(429, refused.Status);
        Assert.Equal(("too-many-requests", "application/problem+json"), (refused.Code, refused.Type));
        Assert.InRange(refused.RetryAfter!.Value.TotalSeconds, 1, 4);
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Call)).Status);
        }

        await crowd.LeaveAsync();
        Assert.Equal(0, await RefusedAsync(hub, Transient));
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_NoneAtAllInOverload_GivesItsPlaceBack(string transport)
    {
        var time = new FakeTimeProvider(DateTimeOffset.UnixEpoch.AddYears(56));
        await using var hub = await StartAsync(transport, time);
        Overload(hub.Host.Services.GetRequiredService<Hub>().Acceptor.Gate.Limit, time);
        for (var i = 0; i < 20; i++)
        {
            Assert.Equal(400, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"},"class":7}""")).Status);
        }

        Assert.Equal(0, hub.Host.Services.GetRequiredService<Hub>().Acceptor.Gate.Alone);
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_WordOfAnotherClassInItsData_IsRefusedAsItsOwnClass(string transport)
    {
        var time = new FakeTimeProvider(DateTimeOffset.UnixEpoch.AddYears(56));
        await using var hub = await StartAsync(transport, time);
        Overload(hub.Host.Services.GetRequiredService<Hub>().Acceptor.Gate.Limit, time);
        var crowd = Crowd(hub, (ConcurrencyLimit.Least / 2) - 1);

        // That many others are too many for bulk, and not for a message, whichever connection sends it.
        Assert.Equal(20, await RefusedAsync(hub, Bulk));
        Assert.Equal(0, await RefusedAsync(hub, """{"to":{"user":"ada"},"data":{"bulk":1,"class":"bulk"}}"""));
        Assert.Equal(0, await RefusedAsync(hub, """{"to":{"user":"ada"},"class":"message","data":"transient"}"""));
        Assert.Equal(20, await RefusedAsync(hub, """{"to":{"user":"ada"},"data":{"call":"call"},"class":"bulk"}"""));
        await crowd.LeaveAsync();
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_DiskIsFull_Is503AndTakenOnceItIsNot(string transport)
    {
        await using var hub = await StartAsync(transport);
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        journal.IsFull = true;

        var refused = await hub.SendAsync("POST", "/v1/events", Bulk);
        var line = await hub.SendAsync("POST", "/v1/events", Bulk, "application/x-ndjson");
        journal.IsFull = false;
        var taken = await hub.SendAsync("POST", "/v1/events", Bulk);

        Assert.Equal((503, "store-unavailable"), (refused.Status, refused.Code));
        Assert.Equal(TimeSpan.FromSeconds(5), refused.RetryAfter);
        Assert.Equal("store-unavailable", line.Lines[0].GetProperty("problem").GetProperty("code").GetString());
        Assert.Equal(202, taken.Status);
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_OfTheWrongSizeOrType_IsRefused(string transport)
    {
        await using var hub = await StartAsync(transport);

        var large = await hub.SendAsync("POST", "/v1/events", $$"""{"to":{"user":"ada"},"data":"{{new string('x', Limits.EventBytes)}}"}""");
        var text = await hub.SendAsync("POST", "/v1/events", Bulk, "text/plain");
        var noUpgrade = await hub.SendAsync("GET", "/v1/socket");

        Assert.Equal((413, "body-too-large"), (large.Status, large.Code));
        Assert.Contains(Limits.EventBytes.ToString(CultureInfo.InvariantCulture), large.Json.GetProperty("detail").GetString(), StringComparison.Ordinal);
        Assert.Equal((415, "unsupported-media-type"), (text.Status, text.Code));
        Assert.Equal((400, "bad-request"), (noUpgrade.Status, noUpgrade.Code));
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_ThirteenThousandErrors_TellsAHundred(string transport)
    {
        await using var hub = await StartAsync(transport);
        var body = $$"""{ {{string.Join(',', Enumerable.Repeat("\"\":1", 13_000))}} }""";

        var refused = await hub.SendAsync("POST", "/v1/events", body);

        Assert.Equal((400, "invalid-body"), (refused.Status, refused.Code));
        Assert.InRange(Encoding.UTF8.GetByteCount(refused.Body), 0, 64 * 1024);
        Assert.Equal(101, refused.Pointers.Length);
        Assert.Equal("too-many-errors", refused.Json.GetProperty("errors")[100].GetProperty("code").GetString());
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Bulk)).Status);
    }

    [Fact]
    public async Task Device_ThousandsOfErrors_TellsAHundred()
    {
        await using var hub = await StartAsync("Direct");
        var unknown = string.Join(',', Enumerable.Repeat("\"x\":1", 1_200));

        var own = await hub.SendAsync("PUT", "/v1/users/bea/devices/phone", $$"""{ {{unknown}},"platform":"none"}""");
        var section = await hub.SendAsync("PUT", "/v1/users/bea/devices/phone", $$"""{"platform":"ios","apns":{ {{unknown}} } }""");

        Assert.Equal((400, 101, ""), (own.Status, own.Pointers.Length, own.Pointers[^1]));
        Assert.Equal((400, 101, ""), (section.Status, section.Pointers.Length, section.Pointers[^1]));
        Assert.All(section.Pointers[..^1], static pointer => Assert.Equal("/apns/x", pointer));
    }

    [Fact]
    public async Task Device_OneMoreThanAllowed_Is409()
    {
        await using var hub = await StartAsync("Direct");
        var lines = Enumerable.Range(0, Limits.DevicesPerUser).Select(static i => $$"""{"user":"bea","device":"d{{i}}","platform":"web"}""");

        var import = await hub.SendAsync("POST", "/v1/devices:import", string.Join('\n', lines), "application/x-ndjson");
        var refused = await hub.SendAsync("PUT", "/v1/users/bea/devices/one-more", """{"platform":"web"}""");

        Assert.Equal(Limits.DevicesPerUser, import.Lines[^1].GetProperty("imported").GetInt32());
        Assert.Equal((409, "too-many-devices"), (refused.Status, refused.Code));
    }

    // Calls that stay inside until they are told to leave.
    private static Inside Crowd(TestHub hub, int count)
    {
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        journal.Held = "crowd-";
        var events = new Task<AcceptResult>[count];
        for (var i = 0; i < events.Length; i++)
        {
            var body = $$"""{"id":"crowd-{{i}}","to":{"user":"ada"},"class":"call"}""";
            events[i] = intake.AcceptAsync(intake.Read("demo", Encoding.UTF8.GetBytes(body), null, out _)!, place: default).AsTask();
        }

        return new Inside(journal, events);
    }

    private sealed record Inside(GatedJournal Journal, Task<AcceptResult>[] Events)
    {
        public async Task LeaveAsync()
        {
            Journal.LetGo();
            Assert.All(await Task.WhenAll(Events), static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        }
    }

    // How many of 20 are refused; the others are taken.
    private static async Task<int> RefusedAsync(TestHub hub, string body)
    {
        // A connection each: one that sends on after a refusal is held back, by this clock, which stands still.
        var refused = 0;
        for (var i = 0; i < 20; i++)
        {
            var status = (await hub.SendAsync("POST", "/v1/events", body, isLast: true)).Status;
            Assert.True(status is 202 or 429, $"{status}");
            refused += status == 429 ? 1 : 0;
        }

        return refused;
    }

    // Work that waits for a core, until the limit is as narrow as it gets. The hub's own watchdog looks as well: the clock stands still meanwhile.
    private static void Overload(ConcurrencyLimit limit, FakeTimeProvider time)
    {
        while (limit.Events > ConcurrencyLimit.Least)
        {
            time.Advance(ConcurrencyLimit.Interval);
            limit.Observe(ConcurrencyLimit.Target * 4);
        }
    }

    private static Task<TestHub> StartAsync(string transport, TimeProvider? time = null) => TestHub.StartAsync(
        null, null, time, [$"--Pnh:Sockets:Transport={transport}"],
        static services => services.AddSingleton<IEventJournal>(static provider => new GatedJournal(provider.GetRequiredService<IStorageEngine>().Journal)));
}
