using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>A restart on a registry that knows nothing of a user whose events are open: they are not taken for deleted.</summary>
public sealed class HubLostTests
{
    [Fact]
    public async Task RowsLost_NothingEndsUntilTheyAreBack()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"), old.NewDevice("tablet"));
        old.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromMinutes(5));
        var id = await old.SendAsync("\"ttl\":3600");
        old.Store.Lose("ada");
        await using var hub = await old.CrashAsync();
        await hub.PassAsync(TimeSpan.FromMinutes(10));
        Assert.Equal((null, null), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));

        hub.Fcm.Always(DeliveryStatus.Accepted);
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("tablet"));
        await hub.PassUntilAsync(() => hub.Journal.EndOf(id, "phone") == "accepted", "the push");
        var (tablet, key) = await hub.OpenAsync("tablet");
        Assert.Equal([id], tablet.Ids);
        await hub.AckAsync(key, id);
        hub.AssertLedger();
    }

    [Fact]
    public async Task RowsLost_ForGood_EndsAsUnreadableWithTheEvent()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        var id = await old.SendAsync("\"ttl\":100");
        old.Store.Lose("ada");
        await using var hub = await old.CrashAsync();
        await hub.PassUntilAsync(() => hub.Journal.Finished.Count == 1, "the event's end");
        Assert.Equal("failed:store-unavailable", hub.Journal.EndOf(id, "tablet"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task RowsLost_OfOneUser_OthersDoNotWait()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        old.Store.Put("eve", old.NewDevice("pad"));
        var id = await old.SendAsync("\"ttl\":600", """{"users":["ada","eve"]}""");
        old.Store.Lose("ada");
        await using var hub = await old.CrashAsync();
        var (pad, _) = await hub.OpenAsync("pad", user: "eve");
        Assert.Equal([id], pad.Ids);
        Assert.Null(hub.Journal.EndOf(id, "tablet", "ada"));
    }

    [Fact]
    public async Task RowsLost_OfATopicsMember_OthersGoOn()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        old.Store.Put("eve", old.NewDevice("pad"));
        var accepted = old.NewEvent("\"ttl\":600", """{"topic":"room"}""");
        old.Journal.Unfinished.Add(new UnfinishedEvent(
            new StoredEvent(accepted.App, accepted.Id, accepted.IdGiven, accepted.AcceptedAt, accepted.ExpiresAt, accepted.TraceParent, accepted.Body),
            false, [], [new("ada", "tablet", false, true, 0, null), new("eve", "pad", false, true, 0, null)]));
        old.Store.Lose("ada");
        await old.Hub.RecoverAsync(CancellationToken.None);
        await old.RestAsync();
        Assert.Equal((null, null), (old.Journal.EndOf(accepted.Id, "tablet", "ada"), old.Journal.EndOf(accepted.Id, "pad", "eve")));
        Assert.Equal(1, await old.Hub.Inbox.AckAsync(new UserKey("demo", "eve"), "pad", [accepted.Id], CancellationToken.None));
        await old.DisposeAsync();
    }

    /// <summary>What nobody had begun is planned once, however often the lost rows are asked for.</summary>
    [Theory]
    [InlineData("""{"users":["ada","eve"]}""")]
    [InlineData("""{"topic":"room"}""")]
    public async Task RowsLost_DispatchWasCut_OthersBeginOnce(string to)
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", ["ada", "eve"]);
        hub.Store.Put("eve", hub.NewDevice("pad"));
        hub.Store.Lose("ada");
        var accepted = hub.NewEvent("\"ttl\":600", to);
        await hub.Journal.AppendAsync(accepted, CancellationToken.None);
        hub.Journal.Unfinished.Add(new UnfinishedEvent(
            new StoredEvent(accepted.App, accepted.Id, accepted.IdGiven, accepted.AcceptedAt, accepted.ExpiresAt, accepted.TraceParent, accepted.Body),
            false, [], [new("ada", "tablet", false, true, 0, null) { IsRegistered = true }]));
        await hub.Hub.RecoverAsync(CancellationToken.None);
        await hub.PassAsync(100);
        Assert.Equal("eve", Assert.Single(hub.Journal.Milestones, static one => one.Kind == MilestoneKind.Planned).User);
        Assert.DoesNotContain(hub.Journal.Milestones, static one => one.Kind == MilestoneKind.Dispatched);
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        await hub.PassUntilAsync(() => hub.Journal.Milestones.Any(static one => one.Kind == MilestoneKind.Dispatched), "the lost user");
        Assert.Equal([accepted.Id], (await hub.OpenAsync("tablet")).Link.Ids);
        Assert.Equal([accepted.Id], (await hub.OpenAsync("pad", user: "eve")).Link.Ids);
        hub.AssertLedger();
    }

    [Theory]
    [InlineData(false, "u0003", "u0400", "u0599")]
    [InlineData(true, "u0003", "u0100", "u0255")]
    public async Task RowsLost_InAFanOut_OthersAndTheNextEventDoNotWait(bool isCut, params string[] lost)
    {
        var hall = Enumerable.Range(0, 900).Select(static i => $"u{i:0000}").ToArray();
        var old = new HubUnderTest();
        old.Store.PutTopic("hall", hall);
        Array.ForEach(hall, name => old.Store.Put(name, old.Phone("phone")));
        old.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromMinutes(5));
        if (isCut)
        {
            // Behind its first two pages: the next start has one, and a fan-out the rest.
            old.Journal.Flushing = static () => new TaskCompletionSource().Task;
        }

        var id = await old.SendAsync("\"ttl\":3600", """{"topic":"hall"}""");
        await Waiting.UntilAsync(() => isCut ? old.Journal.Milestones.Any(m => m.Kind == MilestoneKind.Reached) : old.Hub.FanOuts == 0, "the fan-out");
        await old.RestAsync();
        Array.ForEach(lost, old.Store.Lose);
        await using var hub = await old.CrashAsync();
        hub.Fcm.Always(DeliveryStatus.Accepted);
        var next = await hub.SendAsync(to: """{"topic":"hall"}""");
        await hub.PassUntilAsync(() => hub.Journal.Settled.Count(m => m.Event == id) == 897 && hub.Hub.FanOuts == 0, "all but the lost");
        Assert.All(lost, user => Assert.Null(hub.Journal.EndOf(id, "phone", user)));
        Assert.Equal(897, hub.Fcm.Sent.Count(sent => sent.Event == next));

        Array.ForEach(lost, name => hub.Store.Put(name, hub.Phone("phone")));
        await hub.PassUntilAsync(() => lost.All(user => hub.Journal.EndOf(id, "phone", user) == "accepted"), "the lost");
        Assert.Equal(2, hub.Fcm.Sent.Count(sent => sent.Event == id && sent.User == lost[2])); // the first of them to a provider that was down
        await hub.AssertAllEndAsync(id, next);
    }

    [Fact]
    public async Task LastDeviceDeleted_IsGone()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        var id = await old.SendAsync("\"ttl\":600");
        old.Store.Put("ada");
        await using var hub = await old.CrashAsync();
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "tablet"));
        hub.AssertAllEnded(id);
    }
}
