using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>Sockets first, push when needed.</summary>
public sealed class HubSocketTests
{
    [Fact]
    public async Task Open_AsManySessionsAsAUserMay_OnlyKnownDevicesAreTakenAndOlderOnesStay()
    {
        await using var hub = new HubUnderTest(options: new HubOptions { SessionsPerUser = 2 });
        var (first, firstKey) = await hub.OpenAsync("one");
        var (second, secondKey) = await hub.OpenAsync("two");
        Assert.False(await OpenAsync("three"));
        Assert.Null(first.ClosedWith);
        Assert.True(await OpenAsync("two"));
        Assert.Equal(SessionClose.Replaced, second.ClosedWith);
        await hub.OpenAsync("one", user: "eve");

        hub.Hub.Router.Detached(firstKey); // nobody is kept out by who lost the connection
        Assert.True(await OpenAsync("three"));
        Assert.False(await OpenAsync("four"));
        hub.Hub.Router.Closed(secondKey); // which had been replaced
        Assert.False(await OpenAsync("four"));
        Assert.Null(first.ClosedWith);

        ValueTask<bool> OpenAsync(string device) =>
            hub.Hub.Router.OpenedAsync(new SessionOpened(new SessionKey("demo", HubUnderTest.User, device, Guid.NewGuid().ToString("N")), SessionState.Active, new FakeLink(), hub.Now), CancellationToken.None);
    }

    [Fact]
    public async Task Open_HelloOfAnOlderConnectionIsReadLast_ClosesThatOne()
    {
        await using var hub = new HubUnderTest();
        var before = hub.Now;
        await hub.PassAsync(1);
        var (newer, _) = await hub.OpenAsync("tab", session: "newer");
        var stale = new FakeLink();
        Assert.True(await hub.Hub.Router.OpenedAsync(
            new SessionOpened(new SessionKey("demo", HubUnderTest.User, "tab", "stale"), SessionState.Active, stale, before), CancellationToken.None));
        Assert.Equal(SessionClose.Replaced, stale.ClosedWith);
        Assert.Null(newer.ClosedWith);
        var id = await hub.SendAsync();
        Assert.Equal([id], newer.Ids);
        Assert.Empty(stale.Ids);
        Assert.Equal(1, hub.Metrics.Snapshot().ActiveSessions);
    }

    [Fact]
    public async Task Resumed_HelloOfAnOlderConnectionIsReadLast_IsNotGivenTheSessionAndClosed()
    {
        await using var hub = new HubUnderTest();
        var (present, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Detached(key);
        await hub.PassAsync(1);
        var between = hub.Now;
        await hub.PassAsync(1);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, hub.Now, CancellationToken.None));

        Assert.Null(await hub.Hub.Router.ClaimAsync(key, 0, between));
        var stale = new FakeLink();
        Assert.True(await hub.Hub.Router.OpenedAsync(new SessionOpened(key with { Session = "stale" }, SessionState.Active, stale, between), CancellationToken.None));

        Assert.Equal(SessionClose.Replaced, stale.ClosedWith);
        Assert.Null(present.ClosedWith);
        Assert.Empty(present.Surrendered);
        Assert.Null(await hub.Hub.Router.ClaimAsync(key, 0, hub.Now)); // its link gives nothing away, but it is asked
        Assert.Null(await hub.Hub.Router.ClaimAsync(key, 0, null)); // an edge of an older build does not say it
        Assert.Equal([key.Session, key.Session], present.Surrendered);
    }

    /// <summary>The hub may read late that the present one opened, and then takes it for younger than it is.</summary>
    [Theory]
    [InlineData(0.9, false)]
    [InlineData(1.1, true)]
    public async Task Open_PresentSessionIsOfAnotherNode_IsTakenForTheLaterAfterASecond(double seconds, bool isStale)
    {
        await using var hub = new HubUnderTest();
        var present = new FakeLink { Carrier = new FakeCarrier(), Number = 1 };
        var key = new SessionKey("demo", HubUnderTest.User, "tab", "present");
        Assert.True(await hub.Hub.Router.OpenedAsync(new SessionOpened(key, SessionState.Active, present, hub.Now), CancellationToken.None));
        var other = new FakeLink();
        Assert.True(await hub.Hub.Router.OpenedAsync(
            new SessionOpened(key with { Session = "other" }, SessionState.Active, other, hub.Now - TimeSpan.FromSeconds(seconds)), CancellationToken.None));

        Assert.Equal(isStale ? SessionClose.Replaced : null, other.ClosedWith);
        Assert.Equal(isStale ? null : SessionClose.Replaced, present.ClosedWith);
    }

    [Fact]
    public async Task Open_ClockWasSetBack_ReplacesTheOlderSession()
    {
        await using var hub = new HubUnderTest();
        var older = new FakeLink();
        var opened = new SessionOpened(new SessionKey("demo", HubUnderTest.User, "tab", "older"), SessionState.Active, older, hub.Now + TimeSpan.FromMinutes(1));
        Assert.True(await hub.Hub.Router.OpenedAsync(opened, CancellationToken.None));
        var (newer, _) = await hub.OpenAsync("tab", session: "newer");
        Assert.Equal(SessionClose.Replaced, older.ClosedWith);
        Assert.Null(newer.ClosedWith);
    }

    [Fact]
    public async Task Active_AckInTime_NoPush()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        var id = await hub.SendAsync();
        Assert.Equal([id], link.Ids);
        await hub.PassAsync(2.9);
        hub.Hub.Router.Acked(key, id);
        await hub.PassAsync(60);
        Assert.Empty(hub.Pushed);
        Assert.Equal("acked", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData("call", 0.5)]
    [InlineData("message", 3)]
    [InlineData("bulk", 30)]
    public async Task Active_NoAck_PushWithTheSameIdAfterTheDeadline(string name, double seconds)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, _) = await hub.OpenAsync("phone");
        var id = await hub.SendAsync($$"""
            "class":"{{name}}","ttl":3600
            """);
        await hub.PassAsync(TimeSpan.FromSeconds(seconds - 0.001), TimeSpan.FromMilliseconds(100));
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(TimeSpan.FromMilliseconds(60), TimeSpan.FromMilliseconds(20));
        Assert.Equal([id], hub.Pushed);
        Assert.Equal([id], link.Ids);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Active_OwnAckDeadline_Replaces()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        await hub.OpenAsync("phone");
        var id = await hub.SendAsync("""
            "class":"call","ack":{"within":2}
            """);
        await hub.PassAsync(1.9);
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(0.2);
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task Background_BothAtOnce_FirstAnswerSettles()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone", SessionState.Background);
        var id = await hub.SendAsync();
        Assert.Equal([id], link.Ids);
        Assert.Equal([id], hub.Pushed);
        hub.Hub.Router.Acked(key, id);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task StateChanged_ToBackground_NextEventIsPushedAtOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (_, key) = await hub.OpenAsync("phone");
        hub.Hub.Router.StateChanged(key, SessionState.Background);
        Assert.Equal([await hub.SendAsync()], hub.Pushed);
        var totals = hub.Metrics.Snapshot();
        Assert.Equal((0, 1), (totals.ActiveSessions, totals.BackgroundSessions));
        hub.Hub.Router.Closed(key);
        Assert.Equal(0, hub.Metrics.Snapshot().BackgroundSessions);
    }

    [Fact]
    public async Task ActiveElsewhere_AckThere_PushIsSuppressed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        var (_, laptop) = await hub.OpenAsync("laptop");
        string[] ids = [await hub.SendAsync("\"ttl\":60"), await hub.SendAsync("\"ttl\":60")];
        await hub.PassAsync(1);
        Assert.All(ids, id => hub.Hub.Router.Acked(laptop, id));

        // The ledger has its end; the phone's mailbox keeps them all the same.
        Assert.Contains(new("fcm", DeliveryStatus.Suppressed, 2), hub.Metrics.Snapshot().Deliveries);
        Assert.All(ids, id => Assert.Equal("suppressed:acked-elsewhere", hub.Journal.EndOf(id, "phone")));
        var (link, phone) = await hub.OpenAsync("phone");
        Assert.Equal(ids, link.Ids);
        hub.Hub.Router.Acked(phone, ids[0]);
        await hub.PassAsync(60);
        Assert.Empty(hub.Pushed);
        Assert.Equal(MilestoneKind.AckedLate, hub.Journal.KindsOf(ids[0], "phone")[^1]);
        Assert.Equal(MilestoneKind.Framed, hub.Journal.KindsOf(ids[1], "phone")[^1]);
        Assert.Contains(new("fcm", DeliveryStatus.Suppressed, 2), hub.Metrics.Snapshot().Deliveries);
        hub.AssertAllEnded(ids);
    }

    [Fact]
    public async Task ActiveElsewhere_NoAck_PushAfterTwoSeconds()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        await hub.OpenAsync("laptop");
        var id = await hub.SendAsync();
        await hub.PassAsync(1.9);
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(0.2);
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task ActiveElsewhere_Call_PushIsNotDelayed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        await hub.OpenAsync("laptop");
        Assert.Equal([await hub.SendAsync("\"class\":\"call\"")], hub.Pushed);
    }

    [Fact]
    public async Task Active_SocketRefuses_PushAtOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        await hub.OpenAsync("phone", link: new FakeLink { Room = 0 });
        Assert.Equal([await hub.SendAsync()], hub.Pushed);
    }

    [Fact]
    public async Task Transient_OnlyLiveSessions_NothingKept()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        var (link, _) = await hub.OpenAsync("laptop");
        var id = await hub.SendAsync("\"class\":\"transient\"");
        Assert.Equal([id], link.Ids);
        var (phone, _) = await hub.OpenAsync("phone");
        Assert.Empty(phone.Ids);
        Assert.Empty(hub.Pushed);
        Assert.Empty(hub.Journal.Settled);
        hub.AssertAllEnded();
    }

    [Fact]
    public async Task Acked_UnknownOrTwice_ChangesNothing()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        var id = await hub.SendAsync();
        hub.Hub.Router.Acked(key, "never-sent");
        hub.Hub.Router.Acked(key with { User = "eve" }, id);
        Assert.Null(hub.Journal.EndOf(id, "tab"));
        hub.Hub.Router.Acked(key, id);
        hub.Hub.Router.Acked(key, id);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Kick_ClosesAllSessionsOfTheUser()
    {
        await using var hub = new HubUnderTest();
        var (one, _) = await hub.OpenAsync("tab1");
        var (two, _) = await hub.OpenAsync("tab2");
        var (other, _) = await hub.OpenAsync("tab1", user: "eve");
        Assert.Equal(2, hub.Hub.Router.Kick(new("demo", "ada")));
        Assert.Equal((SessionClose.Kicked, SessionClose.Kicked, null), (one.ClosedWith, two.ClosedWith, other.ClosedWith));
    }

    [Fact]
    public async Task Send_InSequence_KeepsOrderOnEverySession()
    {
        await using var hub = new HubUnderTest();
        var (one, _) = await hub.OpenAsync("tab1");
        var (two, _) = await hub.OpenAsync("tab2");
        var ids = new List<string>();
        for (var i = 0; i < 100; i++)
        {
            ids.Add(await hub.SendAsync());
        }

        Assert.Equal(ids, one.Ids);
        Assert.Equal(ids, two.Ids);
        Assert.Same(one.Frames[7], two.Frames[7]);
    }
}
