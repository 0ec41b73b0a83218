using System.Collections.Concurrent;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

public sealed class TopicTableTests
{
    [Fact]
    public void Find_SessionsOfTheAppsTopicOnly()
    {
        var table = new TopicTable();
        table.Join(Session("s1"), ["room", "hall"]);
        table.Join(Session("s2"), ["room"]);
        table.Join(Session("s3", "other"), ["room"]);
        Assert.Equal(["s1", "s2"], Find(table, "room"));
        Assert.Equal(["s1"], Find(table, "hall"));
        Assert.Empty(Find(table, "never"));
        Assert.Equal("s3", Assert.Single(Find(table, "room", "other")));
    }

    [Fact]
    public void SetJoined_LeavesWhatItJoinedBefore_AndWhatItsUserIsAMemberOfStays()
    {
        var table = new TopicTable();
        var session = Session("s");
        table.Join(session, ["left", "kept", "both"]);
        table.Join(session, ["member", "both"], TopicReasons.Member);
        table.SetJoined(session, ["kept", "new"]);
        Assert.Equal(["both", "kept", "member", "new"], session.Places.Select(place => place.Topic.Key.Topic).Order());
        Assert.Empty(Find(table, "left"));
        Assert.Equal(TopicReasons.Member, session.Places.Single(place => place.Topic.Key.Topic == "both").Reasons);
    }

    [Fact]
    public void Remove_TouchesItsOwnTopicsOnly()
    {
        // Two sessions in each of 10,000 topics, one more in five of them.
        var table = new TopicTable();
        string[] own = ["t0", "t17", "t400", "t9998", "t9999"];
        for (var i = 0; i < 10_000; i++)
        {
            table.Join(Session($"a{i}"), [$"t{i}"]);
            table.Join(Session($"b{i}"), [$"t{i}"]);
        }

        var leaver = Session("c");
        table.Join(leaver, own);
        var before = Enumerable.Range(0, 10_000).Select(i => table.Find(new TopicKey("demo", $"t{i}"))!.Read()).ToArray();
        table.Remove(leaver);

        // A topic's array is made anew only when the topic was touched.
        var touched = Enumerable.Range(0, 10_000).Where(i => !ReferenceEquals(before[i], table.Find(new TopicKey("demo", $"t{i}"))!.Read())).Select(i => $"t{i}");
        Assert.Equal(own, touched);
        Assert.All(own, topic => Assert.Equal([$"a{topic[1..]}", $"b{topic[1..]}"], Find(table, topic)));
    }

    [Fact]
    public void Remove_LastOne_TakesTheTopicAway()
    {
        var table = new TopicTable();
        var (one, two) = (Session("s1"), Session("s2"));
        table.Join(one, ["room"]);
        table.Join(two, ["room"]);
        table.Leave(one, ["room"]);
        Assert.Equal(1, table.Count);
        table.Remove(two);
        table.Remove(two);
        table.Leave(two, ["room"]);
        Assert.Equal(0, table.Count);
    }

    [Fact]
    public void Join_AfterItsEnd_IsInNothing()
    {
        var table = new TopicTable();
        var session = Session("s1");
        table.Join(session, ["room"]);
        table.Remove(session);
        table.Join(session, ["room"]);
        Assert.Equal(0, table.Count);
    }

    [Fact]
    public void LeaveAndRemove_InAnyOrder_KeepTheOthers()
    {
        // A session that leaves gives its place to the last: everybody's place must stay right.
        var table = new TopicTable();
        var sessions = Enumerable.Range(0, 50).Select(i => Session($"s{i}")).ToList();
        sessions.ForEach(session => table.Join(session, ["hall", "room"]));
        var random = new Random(5);
        while (sessions.Count > 0)
        {
            var leaver = sessions[random.Next(sessions.Count)];
            sessions.Remove(leaver);
            if (sessions.Count % 2 == 0)
            {
                table.Remove(leaver);
            }
            else
            {
                table.Leave(leaver, ["room", "hall"]);
            }

            Assert.Equal(sessions.Select(s => s.Key.Session).Order(StringComparer.Ordinal), Find(table, "room"));
            Assert.Equal(sessions.Select(s => s.Key.Session).Order(StringComparer.Ordinal), Find(table, "hall"));
        }

        Assert.Equal(0, table.Count);
    }

    [Fact]
    public async Task JoinAndRemove_AtOnce_LeaveNothing()
    {
        var table = new TopicTable();
        var sessions = new ConcurrentDictionary<string, Subscriber>();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(() =>
        {
            for (var i = 0; i < 2_000; i++)
            {
                // Workers meet in topics and, two by two, in sessions.
                var session = sessions.GetOrAdd($"s{worker / 2}-{i}", static id => Session(id));
                table.Join(session, ["room", $"t{i % 7}"]);
                table.Leave(session, [$"t{i % 7}"]);
                table.Join(session, [$"t{i % 3}"]);
                table.Remove(session);
            }
        })));

        Assert.Equal(0, table.Count);
    }

    private static IEnumerable<string> Find(TopicTable table, string topic, string app = "demo") =>
        (table.Find(new TopicKey(app, topic))?.Read() ?? []).Select(s => s.Key.Session).Order(StringComparer.Ordinal);

    private static Subscriber Session(string id, string app = "demo") => new(new SessionKey(app, "ada", $"d-{id}", id));
}
