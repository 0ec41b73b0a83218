using System.Collections.Concurrent;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>Topics that sessions join, beside those that users are members of.</summary>
public sealed class HubTopicTests
{
    private const string Room = """{"topic":"room"}""";

    [Fact]
    public async Task Joined_GetsTheTopicsEventsAndAcks()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(key, ["room", "room"]);
        var id = await hub.SendAsync(to: Room);
        Assert.Equal([id], link.Ids);
        Assert.Equal(PlanReasons.JoinedTopic, hub.Journal.Milestones[0].Reason);
        await hub.AckAsync(key, id);
        Assert.Equal("acked", hub.Journal.EndOf(id, "tab"));
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData("message")]
    [InlineData("transient")]
    public async Task Joined_Several_AreFetchedTogetherStepByStepBeforeTheFirstSend(string @class)
    {
        await using var hub = new HubUnderTest();
        var told = new ConcurrentQueue<string>();
        foreach (var user in (string[])["ada", "eve"])
        {
            var (_, key) = await hub.OpenAsync("tab", user: user, link: new FakeLink { Told = what => told.Enqueue($"{user} {what}") });
            hub.Hub.Router.Joined(key, ["room"]);
        }

        await hub.SendAsync($"\"class\":\"{@class}\"", Room);
        Assert.Equal(["ada fetch 0", "eve fetch 0", "ada fetch 1", "eve fetch 1", "ada send", "eve send"], told);
    }

    [Fact]
    public async Task Joined_RegisteredDevice_GetsNoPushAndKeepsNothingAfterTheSession()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (_, key) = await hub.OpenAsync("phone");
        hub.Hub.Router.Joined(key, ["room"]);
        var id = await hub.SendAsync(to: Room);
        await hub.PassAsync(10);
        Assert.Empty(hub.Pushed);
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(61);
        Assert.Equal("failed:device-gone", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Joined_AndMember_GetsItOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(key, ["room"]);
        var id = await hub.SendAsync(to: Room);
        Assert.Equal([id], link.Ids);
        await hub.AckAsync(key, id);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Joined_NoMembers_RegistryIsAskedAgainOnlyAfterAWriteOfMembers()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("eve", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(key, ["room"]);
        var reads = hub.Store.WarmReads;
        List<string> ids = [await hub.SendAsync(to: Room), await hub.SendAsync(to: Room)];
        Assert.Equal(reads + 1, hub.Store.WarmReads);

        hub.Store.PutTopic("room", "eve");
        var pushed = await hub.SendAsync(to: Room);
        Assert.Equal([.. ids, pushed], link.Ids);
        await hub.PassAsync(10);
        Assert.Single(hub.Pushed);

        hub.Store.PutTopic("room");
        ids.AddRange(pushed, await hub.SendAsync(to: Room));
        await hub.PassAsync(10);
        Assert.Equal(ids, link.Ids);
        Assert.Single(hub.Pushed);
    }

    [Fact]
    public async Task LeftOrClosed_GetsNothingAndTheTableIsEmpty()
    {
        await using var hub = new HubUnderTest();
        var (left, one) = await hub.OpenAsync("tab1");
        var (closed, two) = await hub.OpenAsync("tab2", user: "eve");
        hub.Hub.Router.Joined(one, ["room", "other"]);
        hub.Hub.Router.Joined(two, ["room"]);
        hub.Hub.Router.Left(one, ["room", "never-joined"]);
        hub.Hub.Router.Closed(two);
        var id = await hub.SendAsync(to: Room);
        Assert.Empty(left.Ids);
        Assert.Empty(closed.Ids);
        Assert.Equal(1, hub.Hub.Topics.Count);
        hub.Hub.Router.Closed(one);
        Assert.Equal(0, hub.Hub.Topics.Count);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Joined_AfterItsEnd_LeavesNothingBehind()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Closed(key);
        hub.Hub.Router.Joined(key, ["room"]);
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Joined_Detached_WaitsForTheResume()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(key, ["room"]);
        hub.Hub.Router.Detached(key);
        var id = await hub.SendAsync(to: Room);
        await hub.SendAsync("\"class\":\"transient\"", Room);
        Assert.Empty(link.Ids);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.RestAsync();
        Assert.Equal([id], link.Ids);
    }

    [Fact]
    public async Task Joined_Excepted_GetsNothing()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab", session: "s1");
        hub.Hub.Router.Joined(key, ["room"]);
        string[] except = ["\"users\":[\"ada\"]", "\"devices\":[\"tab\"]", "\"sessions\":[\"s1\"]"];
        var ids = new List<string>();
        foreach (var one in except)
        {
            ids.Add(await hub.SendAsync($"\"except\":{{{one}}}", Room));
        }

        ids.Add(await hub.SendAsync("\"channels\":[\"fcm\"]", Room));
        Assert.Empty(link.Ids);
        Assert.Equal(
            ["except-user", "except-device", "except-session", "channel-not-allowed"], hub.Journal.Settled.Select(m => m.Reason));
        hub.AssertAllEnded([.. ids]);
    }

    [Fact]
    public async Task Topic_MembersCutHalfway_EachGetsItOnce()
    {
        await using var hub = new HubUnderTest();
        string[] members = ["a", "b", "c", "d", "e"];
        hub.Store.PutTopic("room", members);
        Array.ForEach(members, member => hub.Store.Put(member, hub.Phone("phone")));
        hub.Store.CutAfter.UnionWith(["b", "d"]);
        var id = await hub.SendAsync(to: Room);
        await Waiting.UntilAsync(() => hub.Pushed.Count == 2, "those before the cut");
        Assert.Equal(["a", "b"], hub.Fcm.Sent.Select(s => s.User).Order());
        await hub.PassUntilAsync(() => hub.Store.Cuts == 2, "the second cut");
        hub.Store.CutAfter.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 5, "the last member");
        Assert.Equal(members, hub.Fcm.Sent.Select(s => s.User).Order());
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Topic_MembersUnreadableUntilTheTtlIsOver_SaysSoThoughSomeWereReached()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "a", "b");
        hub.Store.Put("a", hub.Phone("phone"));
        hub.Store.CutAfter.Add("a");
        var id = await hub.SendAsync("\"ttl\":20", Room);
        await Waiting.UntilAsync(() => hub.Journal.EndOf(id, "phone") is not null, "the push of the member who was read");
        await hub.PassUntilAsync(() => hub.Journal.Finished.Count == 1, "the event's end");
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        Assert.Equal("store-unavailable", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        hub.AssertAllEnded(id);
    }
}
