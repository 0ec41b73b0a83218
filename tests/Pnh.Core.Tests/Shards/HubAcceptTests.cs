using System.Text;
using Pnh.Core.Diagnostics;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>The door: answers, fan-out, recovery and the end.</summary>
public sealed class HubAcceptTests
{
    [Fact]
    public async Task Accept_Answers_AreCounted()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        const string body = """{"id":"same","to":{"user":"ada"}}""";
        Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(hub.Parse(body))).Status);
        Assert.Equal(AcceptStatus.Duplicate, (await hub.Hub.Acceptor.AcceptAsync(hub.Parse(body))).Status);
        Assert.Equal(AcceptStatus.Conflict, (await hub.Hub.Acceptor.AcceptAsync(hub.Parse("""{"id":"same","to":{"user":"eve"}}"""))).Status);
        hub.Journal.Fault = new StoreUnavailableException("The disk is full.");
        var refused = await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent());
        Assert.Equal((AcceptStatus.Unavailable, "The disk is full."), (refused.Status, refused.Detail));
        Assert.True(refused.RetryAfter > TimeSpan.Zero);
        await hub.RestAsync();
        Assert.Equal(["same"], hub.Pushed);
        Assert.Equal(
            [EventResult.Accepted, EventResult.Duplicate, EventResult.Conflict, EventResult.Unavailable],
            hub.Metrics.Snapshot().Events.Select(e => e.Result));
        Assert.All(hub.Metrics.Snapshot().Events, e => Assert.Equal(1, e.Count));
    }

    [Fact]
    public async Task Accept_BeforeTheSync_NothingLeaves()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, _) = await hub.OpenAsync("tab");
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        var accepting = hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"call\"")).AsTask();
        await hub.RestAsync();
        Assert.False(accepting.IsCompleted);
        Assert.Empty(link.Ids);
        Assert.Empty(hub.Pushed);
        sync.SetResult();
        Assert.Equal(AcceptStatus.Accepted, (await accepting.WaitAsync(TimeSpan.FromSeconds(20))).Status);
        await hub.RestAsync();
        Assert.Single(link.Ids);
        Assert.Single(hub.Pushed);
    }

    [Fact]
    public async Task Accept_TooManyOfAClass_OverloadedAndOthersUntouched()
    {
        await using var hub = new HubUnderTest();
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        // Half of the 8,192 places: the rest is for the classes above.
        var waiting = Enumerable.Range(0, 4_096).Select(_ => hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"bulk\"")).AsTask()).ToArray();
        var refused = await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"bulk\"")).AsTask().WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(AcceptStatus.Overloaded, refused.Status);
        Assert.True(refused.RetryAfter > TimeSpan.Zero);
        var call = hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"call\"")).AsTask();
        Assert.False(call.IsCompleted);
        sync.SetResult();
        Assert.Equal(AcceptStatus.Accepted, (await call.WaitAsync(TimeSpan.FromSeconds(20))).Status);
        Assert.All(await Task.WhenAll(waiting), answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"class\":\"bulk\""))).Status);
    }

    [Fact]
    public async Task AcceptMany_KeepsTheOrderAndAnswersEach()
    {
        await using var hub = new HubUnderTest();
        var (link, _) = await hub.OpenAsync("tab");
        var events = Enumerable.Range(0, 50).Select(_ => hub.NewEvent()).ToList();
        var answers = await hub.Hub.Acceptor.AcceptManyAsync([.. events, events[3]]);
        Assert.Equal(events.Select(e => e.Id), link.Ids);
        Assert.All(answers[..50], a => Assert.Equal(AcceptStatus.Accepted, a.Status));
        Assert.Equal(AcceptStatus.Duplicate, answers[50].Status);
    }

    [Fact]
    public async Task Accept_UnknownUser_IsAcceptedAndFinished()
    {
        await using var hub = new HubUnderTest();
        var id = await hub.SendAsync();
        Assert.Empty(hub.Journal.Settled);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Accept_Topic_ReachesEveryMemberWithTheSameId()
    {
        await using var hub = new HubUnderTest();
        var members = Enumerable.Range(0, 500).Select(i => $"u{i}").ToArray();
        hub.Store.PutTopic("room", members);
        foreach (var member in members)
        {
            hub.Store.Put(member, hub.Phone("phone"));
        }

        var (link, key) = await hub.OpenAsync("phone", user: "u7");
        var id = await hub.SendAsync(to: """{"topic":"room"}""");
        await Waiting.UntilAsync(() => hub.Hub.FanOuts == 0, "the last page");
        await hub.RestAsync();
        Assert.Equal([id], link.Ids);
        hub.Hub.Router.Acked(key, id);
        Assert.Equal(members.Where(m => m != "u7").Order(), hub.Fcm.Sent.Select(s => s.User).Order());
        Assert.All(hub.Pushed, pushed => Assert.Equal(id, pushed));
        Assert.Equal(500, hub.Journal.Settled.Count);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Accept_StoreFailsHalfway_GoesOnWhenItCanBeRead()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Store.Unreadable.Add("eve");
        hub.Store.Put("eve", hub.Phone("pad"));
        var id = await hub.SendAsync(to: """{"users":["ada","eve"]}""");
        Assert.Equal(["phone"], hub.Fcm.Sent.Select(s => s.Device));

        // Tried again by itself, whatever the publisher does meanwhile.
        await hub.PassAsync(50);
        Assert.Single(hub.Pushed);
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 2, "the other user's push");
        Assert.Equal(["phone", "pad"], hub.Fcm.Sent.Select(s => s.Device));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task AcceptMany_PlanningOneBreaks_IsAcceptedLoggedAndStaysOpen()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log);
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Store.Broken.Add("eve");
        var (cut, whole) = (hub.NewEvent(to: """{"users":["ada","eve"]}"""), hub.NewEvent());
        var answers = await hub.Hub.Acceptor.AcceptManyAsync([cut, whole]);
        await hub.RestAsync();
        Assert.All(answers, answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        Assert.Equal([cut.Id, whole.Id], hub.Pushed);
        Assert.Contains("DispatchCut", log.EventNames);
        await hub.AssertAllEndAsync(whole.Id);
    }

    [Fact]
    public async Task AcceptMany_JournalBreaks_AnswersEachAndLeavesNoPlaceTaken()
    {
        await using var hub = new HubUnderTest();
        hub.Journal.Fault = new InvalidOperationException("A bug.");
        for (var i = 0; i < 10; i++)
        {
            var answers = await hub.Hub.Acceptor.AcceptManyAsync([.. Enumerable.Range(0, 250).Select(_ => hub.NewEvent("\"class\":\"bulk\""))]);
            Assert.All(answers, answer => Assert.Equal(AcceptStatus.Unavailable, answer.Status));
        }
    }

    [Fact]
    public async Task Start_DispatchBreaks_GoesOnWithTheNext()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Store.Broken.Add("eve");
        hub.Journal.Unfinished.Add(Stored("broken", """{"to":{"user":"eve"}}""", hub.Now, hub.Now.AddHours(1)));
        hub.Journal.Unfinished.Add(Stored("whole", """{"to":{"user":"ada"}}""", hub.Now, hub.Now.AddHours(1)));
        await hub.Hub.RecoverAsync(CancellationToken.None); // not started: 25 hours of its ticks take half a minute
        await hub.RestAsync();
        Assert.Equal(["whole"], hub.Pushed);
        await hub.AssertAllEndAsync("whole");
    }

    [Fact]
    public async Task Accept_TenThousandDevices_InBoundedTime()
    {
        await using var hub = new HubUnderTest();
        const int devices = 10_000;
        hub.Store.Put("ada", [.. Enumerable.Range(0, devices).Select(i => hub.Phone($"d{i}"))]);
        var start = TimeProvider.System.GetTimestamp();
        var pushed = await hub.SendAsync();
        Assert.Equal(devices, hub.Fcm.Sent.Select(s => s.Device).Distinct().Count());

        // The same with a mailbox and acks instead of pushes.
        hub.Store.Put("ada", [.. Enumerable.Range(0, devices).Select(i => hub.NewDevice($"d{i}"))]);
        var acked = await hub.SendAsync();
        for (var i = 0; i < devices; i++)
        {
            hub.Hub.Router.Acked(new("demo", "ada", $"d{i}", "s"), acked);
        }

        // A guard against an accident of the cube, not a measurement: machines differ, and a busy one took 20 s.
        Assert.InRange(TimeProvider.System.GetElapsedTime(start), TimeSpan.Zero, TimeSpan.FromMinutes(2));
        Assert.Equal(2 * devices, hub.Journal.Settled.Count);
        await hub.AssertAllEndAsync(pushed, acked);
    }

    [Fact]
    public async Task Explain_SaysThePlanAndSendsNothing()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, _) = await hub.OpenAsync("tab");
        var (plans, members, next) = await hub.Hub.Explainer.ExplainAsync(hub.NewEvent(to: """{"users":["ada","nobody"]}"""), "", CancellationToken.None);
        Assert.Null(members);
        Assert.Null(next);
        Assert.Equal(["ada", "nobody"], plans.Select(p => p.User));
        Assert.Equal(["phone:active-elsewhere", "tab:active-session"], plans[0].Devices.Select(d => $"{d.Device.Id}:{d.Reason}"));
        Assert.Empty(plans[1].Devices);
        await hub.PassAsync(10);
        Assert.Empty(link.Ids);
        Assert.Empty(hub.Pushed);
        hub.AssertAllEnded();
    }

    [Fact]
    public async Task Explain_Topic_SaysAPageTheCountAndWhereToGoOn()
    {
        await using var hub = new HubUnderTest();
        var members = Enumerable.Range(0, 250).Select(static i => $"u{i:000}").ToArray();
        hub.Store.PutTopic("hall", members);
        hub.Store.Put("u000", hub.Phone("phone"));
        var accepted = hub.NewEvent(to: """{"topic":"hall"}""");
        var found = new List<string>();
        string? after = "";
        for (var page = 0; after is not null; page++)
        {
            var plan = await hub.Hub.Explainer.ExplainAsync(accepted, after, CancellationToken.None);
            Assert.Equal(250, plan.Members);
            Assert.Equal(page < 2 ? 100 : 50, plan.Users.Count);
            found.AddRange(plan.Users.Select(user => user.User));
            Assert.Equal(page == 0 ? 1 : 0, plan.Users[0].Devices.Count);
            after = plan.Next;
        }

        Assert.Equal(members, found);
    }

    [Fact]
    public async Task Start_Unfinished_GoesOnWhereItWas()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone1"), hub.Phone("phone2"), hub.NewDevice("tablet"));
        var accepted = hub.Now.AddHours(-1);
        hub.Journal.Unfinished.Add(Stored("old", """{"to":{"user":"ada"},"ttl":7200}""", accepted, accepted.AddHours(2), ("ada", "phone1")));
        hub.Journal.Unfinished.Add(Stored("bad", """{"to":{"user":"ada"},"channels":["gone"]}""", accepted, accepted.AddHours(2)));
        await hub.Hub.StartAsync(CancellationToken.None);
        await hub.RestAsync();
        Assert.Equal(["old/phone2"], hub.Fcm.Sent.Select(s => $"{s.Event}/{s.Device}"));
        Assert.Equal(("accepted", null, null), (hub.Journal.EndOf("old", "phone2"), hub.Journal.EndOf("old", "phone1"), hub.Journal.EndOf("old", "tablet")));

        // The clock's own ticks from here on: the mailbox ends with the first TTL, not a new one.
        hub.Clock.Advance(TimeSpan.FromMinutes(59));
        Assert.Null(hub.Journal.EndOf("old", "tablet"));
        hub.Clock.Advance(TimeSpan.FromMinutes(2));
        await Waiting.UntilAsync(() => hub.Journal.EndOf("old", "tablet") is not null, "the tablet's expiry");
        Assert.Equal("expired", hub.Journal.EndOf("old", "tablet"));
        hub.AssertAllEnded("old");
    }

    [Fact]
    public async Task Stop_WaitsForWhatIsUnderWayAndTakesNoMore()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new ValueTask<DeliveryResult>(answer.Task);
        await hub.Hub.StartAsync(CancellationToken.None);
        var first = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(first);
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the first push");
        var stopping = hub.Hub.StopAsync(CancellationToken.None);
        Assert.Equal(AcceptStatus.Stopping, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent())).Status);
        Assert.False(stopping.IsCompleted);
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await stopping.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal([first.Id], hub.Pushed);
        Assert.Equal("accepted", hub.Journal.EndOf(first.Id, "phone"));
    }

    [Fact]
    public async Task Stop_DeadlineOver_CancelsWhatHangs()
    {
        var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = static async (_, cancellationToken) =>
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            return default;
        };
        await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent());
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the push");
        await hub.Hub.StopAsync(new CancellationToken(canceled: true)).WaitAsync(TimeSpan.FromSeconds(20));
        await hub.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(1, hub.Fcm.DisposedSenders);
        Assert.Empty(hub.Journal.Settled);
    }

    private static UnfinishedEvent Stored(
        string id, string body, DateTimeOffset accepted, DateTimeOffset expires, params (string User, string Device)[] settled) =>
        new(
            new StoredEvent("demo", id, true, accepted, expires, null, Encoding.UTF8.GetBytes(body)),
            false,
            [],
            [.. settled.Select(static s => new UnfinishedDelivery(s.User, s.Device, true, false, 0, null))]);
}
