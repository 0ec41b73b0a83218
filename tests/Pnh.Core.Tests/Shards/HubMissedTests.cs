using Pnh.Core.Hubs;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>What ended before a device took it is told to its next session, once.</summary>
public sealed class HubMissedTests
{
    [Theory]
    [InlineData("tablet")] // nothing but the mailbox
    [InlineData("phone")] // pushed as well: the app has not seen it
    public async Task Open_EventsExpiredWhileAway_AreToldOnce(string device)
    {
        await using var hub = WithDevices();
        var first = hub.Now;
        await hub.SendAsync("\"ttl\":30", To(device));
        await hub.PassAsync(2);
        await hub.SendAsync("\"ttl\":30", To(device));
        await hub.PassAsync(40);
        await hub.SendAsync("\"ttl\":300", To(device));
        var (link, key) = await hub.OpenAsync(device);
        Assert.Equal([Missed(2, first)], link.Missed);
        Assert.Single(link.Ids);
        hub.Hub.Router.Closed(key);
        var (again, _) = await hub.OpenAsync(device);
        Assert.Empty(again.Missed);
    }

    [Fact]
    public async Task Open_MailboxWasFull_TellsWhatWasEvicted()
    {
        await using var hub = WithDevices(new HubOptions { MailboxItems = 3 });
        var first = hub.Now;
        for (var i = 0; i < 5; i++)
        {
            await hub.SendAsync(to: To("tablet"));
        }

        var (link, _) = await hub.OpenAsync("tablet");
        Assert.Equal([Missed(2, first)], link.Missed);
        Assert.Equal(3, link.Ids.Count);
    }

    /// <summary>A newer one is there, it was taken back, it wanted the moment alone, or sockets were not to get it: nothing is missing.</summary>
    [Fact]
    public async Task Open_WhatEndedForAnotherReason_IsNotTold()
    {
        await using var hub = WithDevices();
        await hub.SendAsync("\"collapseKey\":\"chat\",\"ttl\":30", To("tablet"));
        await hub.SendAsync("\"collapseKey\":\"chat\",\"ttl\":300", To("tablet"));
        var withdrawn = await hub.SendAsync("\"ttl\":30", To("tablet"));
        await hub.Hub.WithdrawAsync("demo", withdrawn, "withdrawn", null, CancellationToken.None);
        await hub.SendAsync("\"ttl\":0", To("tablet"));
        await hub.SendAsync("\"ttl\":30,\"channels\":[\"fcm\"]", To("phone"));
        var other = await hub.SendAsync("\"ttl\":30", To("phone"));
        Assert.Equal(1, await hub.Hub.Inbox.AckAsync(new UserKey("demo", "ada"), "phone", [other], CancellationToken.None));
        await hub.PassAsync(40);
        Assert.Empty((await hub.OpenAsync("tablet")).Link.Missed);
        Assert.Empty((await hub.OpenAsync("phone")).Link.Missed);
    }

    /// <summary>A connection that died in silence: the frame went into it, and its call ended before anybody noticed.</summary>
    [Fact]
    public async Task Resume_FrameWentIntoADeadConnection_IsTold()
    {
        await using var hub = WithDevices();
        var (link, key) = await hub.OpenAsync("tablet");
        var first = hub.Now;
        await hub.SendAsync("\"class\":\"call\",\"ttl\":30", To("tablet"));
        Assert.Single(link.Ids);
        await hub.PassAsync(36);
        hub.Hub.Router.Detached(key);
        await hub.Hub.Router.ResumedAsync(key, SessionState.Active, hub.Now, CancellationToken.None);
        Assert.Equal([Missed(1, first)], link.Missed);
    }

    /// <summary>The same, and the client comes back as a new session: closed, replaced, or said again by its node.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Open_FrameOfASessionThatEnded_IsTold(bool isClosed)
    {
        await using var hub = WithDevices();
        var (_, key) = await hub.OpenAsync("tablet");
        await hub.SendAsync("\"ttl\":30", To("tablet"));
        await hub.PassAsync(36);
        if (isClosed)
        {
            hub.Hub.Router.Closed(key);
        }

        var (link, _) = await hub.OpenAsync("tablet");
        Assert.Equal(1, Assert.Single(link.Missed).Count);
    }

    /// <summary>A client that was slow, not away: its ack comes after the end.</summary>
    [Fact]
    public async Task Ack_AfterTheEnd_IsNotTold()
    {
        await using var hub = WithDevices();
        var (link, key) = await hub.OpenAsync("tablet");
        var id = await hub.SendAsync("\"ttl\":30", To("tablet"));
        await hub.PassAsync(36);
        await hub.AckAsync(key, id);
        hub.Hub.Router.Detached(key);
        await hub.Hub.Router.ResumedAsync(key, SessionState.Active, hub.Now, CancellationToken.None);
        Assert.Empty(link.Missed);
    }

    [Fact]
    public async Task Open_ClientThatDoesNotHearIt_LeavesItToTheNext()
    {
        await using var hub = WithDevices();
        await hub.SendAsync("\"ttl\":30", To("tablet"));
        await hub.PassAsync(40);
        var (_, key) = await hub.OpenAsync("tablet", link: new FakeLink { HearsMissed = false });
        hub.Hub.Router.Closed(key);
        Assert.Single((await hub.OpenAsync("tablet")).Link.Missed);
    }

    /// <summary>A tab that is not registered: what was under way for it ends a minute after it went.</summary>
    [Fact]
    public async Task Open_UnregisteredDeviceCameBackLate_IsTold()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Detached(key);
        await hub.SendAsync("\"ttl\":300");
        await hub.PassAsync(60);
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(120);
        Assert.Equal(1, Assert.Single((await hub.OpenAsync("tab")).Link.Missed).Count);
    }

    /// <summary>The hub was away when it ended.</summary>
    [Fact]
    public async Task Open_ExpiredWhileTheHubWasAway_IsTold()
    {
        await using var hub = WithDevices();
        await hub.SendAsync("\"ttl\":30", To("tablet"));
        await hub.SendAsync("\"ttl\":30", To("phone"));
        hub.Clock.Advance(TimeSpan.FromSeconds(40));
        await using var next = await hub.CrashAsync();
        Assert.Equal(1, Assert.Single((await next.OpenAsync("tablet")).Link.Missed).Count);
        Assert.Equal(1, Assert.Single((await next.OpenAsync("phone")).Link.Missed).Count);
    }

    [Fact]
    public void Table_MoreDevicesThanItKeeps_ForgetsTheOldest()
    {
        var table = new MissedTable(most: 4);
        for (var i = 0; i < 6; i++)
        {
            table.Add(Device(i), DateTimeOffset.UnixEpoch);
            table.Add(Device(i), DateTimeOffset.UnixEpoch.AddSeconds(-1));
        }

        Assert.Equal([0, 0, 2, 2, 2, 2], Enumerable.Range(0, 6).Select(i => Tell(table, i).Sum(static missed => missed.Count)));
    }

    private static SessionKey Device(int number) => new("demo", "ada", $"d{number}", "");

    private static List<MissedEvents> Tell(MissedTable table, int number)
    {
        var link = new FakeLink();
        table.Tell(new LiveSession(Device(number) with { Session = "s" }, SessionState.Active, link, DateTimeOffset.UnixEpoch));
        return link.Missed;
    }

    private static MissedEvents Missed(int count, DateTimeOffset since) => new(count, since.ToUnixTimeMilliseconds());

    private static string To(string device) => "{\"device\":{\"user\":\"ada\",\"device\":\"" + device + "\"}}";

    private static HubUnderTest WithDevices(HubOptions? options = null)
    {
        var hub = new HubUnderTest(options: options);
        hub.Store.Put("ada", hub.NewDevice("tablet"), hub.Phone("phone"));
        return hub;
    }
}
