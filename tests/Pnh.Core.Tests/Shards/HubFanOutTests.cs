using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>Events to many: the short way, where all is in memory, and the long one have the same ends and the same counts.</summary>
public sealed class HubFanOutTests
{
    private const string Room = """{"topic":"room"}""";
    private const string Transient = "\"class\":\"transient\"";

    [Theory]
    [InlineData(1, false)]
    [InlineData(127, false)]
    [InlineData(128, false)]
    [InlineData(129, false)]
    [InlineData(300, false)]
    [InlineData(300, true)]
    public async Task Topic_SoManyJoined_EachGetsEachEventOnce(int sessions, bool isCold)
    {
        await using var hub = new HubUnderTest();
        hub.Store.IsCold = isCold;
        var joined = new List<(FakeLink Link, SessionKey Key)>();
        for (var i = 0; i < sessions; i++)
        {
            joined.Add(await hub.OpenAsync("tab", user: $"u{i}"));
            hub.Hub.Router.Joined(joined[i].Key, ["room"]);
        }

        var lost = await hub.SendAsync(Transient, Room);
        var kept = await hub.SendAsync(to: Room);
        foreach (var (link, key) in joined)
        {
            Assert.Equal([lost, kept], link.Ids);
            hub.Hub.Router.Acked(key, kept);
        }

        AssertCounts(hub, new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.Sent, 2 * sessions), new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.Acked, sessions));
        Assert.Equal(2 + (2 * sessions), hub.Metrics.Snapshot().Served);
        Assert.Equal((sessions, sessions, 0), hub.Metrics.Ledger.Of("demo").Read(EventClass.Message));
        hub.AssertAllEnded(kept);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Transient_MembersAndJoined_FollowsThePlan(bool isCold)
    {
        // One of each kind; a member's own rules count for a member, and a member gets it once though it joined too.
        await using var hub = new HubUnderTest();
        hub.Store.IsCold = isCold;
        hub.Store.PutTopic("room", "absent", "member", "muting");
        hub.Store.Put("muting", new UserSettings { MutedTopics = ["room"] }, hub.Phone("phone"));
        hub.Store.Put("absent", hub.Phone("phone"));
        var member = await JoinAsync(hub, "member");
        var muting = await JoinAsync(hub, "muting");
        var joined = await JoinAsync(hub, "joined");
        var detached = await JoinAsync(hub, "detached");
        hub.Hub.Router.Detached(detached.Key);
        var left = await JoinAsync(hub, "left");
        hub.Hub.Router.Left(left.Key, ["room"]);
        var closed = await JoinAsync(hub, "closed");
        hub.Hub.Router.Closed(closed.Key);
        var full = await JoinAsync(hub, "full");
        full.Link.Room = 0;

        var id = await hub.SendAsync(Transient, Room);
        Assert.Equal([id], member.Link.Ids);
        Assert.Equal([id], joined.Link.Ids);
        Assert.All([muting.Link, detached.Link, left.Link, closed.Link, full.Link], link => Assert.Empty(link.Ids));
        AssertCounts(
            hub,
            new DeliveryCount(ChannelNames.None, DeliveryStatus.Suppressed, 2), // the sessions of muting and detached; nobody looks for who is absent
            new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.NotConnected, 1),
            new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.Sent, 2));
        Assert.Equal(0, hub.Hub.Shards.InFlight);
    }

    [Theory]
    [InlineData("\"except\":{\"users\":[\"ada\"]}")]
    [InlineData("\"except\":{\"devices\":[\"tab-ada\"]}")]
    [InlineData("\"except\":{\"sessions\":[\"s-ada\"]}")]
    public async Task Transient_Except_LeavesOutWhomItNames(string except)
    {
        await using var hub = new HubUnderTest();
        var (ada, eve) = (await JoinAsync(hub, "ada"), await JoinAsync(hub, "eve"));
        var id = await hub.SendAsync($"{Transient},{except}", Room);
        Assert.Empty(ada.Link.Ids);
        Assert.Equal([id], eve.Link.Ids);
        AssertCounts(hub, new DeliveryCount(ChannelNames.None, DeliveryStatus.Suppressed, 1), new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.Sent, 1));
    }

    [Fact]
    public async Task Transient_SessionsOfOtherNodes_GoTogetherToTheirCarriers()
    {
        await using var hub = new HubUnderTest();
        FakeCarrier[] carriers = [new(), new()];
        var links = new List<FakeLink>();
        for (var i = 0; i < 70; i++)
        {
            var (link, key) = await hub.OpenAsync("tab", user: $"u-{i}", link: new FakeLink { Carrier = i < 3 ? null : carriers[i % 2], Number = i });
            hub.Hub.Router.Joined(key, ["room"]);
            links.Add(link);
        }

        var id = await hub.SendAsync(Transient, Room);
        Assert.All(links[..3], link => Assert.Equal([id], link.Ids));
        Assert.All(links[3..], static link => Assert.Empty(link.Ids));
        for (var node = 0; node < carriers.Length; node++)
        {
            var reached = carriers[node].Calls.SelectMany(static call => call).ToList();
            Assert.Equal(reached.Count, reached.Distinct().Count());
            Assert.Equal(links.Skip(3).Where(link => link.Carrier == carriers[node]).Select(static link => link.Number), reached.Order());
            Assert.Single(carriers[node].Calls);
            Assert.Equal([1], carriers[node].Flushes);
        }
    }

    [Fact]
    public async Task Transient_MoreSessionsThanAStep_FlushesTheirCarrierOnceAtTheEnd()
    {
        await using var hub = new HubUnderTest();
        var carrier = new FakeCarrier();
        for (var i = 0; i < 300; i++)
        {
            var (_, key) = await hub.OpenAsync("tab", user: $"u-{i}", link: new FakeLink { Carrier = carrier, Number = i });
            hub.Hub.Router.Joined(key, ["room"]);
        }

        await hub.SendAsync(Transient, Room);
        Assert.Equal([128, 128, 44], carrier.Calls.Select(static call => call.Length));
        Assert.Equal(Enumerable.Range(0, 300).Select(static i => (long)i), carrier.Calls.SelectMany(static call => call).Order());
        Assert.Equal([3], carrier.Flushes);
        Assert.Equal([true], carrier.ByCaller);
        AssertCounts(hub, new DeliveryCount(ChannelNames.WebSocket, DeliveryStatus.Sent, 300));
    }

    [Fact]
    public async Task Transient_OneCarrierOfTwoIsTooSlow_CountsItsSessions()
    {
        await using var hub = new HubUnderTest();
        var (quick, slow) = (new FakeCarrier(), new FakeCarrier { Takes = false });
        var carried = new CarriedSessions(hub.NewEvent());
        for (var i = 0; i < 400; i++)
        {
            carried.Add(i % 4 == 0 ? slow : quick, i);
        }

        carried.Flush();
        Assert.Equal((300, 100), (carried.Sent, carried.Refused));
        Assert.Equal(300, quick.Calls.SelectMany(static call => call).Distinct().Count());
        Assert.Single(quick.Flushes);
        Assert.Equal([true, false], [quick.ByCaller[0], slow.ByCaller[0]]);
    }

    [Fact]
    public async Task Transient_NoSocketAllowed_GoesNowhere()
    {
        await using var hub = new HubUnderTest();
        var ada = await JoinAsync(hub, "ada");
        await hub.SendAsync($"{Transient},\"channels\":[\"fcm\"]", Room);
        Assert.Empty(ada.Link.Ids);
        AssertCounts(hub, new DeliveryCount(ChannelNames.None, DeliveryStatus.Suppressed, 1));
    }

    [Fact]
    public async Task Joined_ReplacedByANewerSession_OnlyWhatThatJoinedCounts()
    {
        await using var hub = new HubUnderTest();
        var old = await JoinAsync(hub, "ada");
        var (link, key) = await hub.OpenAsync("tab-ada", session: "newer", user: "ada");
        await hub.SendAsync(Transient, Room);
        Assert.Empty(old.Link.Ids);
        Assert.Empty(link.Ids);
        Assert.Equal(0, hub.Hub.Topics.Count);
        hub.Hub.Router.Joined(old.Key, ["room"]); // late: that session is over
        Assert.Equal(0, hub.Hub.Topics.Count);
        hub.Hub.Router.Joined(key, ["room"]);
        hub.Hub.Router.Closed(old.Key);
        Assert.Equal([await hub.SendAsync(Transient, Room)], link.Ids);
    }

    [Fact]
    public async Task Joined_ToldTwiceOfTheSameSession_StaysInItsTopics()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await JoinAsync(hub, "ada");
        var (link, _) = await hub.OpenAsync("tab-ada", session: "s-ada", user: "ada");
        Assert.Equal([await hub.SendAsync(Transient, Room), await hub.SendAsync(to: Room)], link.Ids);
        hub.Hub.Router.Closed(key);
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Joined_ResumedOrInTheBackground_StillGetsIt()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await JoinAsync(hub, "ada");
        hub.Hub.Router.Detached(key);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        var first = await hub.SendAsync(Transient, Room);
        hub.Hub.Router.StateChanged(key, SessionState.Background);
        Assert.Equal([first, await hub.SendAsync(Transient, Room)], link.Ids);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Users_OneCannotBeReadNow_TheOthersAreServedAndItFollows(bool isLast)
    {
        await using var hub = new HubUnderTest();
        string[] users = isLast ? ["bob", "eve", "ada"] : ["bob", "ada", "eve"];
        foreach (var user in users)
        {
            hub.Store.Put(user, hub.Phone("phone"));
        }

        hub.Store.Unreadable.Add("ada");
        var id = await hub.SendAsync(to: $$"""{"users":[{{string.Join(',', users.Select(u => $"\"{u}\""))}}]}""");
        Assert.Equal(users.TakeWhile(u => u != "ada"), hub.Fcm.Sent.Select(s => s.User));
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 3, "the last of them");
        Assert.Equal(users.Order(), hub.Fcm.Sent.Select(s => s.User).Order());
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Warm_ToAUser_NeverReadsTheStore()
    {
        await using var hub = new HubUnderTest();
        await hub.SendAsync();
        Assert.Equal(1, hub.Store.WarmReads);
    }

    private static async Task<(FakeLink Link, SessionKey Key)> JoinAsync(HubUnderTest hub, string user)
    {
        var opened = await hub.OpenAsync($"tab-{user}", session: $"s-{user}", user: user);
        hub.Hub.Router.Joined(opened.Key, ["room"]);
        return opened;
    }

    private static void AssertCounts(HubUnderTest hub, params DeliveryCount[] expected) => Assert.Equal(
        expected.OrderBy(c => c.Channel, StringComparer.Ordinal).ThenBy(c => c.Status),
        hub.Metrics.Snapshot().Deliveries.Select(d => new DeliveryCount(d.Channel, d.Status, d.Count)));

    private readonly record struct DeliveryCount(string Channel, DeliveryStatus Status, long Count);
}
