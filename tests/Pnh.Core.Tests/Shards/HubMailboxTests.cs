using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>What stays for a device after the ledger has its end, and how it leaves.</summary>
public sealed class HubMailboxTests
{
    private static readonly UserKey Ada = new("demo", "ada");

    [Fact]
    public async Task Accepted_LaterSession_GetsItAndItsAckIsLate()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        Assert.Empty(hub.Journal.Finished);
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([id], link.Ids);
        await hub.AckAsync(key, id);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(
            [MilestoneKind.Planned, MilestoneKind.Settled, MilestoneKind.Framed, MilestoneKind.AckedLate], hub.Journal.KindsOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Accepted_Unacked_LeavesWithItsTtl()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync("\"ttl\":30");
        Assert.Equal(1, hub.Hub.Shards.Timers);
        await hub.PassAsync(31);
        var (link, _) = await hub.OpenAsync("phone");
        Assert.Empty(link.Ids);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Accepted_PushOnly_IsNotKept()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync("\"channels\":[\"fcm\"]");
        hub.AssertAllEnded(id);
        Assert.Equal(0, hub.Hub.Shards.Users);
    }

    [Fact]
    public async Task Accepted_LateAckThere_StopsThePushElsewhere()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("laptop"), hub.Phone("phone"));
        var (_, key) = await hub.OpenAsync("laptop");
        var id = await hub.SendAsync("\"ack\":{\"within\":1}");
        await hub.PassAsync(1.5);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "laptop"));
        await hub.AckAsync(key, id);
        await hub.PassAsync(10);
        Assert.Equal(["laptop"], hub.Fcm.Sent.Select(s => s.Device));
        Assert.Equal("suppressed:acked-elsewhere", hub.Journal.EndOf(id, "phone"));
    }

    [Fact]
    public async Task CollapseKey_Newer_TakesTheOlderOnesPlaceInItsClass()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"), hub.Phone("phone"));
        var older = await hub.SendAsync("\"collapseKey\":\"chat\"");
        var other = await hub.SendAsync("\"collapseKey\":\"mail\"");
        var bulk = await hub.SendAsync("\"collapseKey\":\"chat\",\"class\":\"bulk\"");
        var newer = await hub.SendAsync("\"collapseKey\":\"chat\"");
        Assert.Equal("suppressed:collapsed", hub.Journal.EndOf(older, "tablet"));

        // On the phone it was settled before: it only leaves.
        Assert.Equal("accepted", hub.Journal.EndOf(older, "phone"));
        Assert.Equal(MilestoneKind.Dropped, hub.Journal.KindsOf(older, "phone")[^1]);
        Assert.Contains(older, hub.Journal.Finished);
        foreach (var device in new[] { "tablet", "phone" })
        {
            var (link, key) = await hub.OpenAsync(device);
            Assert.Equal([other, bulk, newer], link.Ids);
            await hub.AckAsync(key, link.Ids);
        }

        hub.AssertAllEnded(older, other, bulk, newer);
    }

    [Fact]
    public async Task CollapseKey_OlderThatTheRegistryHeldUp_TakesNoPlaceOfANewerOne()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        hub.Store.Unreadable.Add("ada");
        var older = await hub.SendAsync("\"collapseKey\":\"chat\"");
        hub.Store.Unreadable.Clear();
        hub.Clock.Advance(TimeSpan.FromMilliseconds(1)); // the next try comes after a second
        var newer = await hub.SendAsync("\"collapseKey\":\"chat\"");
        Assert.DoesNotContain(hub.Journal.Milestones, m => m.Event == older);
        await hub.PassUntilAsync(() => hub.Journal.KindsOf(older, "tablet").Count > 0, "the older one");
        Assert.Null(hub.Journal.EndOf(newer, "tablet"));
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Contains(newer, link.Ids);
        await hub.AckAsync(key, link.Ids);
        hub.AssertAllEnded(older, newer);
    }

    [Fact]
    public async Task TooMany_OldestBulkGoesThenOldestMessage()
    {
        await using var hub = new HubUnderTest(options: new HubOptions { MailboxItems = 4 });
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var call = await hub.SendAsync("\"class\":\"call\",\"ttl\":3600");
        var message = await hub.SendAsync();
        var bulk1 = await hub.SendAsync("\"class\":\"bulk\"");
        var bulk2 = await hub.SendAsync("\"class\":\"bulk\"");
        string[] more = [await hub.SendAsync(), await hub.SendAsync(), await hub.SendAsync()];
        Assert.Equal(
            ["failed:evicted", "failed:evicted", "failed:evicted", null],
            new[] { bulk1, bulk2, message, call }.Select(id => hub.Journal.EndOf(id, "tablet")));
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Equal([call, .. more], link.Ids);
        await hub.AckAsync(key, link.Ids);
        hub.AssertAllEnded(call, message, bulk1, bulk2, more[0], more[1], more[2]);
    }

    [Fact]
    public async Task Inbox_PagesInOrderWithoutLossWhenAcceptedInOneInstant()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var sent = new List<string>();
        for (var i = 0; i < 230; i++)
        {
            sent.Add(await hub.SendAsync());
            await hub.PassAsync(i == 120 ? 1 : 0);
        }

        var read = new List<string>();
        string? after = null;
        do
        {
            var page = await hub.Hub.Inbox.ReadAsync(Ada, "tablet", after, CancellationToken.None);
            read.AddRange(page.Items.Select(e => e.Id));
            after = page.Next;
        }
        while (after is not null);

        Assert.Equal(sent.Order(StringComparer.Ordinal), read.Order(StringComparer.Ordinal));
        Assert.Equal(sent.Take(121).Order(StringComparer.Ordinal), read.Take(121).Order(StringComparer.Ordinal));
        Assert.Equal(229, await hub.Hub.Inbox.AckAsync(Ada, "tablet", [.. sent.Skip(1), "unknown", sent[5]], CancellationToken.None));
        Assert.Equal([sent[0]], (await hub.Hub.Inbox.ReadAsync(Ada, "tablet", null, CancellationToken.None)).Items.Select(e => e.Id));
        await Assert.ThrowsAsync<FormatException>(async () => await hub.Hub.Inbox.ReadAsync(Ada, "tablet", "no cursor", CancellationToken.None));
        Assert.Empty((await hub.Hub.Inbox.ReadAsync(Ada, "other", null, CancellationToken.None)).Items);
    }

    [Fact]
    public async Task Inbox_AfterAPush_ShowsItUntilItIsAcked()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        Assert.Equal([id], (await hub.Hub.Inbox.ReadAsync(Ada, "phone", null, CancellationToken.None)).Items.Select(e => e.Id));
        Assert.Equal(1, await hub.Hub.Inbox.AckAsync(Ada, "phone", [id], CancellationToken.None));
        Assert.Empty((await hub.Hub.Inbox.ReadAsync(Ada, "phone", null, CancellationToken.None)).Items);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Replay_JournalUnreadable_GoesOnByItselfWhenItIsReadable()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var waiting = await hub.SendAsync();
        hub.Journal.ReadFault = new StoreUnavailableException("The disk does not answer.");
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Empty(link.Ids);

        // A newer one does not overtake the one that is being read.
        var newer = await hub.SendAsync();
        Assert.Empty(link.Ids);
        hub.Journal.ReadFault = null;
        await hub.PassUntilAsync(() => link.Ids.Count == 2, "the replay");
        Assert.Equal([waiting, newer], link.Ids);
        await hub.AckAsync(key, waiting, newer);
        hub.AssertAllEnded(waiting, newer);
    }

    [Fact]
    public async Task Replay_BodyIsDamaged_FailsAndHoldsUpNobody()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var damaged = await hub.SendAsync();
        var next = await hub.SendAsync();
        hub.Journal.Damaged.Add(damaged);
        var (link, key) = await hub.OpenAsync("tablet");
        await hub.RestAsync();
        Assert.Equal([next], link.Ids);
        Assert.Equal("failed:unreadable", hub.Journal.EndOf(damaged, "tablet"));
        await hub.AckAsync(key, next);
        hub.AssertAllEnded(damaged, next);
    }

    [Fact]
    public async Task Replay_RefusedForWantOfRoom_GoesOnWhenThereIsRoom()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var waiting = await hub.SendAsync();
        var (link, key) = await hub.OpenAsync("tablet", link: new FakeLink { Room = 0 });
        await hub.RestAsync();
        Assert.Empty(link.Ids);

        link.Room = 10;
        hub.Hub.Router.HasRoom(key with { Session = "another" });
        Assert.Empty(link.Ids);
        hub.Hub.Router.HasRoom(key);
        await hub.RestAsync();
        Assert.Equal([waiting], link.Ids);
        await hub.AckAsync(key, waiting);
        hub.AssertAllEnded(waiting);
    }

    [Fact]
    public async Task Replay_WindowOfSilence_MovesOnWhenItsFramesExpire()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        for (var i = 0; i < 128; i++)
        {
            await hub.SendAsync("\"ttl\":30");
        }

        var last = await hub.SendAsync();
        var (link, _) = await hub.OpenAsync("tablet");
        Assert.DoesNotContain(last, link.Ids);
        await hub.PassAsync(40);
        Assert.Equal(last, link.Ids[^1]);
        Assert.Equal(129, link.Ids.Count);
    }

    [Fact]
    public async Task Refused_FrameComesAgainInOrderAndThePushAtOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        var first = await hub.SendAsync();
        var second = await hub.SendAsync();
        Assert.Empty(hub.Pushed);
        hub.Hub.Router.Refused(key, second);
        await hub.RestAsync();
        Assert.Equal([second], hub.Pushed);
        await hub.AckAsync(key, first);
        Assert.Equal([first, second, second], link.Ids); // the one that the link gave back, and no other, again
    }

    [Fact]
    public async Task LinkWithoutConnection_NewerDoesNotOvertakeWhatItRefused()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var (link, key) = await hub.OpenAsync("tablet", link: new FakeLink { Room = 0 });
        var first = await hub.SendAsync();
        link.Room = int.MaxValue; // resumed already, but the hub has not heard of either
        var second = await hub.SendAsync();
        hub.Hub.Router.Detached(key);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.RestAsync();
        Assert.Equal([first, second], link.Ids);
    }

    [Fact]
    public async Task Replay_BodyGone_FailsAndGoesOnWithTheNext()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var lost = await hub.SendAsync();
        var next = await hub.SendAsync();
        hub.Journal.Lose(lost);
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Equal([next], link.Ids);
        Assert.Equal("failed:unreadable", hub.Journal.EndOf(lost, "tablet"));
        await hub.AckAsync(key, next);
        hub.AssertAllEnded(lost, next);
    }

    [Fact]
    public async Task Rejected_FrameOnALiveSession_StaysPendingForItsAck()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Rejected);
        var (_, key) = await hub.OpenAsync("phone", SessionState.Background);
        var id = await hub.SendAsync();
        Assert.Null(hub.Journal.EndOf(id, "phone"));
        await hub.AckAsync(key, id);
        Assert.Equal("acked", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }
}
