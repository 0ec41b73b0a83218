using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>What a new run takes up of an old one that ended at once.</summary>
public sealed class HubRecoveryTests
{
    [Fact]
    public async Task Retry_GoesOnAtItsTimeWithItsCount()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        old.Fcm.Always(DeliveryStatus.Throttled, TimeSpan.FromSeconds(60));
        var id = await old.SendAsync("\"ttl\":3600");
        var due = old.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Retry).NextAttemptAt!.Value;
        await old.PassAsync(20);
        await using var hub = await old.CrashAsync();
        await PassOffTicksAsync(hub, due - hub.Now - TimeSpan.FromMilliseconds(1));
        Assert.Single(hub.Pushed);
        hub.Fcm.Always(DeliveryStatus.Unavailable);
        await PassOffTicksAsync(hub, TimeSpan.FromMilliseconds(60));
        await Waiting.UntilAsync(() => hub.Journal.Milestones.Count(m => m.Kind == MilestoneKind.Retry) == 2, "the second attempt");
        Assert.Equal(2, hub.Journal.Milestones.Last(m => m.Kind == MilestoneKind.Retry).Attempts);
        Assert.Null(hub.Journal.EndOf(id, "phone"));
        hub.AssertLedger();
    }

    [Fact]
    public async Task Mailbox_IsKeptWhetherSettledOrNot()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"), old.NewDevice("tablet"));
        var id = await old.SendAsync("\"ttl\":3600");
        var acked = await old.SendAsync("\"ttl\":3600");
        Assert.Equal(2, await old.Hub.Inbox.AckAsync(new("demo", "ada"), "phone", [acked], CancellationToken.None) + await old.Hub.Inbox.AckAsync(new("demo", "ada"), "tablet", [acked], CancellationToken.None));
        await using var hub = await old.CrashAsync();
        Assert.Equal(2, hub.Pushed.Count); // none again: accepted is accepted
        var (phone, phoneKey) = await hub.OpenAsync("phone");
        var (tablet, _) = await hub.OpenAsync("tablet");
        Assert.Equal([id], phone.Ids);
        Assert.Equal([id], tablet.Ids);
        await hub.AckAsync(phoneKey, id);
        Assert.Equal(MilestoneKind.AckedLate, hub.Journal.KindsOf(id, "phone")[^1]);
        hub.AssertLedger();
        await PassOffTicksAsync(hub, TimeSpan.FromHours(2));
        await Waiting.UntilAsync(() => hub.Journal.Finished.Count == 2, "the end of the TTL");
        Assert.Equal("expired", hub.Journal.EndOf(id, "tablet"));
        hub.AssertAllEnded(id, acked);
    }

    [Fact]
    public async Task Withdrawn_IsNotSentAndEnds()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"), old.NewDevice("tablet"));
        old.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromMinutes(5));
        var id = await old.SendAsync();

        // The hub ends between the journal's word and what follows from it.
        HubUnderTest? hub = null;
        old.Journal.Withdrawing = () => hub = new HubUnderTest(before: old);
        await old.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None);
        await old.DisposeAsync();
        await using (hub)
        {
            await hub!.Hub.StartAsync(CancellationToken.None);
            await hub.RestAsync();
            Assert.Equal(("withdrawn", "withdrawn"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));
            var (link, _) = await hub.OpenAsync("tablet");
            Assert.Empty(link.Ids);
            hub.AssertAllEnded(id);
        }
    }

    [Fact]
    public async Task Expired_WhileNobodyRan_EndsAndIsNotSent()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"), old.NewDevice("tablet"));
        old.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromMinutes(5));
        var id = await old.SendAsync("\"ttl\":30");
        var pushed = old.Pushed.Count;
        old.Clock.Advance(TimeSpan.FromMinutes(1));
        await using var hub = await old.CrashAsync();
        await hub.RestAsync();
        Assert.Equal(("expired", "expired"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));
        Assert.Equal(pushed, hub.Pushed.Count);
        hub.AssertAllEnded(id);
        hub.AssertLedger();
    }

    [Theory]
    [InlineData("\"ttl\":30")]
    [InlineData("\"ttl\":0")]
    public async Task ExpiredBeforeItsDispatch_EndsAndIsNotSent(string ttl)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var accepted = hub.NewEvent(ttl);
        hub.Journal.Unfinished.Add(new UnfinishedEvent(Stored(accepted), false, [], []));
        hub.Clock.Advance(TimeSpan.FromMinutes(1));
        await hub.Hub.RecoverAsync(CancellationToken.None);
        await hub.RestAsync();
        Assert.Empty(hub.Pushed);
        Assert.Equal("expired", hub.Journal.EndOf(accepted.Id, "phone"));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task ExpiredInMidDispatch_EndsForThoseThatHadBegunAndThoseThatHadNot()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("tablet"));
        var accepted = hub.NewEvent("\"ttl\":30");
        hub.Journal.Unfinished.Add(new UnfinishedEvent(
            Stored(accepted), false, [], [new("ada", "phone", false, true, 1, null), new("ada", "gone", false, true, 0, null)]));
        hub.Clock.Advance(TimeSpan.FromMinutes(1));
        await hub.Hub.RecoverAsync(CancellationToken.None);
        await hub.RestAsync();
        Assert.Empty(hub.Pushed);
        Assert.Equal(
            ("expired", "expired", "failed:device-gone"),
            (hub.Journal.EndOf(accepted.Id, "phone"), hub.Journal.EndOf(accepted.Id, "tablet"), hub.Journal.EndOf(accepted.Id, "gone")));
        Assert.Single(hub.Journal.Milestones, m => m.Kind == MilestoneKind.Dispatched);
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed); // the tablet's: it had not begun
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task DeviceThatCameLater_IsNotAddedWhenDispatched()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        var id = await old.SendAsync("\"ttl\":60");
        old.Store.Put("ada", old.NewDevice("tablet"), old.Phone("phone"));
        await using var hub = await old.CrashAsync();
        Assert.Empty(hub.Pushed);
        var (link, _) = await hub.OpenAsync("phone");
        Assert.Empty(link.Ids);
        Assert.DoesNotContain(hub.Journal.Milestones, m => m.Event == id && m.Device == "phone");
    }

    [Fact]
    public async Task CutDispatch_GoesOnWithThoseThatHadNotBegun()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        old.Store.Put("eve", old.Phone("pad"));
        old.Store.Unreadable.Add("eve");
        var id = await old.SendAsync("\"ttl\":600", """{"users":["ada","eve"]}""");
        old.Store.Unreadable.Clear();
        await using var hub = await old.CrashAsync();
        Assert.Equal(["phone", "pad"], hub.Fcm.Sent.Select(s => s.Device));
        Assert.Equal(("accepted", "accepted"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "pad")));
    }

    [Fact]
    public async Task LostDevices_EndFailed()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"), old.Phone("phone"));
        old.Fcm.Always(DeliveryStatus.Unavailable);
        await old.OpenAsync("tab");
        var id = await old.SendAsync();
        old.Store.Put("ada", old.NewDevice("new"));
        await using var hub = await old.CrashAsync();
        await hub.PassAsync(61); // the session alone might come back
        Assert.All(["tablet", "phone", "tab"], device => Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, device)));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason); // that there are none now was not so then
        hub.AssertAllEnded(id);
        Assert.Equal(0, hub.Hub.Shards.Users);
    }

    [Fact]
    public async Task Topic_MembersWhoLeft_WhatHadBegunGoesOn()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        var id = await RecoverInTopicAsync(hub);
        Assert.Null(hub.Journal.EndOf(id, "pad", "eve"));
        Assert.Null(hub.Journal.EndOf(id, "tablet", "ada"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Topic_MembersWhoLeftAfterTheirTurn_StillGetIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        var id = await RecoverInTopicAsync(hub, reached: "eve");
        Assert.Null(hub.Journal.EndOf(id, "pad", "eve"));
        Assert.Null(hub.Journal.EndOf(id, "tablet", "ada"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Topic_ExpiredAndItsMembersUnreadable_WhatHadBegunExpires()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada", "eve");
        hub.Store.CutAfter.Add("ada");
        var id = await RecoverExpiredInTopicAsync(hub);
        Assert.Equal("expired", hub.Journal.EndOf(id, "tablet", "ada"));
        Assert.Equal("expired", hub.Journal.EndOf(id, "pad", "eve"));
        Assert.Equal("store-unavailable", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Topic_ExpiredAndOneMemberUnreadable_WhoLeftExpires()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        hub.Store.Unreadable.Add("ada");
        var id = await RecoverExpiredInTopicAsync(hub);
        Assert.Equal("failed:store-unavailable", hub.Journal.EndOf(id, "tablet", "ada"));
        Assert.Equal("expired", hub.Journal.EndOf(id, "pad", "eve"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Topic_SessionsThatJoined_EndFailedAndAreNotPushed()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        var (link, key) = await old.OpenAsync("phone");
        old.Hub.Router.Joined(key, ["room"]);
        var id = await old.SendAsync("\"ttl\":600", """{"topic":"room"}""");
        Assert.Equal([id], link.Ids);
        await using var hub = await old.CrashAsync();
        await hub.PassAsync(61); // for its session
        Assert.Empty(hub.Pushed);
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task RecoveredAndStuck_WithdrawWaitsForIt()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.NewDevice("tablet"));
        var id = await old.SendAsync("\"ttl\":600");
        old.Store.Unreadable.Add("ada");
        await using var hub = await old.CrashAsync();
        var withdrawing = hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None).AsTask();
        Assert.False(withdrawing.IsCompleted);
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => withdrawing.IsCompleted, "the withdrawal");
        Assert.Equal("withdrawn:withdrawn", hub.Journal.EndOf(id, "tablet"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task RegistryUnreadable_IsTriedAfter1_2_4Up30SecondsThenGivenUpWithTheEvent()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Store.Unreadable.Add("ada");
        var retry = hub.Clock.PendingTimers + 1; // beside those that tick whatever happens
        var id = await hub.SendAsync("\"ttl\":100");
        var reads = 1;
        foreach (var wait in new[] { 1, 2, 4, 8, 16, 30, 30 })
        {
            await hub.Clock.WaitForTimersAsync(retry);
            hub.Clock.Advance(TimeSpan.FromSeconds(wait) - TimeSpan.FromMilliseconds(1));
            Assert.Equal(reads, hub.Store.FailedReads);
            hub.Clock.Advance(TimeSpan.FromMilliseconds(1));
            reads++;
            await Waiting.UntilAsync(() => hub.Store.FailedReads == reads, "the next try");
        }

        await hub.Clock.WaitForTimersAsync(retry);
        hub.Clock.Advance(TimeSpan.FromSeconds(30)); // past the TTL
        await Waiting.UntilAsync(() => hub.Journal.Finished.Count == 1, "the event's end");
        Assert.Equal("store-unavailable", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed);
        hub.AssertAllEnded(id);
    }

    // An event to a topic that the previous process had begun for ada and eve, and not dispatched when it ended; it is over by now.
    private static Task<string> RecoverExpiredInTopicAsync(HubUnderTest hub) => RecoverInTopicAsync(hub, ttl: 30);

    private static async Task<string> RecoverInTopicAsync(HubUnderTest hub, int ttl = 600, string reached = "")
    {
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        hub.Store.Put("eve", hub.NewDevice("pad"));
        var accepted = hub.NewEvent($"\"ttl\":{ttl}", """{"topic":"room"}""");
        hub.Journal.Unfinished.Add(new UnfinishedEvent(
            Stored(accepted), false, [], [new("ada", "tablet", false, true, 0, null), new("eve", "pad", false, true, 0, null)])
        { Reached = reached });
        hub.Clock.Advance(TimeSpan.FromMinutes(1));
        await hub.Hub.RecoverAsync(CancellationToken.None);
        await Waiting.UntilAsync(() => hub.Hub.FanOuts == 0, "who cannot be read to be given up");
        await hub.RestAsync();
        return accepted.Id;
    }

    private static StoredEvent Stored(Event accepted) => new(
        accepted.App, accepted.Id, accepted.IdGiven, accepted.AcceptedAt, accepted.ExpiresAt, accepted.TraceParent, accepted.Body);

    // The hub runs by the clock's own ticks here, as it does after a start.
    private static async Task PassOffTicksAsync(HubUnderTest hub, TimeSpan time)
    {
        hub.Clock.Advance(time);
        hub.Hub.Advance();
        await hub.RestAsync();
    }
}
