using Pnh.Core.Sessions;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>Sessions of members in the table of topics: which, why, and as the registry has it at each moment.</summary>
public sealed class HubMembershipTests
{
    private static readonly TopicKey Room = new("demo", "room");

    [Fact]
    public async Task Open_UserIsMember_IsInTheTopicBeforeItIsWelcomed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        var (_, key) = await hub.OpenAsync("tab");
        await hub.OpenAsync("tab", user: "eve");

        Assert.Equal([key], Members(hub));
        Assert.Empty(Joined(hub));
        hub.Hub.Router.Closed(key);
        Assert.Empty(Members(hub));
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Membership_Changes_ReachesEverySessionBeforeItIsAnswered()
    {
        await using var hub = new HubUnderTest();
        var (_, tab) = await hub.OpenAsync("tab");
        var (_, phone) = await hub.OpenAsync("phone");

        await hub.Hub.Memberships.AddAsync(Room, "ada", CancellationToken.None);
        Assert.Equal([phone, tab], Members(hub));
        await hub.Hub.Memberships.RemoveAsync(Room, "ada", CancellationToken.None);
        Assert.Empty(Members(hub));
    }

    [Fact]
    public async Task Membership_TakenAwayWhileItIsStillBeingGiven_IsGoneInTheEnd()
    {
        await using var hub = new HubUnderTest();
        await hub.OpenAsync("tab");
        var written = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Store.Adding = () => written.Task;
        hub.Store.MemberChanged = null;
        var given = hub.Hub.Memberships.AddAsync(Room, "ada", CancellationToken.None);
        var taken = hub.Hub.Memberships.RemoveAsync(Room, "ada", CancellationToken.None);
        written.SetResult();
        await given;
        Assert.True(await taken);
        Assert.Empty(Members(hub));
    }

    [Fact]
    public async Task JoinedAndMember_EachIsTakenAwayByItself()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        var (_, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(key, ["room"]);
        AssertIn(hub, joined: [key], members: [key]);
        hub.Hub.Router.Left(key, ["room"]);
        AssertIn(hub, joined: [], members: [key]);
        hub.Hub.Router.Joined(key, ["room"]);
        await hub.Hub.Memberships.RemoveAsync(Room, "ada", CancellationToken.None);
        AssertIn(hub, joined: [key], members: []);
        hub.Hub.Router.Left(key, ["room"]);
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Resume_KeepsBoth_AndAReplacedSessionLeavesNothing()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        var (_, first) = await hub.OpenAsync("tab");
        hub.Hub.Router.Joined(first, ["room"]);
        hub.Hub.Router.Detached(first);
        Assert.True(await hub.Hub.Router.ResumedAsync(first, SessionState.Active, null, CancellationToken.None));
        AssertIn(hub, joined: [first], members: [first]);

        var (_, second) = await hub.OpenAsync("tab");
        AssertIn(hub, joined: [], members: [second]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Open_MembershipChangesWhileTheRegistryIsRead_TheChangeHolds(bool isMemberBefore)
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("hall", "zed");
        hub.Store.PutTopic("room", isMemberBefore ? ["ada"] : []);
        var read = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Store.FindingTopics = () => read.Task;
        var opening = hub.OpenAsync("tab");

        // What was read is from before this.
        await (isMemberBefore ? (Task)hub.Hub.Memberships.RemoveAsync(Room, "ada", CancellationToken.None) : hub.Hub.Memberships.AddAsync(Room, "ada", CancellationToken.None));
        await hub.Hub.Memberships.AddAsync(new TopicKey("demo", "hall"), "ada", CancellationToken.None);
        await hub.Hub.Memberships.RemoveAsync(new TopicKey("demo", "hall"), "ada", CancellationToken.None);
        read.SetResult();
        var (_, key) = await opening;

        Assert.Equal(isMemberBefore ? [] : [key], Members(hub));
        Assert.Equal(isMemberBefore ? 0 : 1, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Open_RegistryCannotBeRead_OpensAndIsTriedAgain()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        hub.Store.FailingTopicReads = 3;
        var (_, key) = await hub.OpenAsync("tab");
        Assert.Empty(Members(hub));
        await hub.PassUntilAsync(() => Members(hub).Length == 1, "the topics of the session");
        Assert.Equal([key], Members(hub));
    }

    [Fact]
    public async Task Open_SessionClosedBeforeItIsTriedAgain_LeavesNothing()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        hub.Store.FailingTopicReads = 1;
        var (_, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(10);
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task RandomLife_AtEachStep_TheTableSaysWhatTheRegistrySaysOfWhoIsHere(int seed)
    {
        var random = new Random(seed);
        string[] users = ["ada", "bob", "eve"];
        string[] topics = [.. Enumerable.Range(0, 40).Select(static n => $"t{n}")];
        await using var hub = new HubUnderTest();
        var sessions = new List<SessionKey>();
        for (var step = 0; step < 400; step++)
        {
            var (user, topic) = (users[random.Next(users.Length)], topics[random.Next(random.Next(2) == 0 ? 4 : topics.Length)]);
            switch (random.Next(8))
            {
                case 0 or 1:
                    await hub.Hub.Memberships.AddAsync(new TopicKey("demo", topic), user, CancellationToken.None);
                    break;
                case 2:
                    await hub.Hub.Memberships.RemoveAsync(new TopicKey("demo", topic), user, CancellationToken.None);
                    break;
                case 3:
                    hub.Store.FailingTopicReads = random.Next(3) == 0 ? 1 : 0;
                    var (_, key) = await hub.OpenAsync($"d{random.Next(3)}", user: user);
                    sessions.RemoveAll(old => old.User == key.User && old.Device == key.Device);
                    sessions.Add(key);
                    hub.Store.FailingTopicReads = 0;
                    await hub.PassAsync(2);
                    break;
                case 4 when sessions.Count > 0:
                    var closed = sessions[random.Next(sessions.Count)];
                    hub.Hub.Router.Closed(closed);
                    sessions.Remove(closed);
                    break;
                case 5 when sessions.Count > 0:
                    hub.Hub.Router.Joined(sessions[random.Next(sessions.Count)], [topic]);
                    break;
                case 6 when sessions.Count > 0:
                    hub.Hub.Router.Left(sessions[random.Next(sessions.Count)], [topic]);
                    break;
                default:
                    await hub.PassAsync(1);
                    break;
            }

            foreach (var each in topics.Select(static name => new TopicKey("demo", name)))
            {
                // The sessions of those whom the registry has as members. A read that is tried again comes a moment behind its time.
                string[] expected = [.. sessions.Where(session => hub.Store.IsMember(each, session.User)).Select(static session => session.Session).Order(StringComparer.Ordinal)];
                await Waiting.UntilAsync(
                    () => expected.SequenceEqual((hub.Hub.Topics.Find(each)?.ReadMembers() ?? []).Select(static one => one.Key.Session).Order(StringComparer.Ordinal)), $"the members of {each.Topic}");
            }
        }

        sessions.ForEach(hub.Hub.Router.Closed);
        Assert.Equal(0, hub.Hub.Topics.Count);
    }

    [Fact]
    public async Task Settings_MuteATopicOrAClass_HoldForMembersSessionsBeforeTheyAreAnswered()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("room", "ada");
        hub.Store.Put("ada", new UserSettings { MutedTopics = ["room"] });
        var (member, _) = await hub.OpenAsync("tab");
        var (guest, guestKey) = await hub.OpenAsync("tab", user: "eve");
        hub.Hub.Router.Joined(guestKey, ["room"]);
        var expected = new List<string>();
        async Task SendAsync(bool isHeard)
        {
            var id = await hub.SendAsync("\"class\":\"transient\"", """{"topic":"room"}""");
            expected.AddRange(isHeard ? [id] : []);
            Assert.Equal(expected, member.Ids);
            Assert.Equal(id, guest.Ids[^1]);
        }

        var ada = new UserKey("demo", "ada");
        await SendAsync(isHeard: false);
        await hub.Hub.Memberships.PutSettingsAsync(ada, UserSettings.Default, CancellationToken.None);
        await SendAsync(isHeard: true);
        await hub.Hub.Memberships.PutSettingsAsync(ada, new UserSettings { MutedClasses = ["transient"] }, CancellationToken.None);
        await SendAsync(isHeard: false);
        await hub.Hub.Memberships.PutSettingsAsync(ada, new UserSettings { MutedClasses = ["bulk"], MutedTopics = ["hall"] }, CancellationToken.None);
        await SendAsync(isHeard: true);

        // Of a membership that begins later, and of a session that opens later.
        await hub.Hub.Memberships.RemoveAsync(Room, "ada", CancellationToken.None);
        await hub.Hub.Memberships.PutSettingsAsync(ada, new UserSettings { MutedTopics = ["room"] }, CancellationToken.None);
        await hub.Hub.Memberships.AddAsync(Room, "ada", CancellationToken.None);
        await SendAsync(isHeard: false);
        var (phone, _) = await hub.OpenAsync("phone");
        await SendAsync(isHeard: false);
        Assert.Empty(phone.Ids);
    }

    [Fact]
    public async Task Transient_MemberOfAnUnregisteredDevice_GetsIt_AndTheRegistryIsNotAsked()
    {
        await using var hub = new HubUnderTest();
        var (link, _) = await hub.OpenAsync("tab");
        await hub.Hub.Memberships.AddAsync(Room, "ada", CancellationToken.None);
        var reads = (hub.Store.WarmReads, hub.Store.Pages);
        var id = await hub.SendAsync("\"class\":\"transient\"", """{"topic":"room"}""");
        Assert.Equal([id], link.Ids);
        Assert.Equal(reads, (hub.Store.WarmReads, hub.Store.Pages));
    }

    private static void AssertIn(HubUnderTest hub, SessionKey[] joined, SessionKey[] members)
    {
        Assert.Equal(joined, Joined(hub));
        Assert.Equal(members, Members(hub));
    }

    private static SessionKey[] Members(HubUnderTest hub) => [.. (hub.Hub.Topics.Find(Room)?.ReadMembers() ?? []).Select(static one => one.Key).OrderBy(static key => key.Device, StringComparer.Ordinal)];

    private static SessionKey[] Joined(HubUnderTest hub) => [.. (hub.Hub.Topics.Find(Room)?.Read() ?? []).Select(static one => one.Key)];
}
