using System.Globalization;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Ingest;
using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.Core.Shards;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Refusals that need a hub in trouble, each over the wire of both transports: whoever serves the connection, the answer is the same.</summary>
public sealed class RefusalTests
{
    private const string Bulk = """{"to":{"user":"ada"},"class":"bulk"}""";
    private const string Transient = """{"to":{"user":"ada"},"class":"transient"}""";
    private const string Call = """{"to":{"user":"ada"},"class":"call"}""";
    private static readonly TimeSpan Window = TimeSpan.FromMilliseconds(100);

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_PlacesOfItsClassAreTaken_Is429AndOtherClassesGoOn(string transport)
    {
        await using var hub = await StartAsync(transport);
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        journal.IsClosed = true;

        // All that came over connections would, until the class has no place for this app; 1,536 connections take longer than they show.
        var inside = new List<Task<AcceptResult>>();
        do
        {
            inside.Add(intake.AcceptAsync(intake.Read("demo", Encoding.UTF8.GetBytes(Bulk), null, out _)!).AsTask());
        }
        while (!inside[^1].IsCompleted);

        // So many at once may have made the hub shed load, which refuses in other words.
        var shedder = hub.Host.Services.GetRequiredService<Hub>().Shedder;
        await TestHub.EventuallyAsync(() => shedder.IsWatchful, static isWatchful => !isWatchful);
        var refused = await hub.SendAsync("POST", "/v1/events", Bulk);
        var transient = await hub.SendAsync("POST", "/v1/events", Transient);
        var call = hub.SendAsync("POST", "/v1/events", Call);
        Assert.Equal((429, "too-many-requests", "application/problem+json"), (refused.Status, refused.Code, refused.Type));
        Assert.Equal(TimeSpan.FromSeconds(1), refused.RetryAfter);
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

        // A batch is what has arrived: with over 512 of an app's 768 places taken the next whole one waits.
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
    public async Task Event_CoresAreTooBusy_IsShedUnreadButNoCall(string transport)
    {
        var time = new FakeTimeProvider(DateTimeOffset.UnixEpoch.AddYears(56));
        await using var hub = await StartAsync(transport, time);
        var shedder = hub.Host.Services.GetRequiredService<Hub>().Shedder;

        // With few events inside nothing is refused.
        for (var i = 0; i < 20; i++)
        {
            Overload(shedder, time);
        }

        Assert.Equal(0, await RefusedAsync(hub, Transient));
        var crowd = Crowd(hub);

        // Each window of overload refuses more of the connections, in the end this one too.
        Answer refused;
        var windows = 0;
        do
        {
            Overload(shedder, time);
            refused = await hub.SendAsync("POST", "/v1/events", Transient);
        }
        while (refused.Status != 429 && ++windows < 20);

        Assert.Equal(429, refused.Status);
        Assert.Equal(("too-many-requests", "application/problem+json"), (refused.Code, refused.Type));
        Assert.InRange(refused.RetryAfter!.Value.TotalSeconds, 1, 4);
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Call)).Status);
        }

        await crowd.LeaveAsync();
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Event_WordOfAnotherClassInItsData_IsShedAsItsOwnClass(string transport)
    {
        var time = new FakeTimeProvider(DateTimeOffset.UnixEpoch.AddYears(56));
        await using var hub = await StartAsync(transport, time);
        var shedder = hub.Host.Services.GetRequiredService<Hub>().Shedder;
        var crowd = Crowd(hub);

        // Until all of this connection's is refused, bulk like transient (whose answers tell the shedder nothing), and so no message yet.
        var windows = 0;
        do
        {
            Overload(shedder, time);
        }
        while (await RefusedAsync(hub, Transient) < 20 && ++windows < 20);

        Assert.NotEqual(0, await RefusedAsync(hub, Bulk));
        Assert.Equal(0, await RefusedAsync(hub, """{"to":{"user":"ada"},"data":{"bulk":1,"class":"bulk"}}"""));
        Assert.Equal(0, await RefusedAsync(hub, """{"to":{"user":"ada"},"class":"message","data":"transient"}"""));
        Assert.NotEqual(0, await RefusedAsync(hub, """{"to":{"user":"ada"},"data":{"call":"call"},"class":"bulk"}"""));
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

    // As many events as the hub takes whatever the clocks say; they stay inside until they are told to leave.
    private static Inside Crowd(TestHub hub)
    {
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        journal.Held = "crowd-";
        var events = new Task<AcceptResult>[64];
        for (var i = 0; i < events.Length; i++)
        {
            var body = $$"""{"id":"crowd-{{i}}","to":{"user":"ada"},"class":"call"}""";
            events[i] = intake.AcceptAsync(intake.Read("demo", Encoding.UTF8.GetBytes(body), null, out _)!).AsTask();
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
        var refused = 0;
        for (var i = 0; i < 20; i++)
        {
            var status = (await hub.SendAsync("POST", "/v1/events", body)).Status;
            Assert.True(status is 202 or 429, $"{status}");
            refused += status == 429 ? 1 : 0;
        }

        return refused;
    }

    // What the shedder calls overload, for one of its windows: late answers while this process keeps half of the cores busy, or most of a single one.
    private static void Overload(LoadShedder shedder, FakeTimeProvider time)
    {
        var busy = Environment.CpuUsage.TotalTime + (Window * Math.Max(Environment.ProcessorCount / 2.0, 0.75));
        while (Environment.CpuUsage.TotalTime < busy)
        {
            Parallel.For(0, 1_000_000, static i => _ = Math.Sqrt(i));
        }

        for (var i = 0; i < 100; i++)
        {
            shedder.Count();
        }

        shedder.Answered(TimeSpan.FromMilliseconds(30));
        time.Advance(Window);
        shedder.Observe(TimeSpan.Zero); // unless the hub's own watchdog has just looked
        Assert.True(shedder.IsShedding);
    }

    private static Task<TestHub> StartAsync(string transport, TimeProvider? time = null) => TestHub.StartAsync(
        null, null, time, [$"--Pnh:Sockets:Transport={transport}"],
        static services => services.AddSingleton<IEventJournal>(static provider => new GatedJournal(provider.GetRequiredService<SegmentJournal>())));
}
