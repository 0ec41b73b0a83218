using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>Sessions that come and go, and what waits for them.</summary>
public sealed class HubReplayTests
{
    [Fact]
    public async Task Opened_Again_ReplacesTheOlderSession()
    {
        await using var hub = new HubUnderTest();
        var (first, firstKey) = await hub.OpenAsync("tab", session: "s1");
        var (second, _) = await hub.OpenAsync("tab", session: "s2");
        Assert.Equal(SessionClose.Replaced, first.ClosedWith);
        hub.Hub.Router.Closed(firstKey); // the late report of the older one
        var id = await hub.SendAsync();
        Assert.Empty(first.Ids);
        Assert.Equal([id], second.Ids);
        Assert.Equal("s2", Assert.Single(hub.Hub.Router.Sessions(new("demo", "ada"))).Key.Session);
        Assert.Equal(1, hub.Metrics.Snapshot().ActiveSessions);
    }

    [Fact]
    public async Task Opened_SameSessionAgain_IsNotClosed()
    {
        await using var hub = new HubUnderTest();
        var (link, _) = await hub.OpenAsync("tab", session: "s1");
        var id = await hub.SendAsync();
        await hub.OpenAsync("tab", session: "s1", link: link);
        Assert.Null(link.ClosedWith);
        Assert.Equal([id], link.Ids);
    }

    [Fact]
    public async Task Opened_WithPending_GetsItInOrder()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        string[] ids = [await hub.SendAsync(), await hub.SendAsync("\"class\":\"bulk\""), await hub.SendAsync("\"class\":\"call\",\"ttl\":3600")];
        await hub.PassAsync(30);
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Equal(ids, link.Ids);
        foreach (var id in ids)
        {
            hub.Hub.Router.Acked(key, id);
        }

        hub.AssertAllEnded(ids);
    }

    [Fact]
    public async Task Opened_ForbiddenOnSockets_IsNotReplayed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromMinutes(1));
        await hub.SendAsync("\"channels\":[\"fcm\"]");
        var (link, _) = await hub.OpenAsync("phone");
        Assert.Empty(link.Ids);
    }

    [Fact]
    public async Task Opened_LongMailbox_FollowsTheAcksInOrder()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var ids = new List<string>();
        for (var i = 0; i < 300; i++)
        {
            ids.Add(await hub.SendAsync());
        }

        // A session that keeps 256 unacknowledged frames must not be flooded by its own mailbox.
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Equal(ids.Take(128), link.Ids);
        ids.Add(await hub.SendAsync());
        Assert.Equal(128, link.Ids.Count);
        var call = await hub.SendAsync("\"class\":\"call\"");
        Assert.Equal(call, link.Ids[^1]);
        foreach (var id in ids)
        {
            Assert.Contains(id, link.Ids);
            await hub.AckAsync(key, id);
        }

        Assert.Equal(ids, link.Ids.Where(id => id != call));
        hub.Hub.Router.Acked(key, call);
        hub.AssertAllEnded([.. ids, call]);
    }

    [Fact]
    public async Task Call_OlderCallWaits_FollowsIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var mailbox = new List<string>();
        for (var i = 0; i < 128; i++)
        {
            mailbox.Add(await hub.SendAsync());
        }

        const string Call = "\"class\":\"call\",\"ttl\":3600";
        var first = await hub.SendAsync(Call);
        var (link, key) = await hub.OpenAsync("tablet");
        var second = await hub.SendAsync(Call);
        Assert.Equal(mailbox, link.Ids);
        await hub.AckAsync(key, mailbox);
        Assert.Equal([.. mailbox, first, second], link.Ids);
    }

    [Fact]
    public async Task Active_QueuedBehind_IsPushedAfterTheDeadlineOnly()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("phone"));
        var mailbox = new List<string>();
        for (var i = 0; i < 130; i++)
        {
            mailbox.Add(await hub.SendAsync());
        }

        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        var silent = await hub.SendAsync();
        var seen = await hub.SendAsync();
        var now = await hub.SendAsync("\"ttl\":0");
        Assert.Equal([now], hub.Pushed);
        await hub.AckAsync(key, mailbox);
        Assert.Equal([.. mailbox, silent, seen], link.Ids);
        hub.Hub.Router.Acked(key, seen);
        await hub.PassAsync(2.9);
        Assert.Equal([now], hub.Pushed);
        await hub.PassAsync(0.2);
        Assert.Equal([now, silent], hub.Pushed);
    }

    [Fact]
    public async Task Active_BehindWhatEndedWithoutAnAck_GoesOnWithTheNextEvent()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        for (var i = 0; i < 129; i++)
        {
            await hub.SendAsync("\"ttl\":30");
        }

        var (link, _) = await hub.OpenAsync("tablet");
        await hub.PassAsync(40);
        var id = await hub.SendAsync();
        Assert.Equal(id, link.Ids[^1]);
    }

    [Fact]
    public async Task Send_FrameTime_IsLeftToTheSocketsWriter()
    {
        await using var hub = new HubUnderTest();
        var (link, _) = await hub.OpenAsync("tab");
        await hub.SendAsync();
        await hub.SendAsync("\"class\":\"transient\"");
        Assert.Equal(2, link.Frames.Count);
        Assert.Null(hub.Metrics.Snapshot().AcceptToFrameP99);
    }

    [Fact]
    public async Task Closed_Unregistered_EndsAfterTheLinger()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        var id = await hub.SendAsync();
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(59);
        Assert.Null(hub.Journal.EndOf(id, "tab"));
        await hub.PassAsync(2);
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "tab"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Closed_UnregisteredComesBack_GetsItAndKeepsItsTtl()
    {
        await using var hub = new HubUnderTest();
        var (_, first) = await hub.OpenAsync("tab");
        var id = await hub.SendAsync();
        hub.Hub.Router.Closed(first);
        await hub.PassAsync(50);
        var (link, second) = await hub.OpenAsync("tab");
        Assert.Equal([id], link.Ids);
        await hub.PassAsync(TimeSpan.FromHours(1), TimeSpan.FromMinutes(1));
        Assert.Null(hub.Journal.EndOf(id, "tab"));

        // The second close lingers as the first did.
        hub.Hub.Router.Closed(second);
        await hub.PassAsync(61);
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "tab"));
        hub.AssertAllEnded(id);
    }
}
