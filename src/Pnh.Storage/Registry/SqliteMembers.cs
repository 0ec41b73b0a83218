using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Topic membership as rows.</summary>
internal static class SqliteMembers
{
    private const string Insert = "INSERT OR IGNORE INTO members(app, topic, user) VALUES(?, ?, ?)";
    private const string Delete = "DELETE FROM members WHERE app = ? AND topic = ? AND user = ?";
    private const string Select = "SELECT user FROM members WHERE app = ? AND topic = ? AND user > ? ORDER BY user LIMIT ?";

    private const string Is = "SELECT 1 FROM members WHERE app = ? AND topic = ? AND user = ?";
    private const string Count = "SELECT count(*) FROM members WHERE app = ? AND topic = ?";

    public static bool Add(SqliteDatabase database, string app, string topic, string user)
    {
        database.Statement(Insert).Bind(1, app).Bind(2, topic).Bind(3, user).Execute();
        return database.Changes > 0;
    }

    public static bool Remove(SqliteDatabase database, string app, string topic, string user)
    {
        database.Statement(Delete).Bind(1, app).Bind(2, topic).Bind(3, user).Execute();
        return database.Changes > 0;
    }

    /// <summary>The next members after one.</summary>
    public static List<string> Page(SqliteDatabase database, string app, string topic, string after, int most)
    {
        var members = new List<string>();
        var rows = database.Statement(Select).Bind(1, app).Bind(2, topic).Bind(3, after).Bind(4, most);
        while (rows.Read())
        {
            members.Add(rows.Text(0));
        }

        return members;
    }

    /// <summary>Those of the users that are members, in their order.</summary>
    public static List<string> Among(SqliteDatabase database, TopicKey topic, IReadOnlyList<string> users, int from, int to)
    {
        var found = new List<string>();
        var rows = database.Statement(Is).Bind(1, topic.App).Bind(2, topic.Topic);
        for (var i = from; i < to; i++)
        {
            if (rows.Bind(3, users[i]).Read())
            {
                found.Add(users[i]);
                rows.Reset();
            }
        }

        return found;
    }

    public static long CountOf(SqliteDatabase database, TopicKey topic)
    {
        var rows = database.Statement(Count).Bind(1, topic.App).Bind(2, topic.Topic);
        _ = rows.Read();
        var count = rows.Int64(0);
        rows.Reset();
        return count;
    }
}
