using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>What only waits for its device leaves memory, and is there when the device comes.</summary>
public sealed class HubRestingTests
{
    private static readonly UserKey Ada = new("demo", "ada");

    [Fact]
    public async Task Rest_PushedAndNobodyIsHere_NothingIsLeftInMemoryAndTheSessionGetsIt()
    {
        await using var hub = WithPhone();
        string[] sent = [await hub.SendAsync(), await hub.SendAsync()];
        await hub.Hub.Rest.RestAsync();
        Assert.Equal((0, 0), (hub.Hub.Shards.Users, hub.Hub.Shards.Timers));
        Assert.Equal((0, 0), (hub.Metrics.Ledger.Of("demo").Held, hub.Hub.Shards.InFlight));
        Assert.Empty(hub.Journal.Finished);
        Assert.Equal(4, hub.Journal.Milestones.Count(static one => one.Kind == MilestoneKind.Rested));

        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal(sent, link.Ids);
        await hub.AckAsync(key, sent);
        Assert.Equal(sent, hub.Journal.Finished);
        Assert.Equal(2, hub.Journal.Milestones.Count(static one => one.Kind == MilestoneKind.AckedLate));
        hub.Hub.Router.Closed(key);
        Assert.Empty((await hub.OpenAsync("phone")).Link.Ids);
    }

    [Fact]
    public async Task Rest_SessionIsThereOrDetached_StaysInMemory()
    {
        await using var hub = WithPhone();
        var (_, key) = await hub.OpenAsync("phone");
        hub.Hub.Router.Detached(key);
        var id = await hub.SendAsync("\"ttl\":600");
        await hub.PassAsync(10);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        await hub.Hub.Rest.RestAsync();
        Assert.DoesNotContain(hub.Journal.Milestones, static one => one.Kind == MilestoneKind.Rested);
        hub.Hub.Router.Closed(key);
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        Assert.Equal([id], (await hub.OpenAsync("phone")).Link.Ids);
    }

    [Fact]
    public async Task Open_NewEventsComeWhileMailIsRead_GoBehindIt()
    {
        await using var hub = WithPhone();
        var old = await hub.SendAsync("\"class\":\"call\"");
        await hub.Hub.Rest.RestAsync();
        var reading = new TaskCompletionSource();
        hub.Journal.ReadingMail = reading.Task;
        var link = new FakeLink();
        await hub.Hub.Router.OpenedAsync(new SessionOpened(new SessionKey("demo", "ada", "phone", "s"), SessionState.Active, link, hub.Now), CancellationToken.None);
        var (call, message) = (hub.NewEvent("\"class\":\"call\""), hub.NewEvent());
        await hub.Hub.Acceptor.AcceptAsync(call);
        await hub.Hub.Acceptor.AcceptAsync(message);
        Assert.Empty(link.Ids);
        reading.SetResult();
        await hub.RestAsync();
        Assert.Equal([old, call.Id, message.Id], link.Ids);
    }

    [Fact]
    public async Task Withdraw_WhileItRestsOrIsRead_NobodyGetsItAnyMore()
    {
        await using var hub = WithPhone();
        string[] sent = [await hub.SendAsync(), await hub.SendAsync(), await hub.SendAsync()];
        await hub.Hub.Rest.RestAsync();
        await hub.Hub.WithdrawAsync("demo", sent[0], "withdrawn", null, CancellationToken.None);
        Assert.Single(hub.Journal.Milestones, one => one is { Kind: MilestoneKind.Dropped, Device: "phone", Reason: "withdrawn" } && one.Event == sent[0]);
        var reading = new TaskCompletionSource();
        hub.Journal.ReadingMail = reading.Task;
        var link = new FakeLink();
        await hub.Hub.Router.OpenedAsync(new SessionOpened(new SessionKey("demo", "ada", "phone", "s"), SessionState.Active, link, hub.Now), CancellationToken.None);
        await hub.Hub.WithdrawAsync("demo", sent[1], "withdrawn", "ada", CancellationToken.None);
        reading.SetResult();
        await hub.RestAsync();
        Assert.Equal([sent[2]], link.Ids);
    }

    [Fact]
    public async Task Inbox_WhatRests_IsReadAndAcknowledged()
    {
        await using var hub = WithPhone();
        string[] sent = [await hub.SendAsync(), await hub.SendAsync()];
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(sent, (await hub.Hub.Inbox.ReadAsync(Ada, "phone", null, CancellationToken.None)).Items.Select(static one => one.Id));
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        Assert.Equal(1, await hub.Hub.Inbox.AckAsync(Ada, "phone", [sent[0], "unknown"], CancellationToken.None));
        Assert.Equal([sent[0]], hub.Journal.Finished);
        Assert.Equal([sent[1]], (await hub.Hub.Inbox.ReadAsync(Ada, "phone", null, CancellationToken.None)).Items.Select(static one => one.Id));
    }

    [Fact]
    public async Task Crash_WhatRests_IsNotTakenUpAndStillThere()
    {
        var old = WithPhone();
        old.Store.Put("ada", old.Phone("phone"), old.Phone("second"));
        var both = await old.SendAsync();
        var (_, second) = await old.OpenAsync("second");
        await old.AckAsync(second, both);
        await old.Hub.Rest.RestAsync(); // of the phone alone
        var last = await old.SendAsync();
        await using var hub = await old.CrashAsync();
        Assert.Equal([last], hub.Journal.Unfinished.Select(static one => one.Event.Id));
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([both, last], link.Ids);
        await hub.AckAsync(key, both, last);
        hub.Hub.Router.Closed(key);
        Assert.Empty((await hub.OpenAsync("phone")).Link.Ids);
    }

    [Fact]
    public async Task Ack_OneOfTwoDevices_TheOtherOneStillGetsIt()
    {
        await using var hub = WithPhone();
        hub.Store.Put("ada", hub.Phone("phone"), hub.Phone("second"));
        var id = await hub.SendAsync();
        await hub.Hub.Rest.RestAsync();
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([id], link.Ids);
        await hub.AckAsync(key, id);
        Assert.Equal([id], (await hub.OpenAsync("second")).Link.Ids);
    }

    [Fact]
    public async Task End_TtlIsOverWhileItRests_IsToldAsMissedOnce()
    {
        await using var hub = WithPhone();
        var first = hub.Now;
        await hub.SendAsync("\"ttl\":30");
        await hub.Hub.Rest.RestAsync();
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        await hub.Hub.Rest.EndAsync();
        var (link, _) = await hub.OpenAsync("phone");
        Assert.Empty(link.Ids);
        Assert.Equal(1, Assert.Single(link.Missed).Count);
        Assert.Equal(first.ToUnixTimeMilliseconds(), link.Missed[0].Since);
    }

    [Fact]
    public async Task Reopened_HoldsSomeOfIt_IsNotGivenThatAgain()
    {
        var old = WithPhone();
        string[] sent = [await old.SendAsync(), await old.SendAsync()];
        await old.Hub.Rest.RestAsync();
        await using var hub = await old.CrashAsync();
        var link = new FakeLink();
        var key = new SessionKey("demo", "ada", "phone", "s");
        await hub.Hub.Router.ReopenedAsync(new(new SessionOpened(key, SessionState.Active, link, hub.Now), IsDetached: false, [], [sent[0]]), CancellationToken.None);
        await hub.RestAsync();
        Assert.Equal([sent[1]], link.Ids);
        await hub.AckAsync(key, sent);
        Assert.Equal(sent, hub.Journal.Finished);
    }

    [Fact]
    public async Task Rest_JournalCannotBeWritten_StaysUntilItCan()
    {
        await using var hub = WithPhone();
        var id = await hub.SendAsync();
        hub.Journal.Flushing = static () => throw new StoreUnavailableException("The disk is full.");
        await Assert.ThrowsAsync<StoreUnavailableException>(hub.Hub.Rest.RestAsync);
        await Assert.ThrowsAsync<StoreUnavailableException>(hub.Hub.Rest.RestAsync);
        Assert.Equal(1, hub.Hub.Shards.Users);
        Assert.Single(hub.Journal.Milestones, static one => one.Kind == MilestoneKind.Rested); // it stays noted: twins would fill the journal's queue
        hub.Journal.Flushing = static () => Task.CompletedTask;
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        Assert.Equal([id], (await hub.OpenAsync("phone")).Link.Ids);
    }

    /// <summary>A journal drops notes when too many wait.</summary>
    [Fact]
    public async Task Rest_NoteIsLost_StaysInMemoryAndIsNotedAgain()
    {
        await using var hub = WithPhone();
        await hub.SendAsync();
        hub.Journal.LosesRested = true;
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(1, hub.Hub.Shards.Users);
        hub.Journal.LosesRested = false;
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        Assert.Equal(2, hub.Journal.Milestones.Count(static one => one is { Kind: MilestoneKind.Rested, Device: not null }));
    }

    [Fact]
    public async Task Open_MailCannotBeRead_IsTriedAgain()
    {
        await using var hub = WithPhone();
        var id = await hub.SendAsync();
        await hub.Hub.Rest.RestAsync();
        hub.Journal.ReadFault = new StoreUnavailableException("The disk is gone.");
        var link = new FakeLink();
        await hub.Hub.Router.OpenedAsync(new SessionOpened(new SessionKey("demo", "ada", "phone", "s"), SessionState.Active, link, hub.Now), CancellationToken.None);
        await hub.RestAsync();
        hub.Journal.ReadFault = null;
        await hub.PassUntilAsync(() => link.Ids.Count > 0, "what rests");
        Assert.Equal([id], link.Ids);
    }

    [Fact]
    public async Task Rest_MoreThanAMailboxHolds_TheOldestGo()
    {
        await using var hub = new HubUnderTest(options: new HubOptions { MailboxItems = 5 });
        hub.Store.Put("ada", hub.Phone("phone"));
        var sent = new List<string>();
        for (var i = 0; i < 8; i++)
        {
            sent.Add(await hub.SendAsync());
            await hub.Hub.Rest.RestAsync();
        }

        // Seven are a fifth too many; the eighth fits below that again.
        Assert.Equal(sent[..2], hub.Journal.Milestones.Where(static one => one is { Kind: MilestoneKind.Dropped, Reason: "evicted" }).Select(static one => one.Event));
        var (link, _) = await hub.OpenAsync("phone");
        Assert.Equal(sent[3..], link.Ids);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Rest_NewerOfItsCollapseKeyComes_EndsCollapsed(bool isPushed)
    {
        await using var hub = isPushed ? WithPhone() : WithTab();
        var device = isPushed ? "phone" : "tab";
        var first = await hub.SendAsync("\"collapseKey\":\"score\"");
        var call = await hub.SendAsync("\"collapseKey\":\"score\",\"class\":\"call\"");
        var other = await hub.SendAsync("\"collapseKey\":\"news\"");
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        var second = await hub.SendAsync("\"collapseKey\":\"score\"");
        await hub.RestAsync();
        Assert.Equal(isPushed ? "accepted" : "suppressed:collapsed", hub.Journal.EndOf(first, device));
        Assert.Equal(isPushed ? 1 : 0, hub.Journal.Milestones.Count(one => one.Event == first && one is { Kind: MilestoneKind.Dropped, Reason: "collapsed" }));
        hub.AssertLedger();
        await hub.Hub.Rest.RestAsync();
        var (link, _) = await hub.OpenAsync(device);
        Assert.Equal([call, other, second], link.Ids);
        Assert.Empty(link.Missed);
    }

    [Fact]
    public async Task Open_NewerOfACollapseKeyComesWhileItIsRead_TheNewerAloneIsGiven()
    {
        await using var hub = WithTab();
        var first = await hub.SendAsync("\"collapseKey\":\"score\"");
        await hub.Hub.Rest.RestAsync();
        var reading = new TaskCompletionSource();
        hub.Journal.ReadingMail = reading.Task;
        var link = new FakeLink();
        await hub.Hub.Router.OpenedAsync(new SessionOpened(new SessionKey("demo", "ada", "tab", "s"), SessionState.Active, link, hub.Now), CancellationToken.None);
        hub.Clock.Advance(TimeSpan.FromSeconds(1));
        var second = hub.NewEvent("\"collapseKey\":\"score\"");
        await hub.Hub.Acceptor.AcceptAsync(second);
        reading.SetResult();
        await hub.RestAsync();
        Assert.Equal([second.Id], link.Ids);
        Assert.Equal("suppressed:collapsed", hub.Journal.EndOf(first, "tab"));
        hub.AssertLedger();
    }

    /// <summary>The hub ended before it had ended the older one.</summary>
    [Fact]
    public async Task Crash_TwoOfACollapseKeyRest_TheNewerAloneIsGiven()
    {
        var old = WithTab();
        var first = await old.SendAsync("\"collapseKey\":\"score\"");
        await old.Hub.Rest.RestAsync();
        old.Clock.Advance(TimeSpan.FromSeconds(1));
        old.Journal.ReadFault = new StoreUnavailableException("The disk is gone.");
        var second = await old.SendAsync("\"collapseKey\":\"score\"");
        await old.RestAsync();
        await old.Hub.Rest.RestAsync();
        old.Journal.ReadFault = null;
        await using var hub = await old.CrashAsync();
        Assert.Equal([second], (await hub.OpenAsync("tab")).Link.Ids);
        Assert.Equal("suppressed:collapsed", hub.Journal.EndOf(first, "tab"));
        hub.AssertLedger();
    }

    [Fact]
    public async Task Rest_NoPushAddress_RestsWithoutAnEndUntilTheDeviceAcknowledges()
    {
        await using var hub = WithTab();
        string[] sent = [await hub.SendAsync(), await hub.SendAsync("\"class\":\"call\"")];
        hub.AssertLedger();
        await hub.Hub.Rest.RestAsync();
        Assert.Equal((0, 0, 0), (hub.Hub.Shards.Users, hub.Hub.Shards.Timers, hub.Hub.Shards.InFlight));
        Assert.Equal((1, 1), (RestingOf(hub, EventClass.Message), RestingOf(hub, EventClass.Call)));
        hub.AssertLedger();
        Assert.Empty(hub.Journal.Settled);

        var (link, key) = await hub.OpenAsync("tab");
        Assert.Equal(sent, link.Ids);
        Assert.Equal((0, 2), (RestingOf(hub, EventClass.Message), hub.Hub.Shards.InFlight));
        await hub.AckAsync(key, sent);
        Assert.All(sent, id => Assert.Equal("acked", hub.Journal.EndOf(id, "tab")));
        hub.Hub.Router.Closed(key);
        hub.AssertAllEnded(sent);
    }

    [Fact]
    public async Task End_TtlIsOverWhileItRestsWithoutAnEnd_Expires()
    {
        await using var hub = WithTab();
        var id = await hub.SendAsync("\"ttl\":30");
        await hub.Hub.Rest.RestAsync();
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        await hub.Hub.Rest.EndAsync();
        Assert.Equal("expired", hub.Journal.EndOf(id, "tab"));
        Assert.Single(hub.Journal.Settled);
        hub.AssertAllEnded(id);
        Assert.Equal(1, Assert.Single((await hub.OpenAsync("tab")).Link.Missed).Count);
    }

    [Fact]
    public async Task Withdraw_RestsWithoutAnEnd_EndsWithdrawnOnce()
    {
        await using var hub = WithTab();
        var id = await hub.SendAsync();
        await hub.Hub.Rest.RestAsync();
        await hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None);
        Assert.Equal("withdrawn:withdrawn", hub.Journal.EndOf(id, "tab"));
        Assert.Single(hub.Journal.Settled);
        Assert.Equal(0, RestingOf(hub, EventClass.Message));
        hub.AssertLedger();
    }

    /// <summary>The withdrawal's history says that it rests; by the time it counts, the device had it.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Withdraw_DeviceAcknowledgesMeanwhile_HasOneEnd(bool closes)
    {
        await using var hub = WithTab();
        var id = await hub.SendAsync();
        await hub.Hub.Rest.RestAsync();
        var (_, key) = await hub.OpenAsync("tab");
        hub.Journal.Withdrawing = () =>
        {
            hub.Hub.Router.Acked(key, id);
            if (closes)
            {
                hub.Hub.Router.Closed(key);
            }
        };
        await hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None);
        Assert.Equal("acked", Assert.Single(hub.Journal.Settled).State);
        hub.AssertLedger();
    }

    [Fact]
    public async Task Crash_RestsWithoutAnEnd_IsCountedAndGoesOn()
    {
        var old = WithTab();
        old.Store.Put("ada", old.NewDevice("tab"), old.NewDevice("second"));
        string[] sent = [await old.SendAsync(), await old.SendAsync("\"ttl\":30")];
        await old.Hub.Rest.RestAsync();
        var last = await old.SendAsync();
        await using var hub = await old.CrashAsync();
        hub.AssertLedger();
        Assert.Equal((4, 2), (RestingOf(hub, EventClass.Message), hub.Hub.Shards.InFlight));
        var (link, key) = await hub.OpenAsync("tab");
        Assert.Equal([.. sent, last], link.Ids);
        await hub.AckAsync(key, [.. sent, last]);
        hub.Hub.Router.Closed(key);
        hub.AssertLedger();
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        Assert.Equal("expired", hub.Journal.EndOf(sent[1], "second"));
        hub.AssertLedger();
        Assert.Equal([sent[0], last], (await hub.OpenAsync("second")).Link.Ids);
    }

    /// <summary>An event that goes on in memory for one device, and rests for another.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Crash_OneOfTwoRestsWithoutAnEnd_IsLeftWhereItIs(bool isWithdrawn)
    {
        var old = WithTab();
        old.Store.Put("ada", old.NewDevice("tab"), old.Phone("phone"));
        old.Fcm.Answer = static (_, _) => ValueTask.FromResult(new Pnh.Core.Push.DeliveryResult { Status = Pnh.Core.Push.DeliveryStatus.Unavailable });
        var id = await old.SendAsync();
        await old.Hub.Rest.RestAsync();
        Assert.Equal(1, RestingOf(old, EventClass.Message));
        if (isWithdrawn)
        {
            await old.Journal.WithdrawAsync("demo", id, null, "withdrawn", old.Now, CancellationToken.None);
        }

        await using var hub = await old.CrashAsync();
        hub.AssertLedger();
        Assert.Equal(isWithdrawn ? 0 : 1, RestingOf(hub, EventClass.Message));
        Assert.Equal(isWithdrawn ? "withdrawn:withdrawn" : null, hub.Journal.EndOf(id, "tab"));
        Assert.Equal(isWithdrawn ? 2 : 0, hub.Journal.Settled.Count(one => one.Event == id));
        string[] left = isWithdrawn ? [] : [id];
        Assert.Equal(left, (await hub.OpenAsync("tab")).Link.Ids);
    }

    /// <summary>The hub ended between the withdrawal and the note of what it ended.</summary>
    [Fact]
    public async Task End_WithdrawnBeforeACrash_EndsWithdrawn()
    {
        var old = WithTab();
        var id = await old.SendAsync("\"ttl\":30");
        await old.Hub.Rest.RestAsync();
        await old.Journal.WithdrawAsync("demo", id, "ada", "withdrawn", old.Now, CancellationToken.None);
        await using var hub = await old.CrashAsync();
        Assert.Empty((await hub.OpenAsync("tab")).Link.Ids);
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        Assert.Equal("withdrawn", hub.Journal.EndOf(id, "tab"));
        hub.AssertLedger();
    }

    /// <summary>Many devices of one event are over in several parts: it is finished after the last of them.</summary>
    [Fact]
    public async Task End_MoreThanOnePart_EachHasItsEnd()
    {
        await using var hub = WithTab();
        hub.Store.Put("ada", hub.NewDevice("tab"), hub.NewDevice("second"), hub.NewDevice("third"));
        hub.Journal.MostOver = 1;
        var id = await hub.SendAsync("\"ttl\":30");
        await hub.Hub.Rest.RestAsync();
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        Assert.Equal(3, hub.Journal.Settled.Count);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Rest_MoreWithoutAnEndThanAMailboxHolds_TheOldestMessagesFail()
    {
        await using var hub = new HubUnderTest(options: new HubOptions { MailboxItems = 5 });
        hub.Store.Put("ada", hub.NewDevice("tab"));
        var call = await hub.SendAsync("\"class\":\"call\"");
        var sent = new List<string>();
        for (var i = 0; i < 6; i++)
        {
            sent.Add(await hub.SendAsync());
            await hub.Hub.Rest.RestAsync();
        }

        Assert.All(sent[..2], id => Assert.Equal("failed:evicted", hub.Journal.EndOf(id, "tab")));
        hub.AssertLedger();
        Assert.Equal([call, .. sent[2..]], (await hub.OpenAsync("tab")).Link.Ids);
    }

    /// <summary>The ends of what rests are looked for some seconds late; a device that comes is told at once.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Open_SomeIsOverSinceItRested_IsToldOnce(bool isPushed)
    {
        await using var hub = isPushed ? WithPhone() : WithTab();
        var device = isPushed ? "phone" : "tab";
        var over = await hub.SendAsync("\"ttl\":60");
        var alive = await hub.SendAsync();
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(0, hub.Hub.Shards.Users);
        await hub.PassAsync(61);
        var (link, key) = await hub.OpenAsync(device);
        Assert.Equal([alive], link.Ids);
        Assert.Equal(1, Assert.Single(link.Missed).Count);
        Assert.Equal([over], hub.Journal.Finished);
        Assert.Equal(isPushed ? "accepted" : "expired", hub.Journal.EndOf(over, device));
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(60);
        await hub.Hub.Rest.EndAsync();
        Assert.Empty((await hub.OpenAsync(device)).Link.Missed);
        hub.AssertLedger();
    }

    [Fact]
    public async Task Rest_OverSoon_StaysInMemoryAndEndsOnTime()
    {
        await using var hub = WithTab();
        var id = await hub.SendAsync("\"ttl\":15");
        await hub.Hub.Rest.RestAsync();
        Assert.Equal(1, hub.Hub.Shards.Users);
        await hub.PassAsync(16);
        Assert.Equal("expired", hub.Journal.EndOf(id, "tab"));
        hub.AssertAllEnded(id);
    }

    private static long RestingOf(HubUnderTest hub, EventClass @class) => hub.Metrics.Ledger.Of("demo").ReadResting(@class);

    private static HubUnderTest WithTab()
    {
        var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tab"));
        return hub;
    }

    private static HubUnderTest WithPhone()
    {
        var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        return hub;
    }
}
