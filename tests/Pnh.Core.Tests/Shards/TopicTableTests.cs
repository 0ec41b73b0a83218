using Pnh.Core.Sessions;
using Pnh.Core.Shards;

namespace Pnh.Core.Tests.Shards;

public sealed class TopicTableTests
{
    [Fact]
    public void Find_SessionsOfTheAppsTopicOnly()
    {
        var table = new TopicTable();
        table.Join(Session("s1"), ["room", "hall"]);
        table.Join(Session("s2"), ["room"]);
        table.Join(Session("s3") with { App = "other" }, ["room"]);
        Assert.Equal(["s1", "s2"], Find(table, "room"));
        Assert.Equal(["s1"], Find(table, "hall"));
        Assert.Empty(Find(table, "never"));
        Assert.Equal("s3", Assert.Single(table.Find("other", "room")).Session);
    }

    [Fact]
    public void Remove_TouchesItsOwnTopicsOnly()
    {
        // Two sessions in each of 10,000 topics, one in five of them.
        var table = new TopicTable();
        string[] own = ["t0", "t17", "t400", "t9998", "t9999"];
        for (var i = 0; i < 10_000; i++)
        {
            table.Join(Session("a"), [$"t{i}"]);
            table.Join(Session("b"), [$"t{i}"]);
        }

        table.Join(Session("c"), own);
        var before = Enumerable.Range(0, 10_000).Select(i => table.Find("demo", $"t{i}")).ToArray();
        table.Remove(Session("c"));

        // A topic's array is made anew only when the topic was touched.
        var touched = Enumerable.Range(0, 10_000).Where(i => !ReferenceEquals(before[i], table.Find("demo", $"t{i}"))).Select(i => $"t{i}");
        Assert.Equal(own, touched);
        Assert.All(own, topic => Assert.Equal(["a", "b"], Find(table, topic)));
    }

    [Fact]
    public void Remove_LastOne_TakesTheTopicAway()
    {
        var table = new TopicTable();
        table.Join(Session("s1"), ["room"]);
        table.Join(Session("s2"), ["room"]);
        table.Leave(Session("s1"), ["room"]);
        Assert.Equal(1, table.Count);
        table.Remove(Session("s2"));
        table.Remove(Session("s2"));
        table.Leave(Session("s2"), ["room"]);
        Assert.Equal(0, table.Count);
    }

    [Fact]
    public async Task JoinAndRemove_AtOnce_LeaveNothing()
    {
        var table = new TopicTable();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(() =>
        {
            for (var i = 0; i < 2_000; i++)
            {
                // Workers meet in topics and, two by two, in sessions.
                var session = Session($"s{worker / 2}-{i}");
                table.Join(session, ["room", $"t{i % 7}"]);
                table.Leave(session, [$"t{i % 7}"]);
                table.Join(session, [$"t{i % 3}"]);
                table.Remove(session);
            }
        })));

        for (var i = 0; i < 2_000; i++)
        {
            table.Remove(Session($"s0-{i}"));
            table.Remove(Session($"s1-{i}"));
        }

        Assert.Equal(0, table.Count);
    }

    private static IEnumerable<string> Find(TopicTable table, string topic) =>
        table.Find("demo", topic).Select(s => s.Session).Order(StringComparer.Ordinal);

    private static SessionKey Session(string id) => new("demo", "ada", $"d-{id}", id);
}
