using Pnh.Core.Deliveries;
using Pnh.Core.Journal;

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
    public async Task RowsLost_OfATopicsMember_IsNotTakenForAFormerMember()
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
        Assert.Equal((null, "failed:device-gone"), (old.Journal.EndOf(accepted.Id, "tablet", "ada"), old.Journal.EndOf(accepted.Id, "pad", "eve")));
        await old.DisposeAsync();
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

    [Fact]
    public async Task SessionThatWasNeverRegistered_IsGone()
    {
        var old = new HubUnderTest();
        var (link, _) = await old.OpenAsync("browser");
        var id = await old.SendAsync("\"ttl\":600");
        Assert.Equal([id], link.Ids);
        await using var hub = await old.CrashAsync();
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "browser"));
        hub.AssertAllEnded(id);
    }
}
