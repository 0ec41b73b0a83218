using Pnh.Core.Storage;

namespace Pnh.Core.Devices;

/// <summary>Topic membership as rows.</summary>
internal static class SqliteMembers
{
    private const string Insert = "INSERT OR IGNORE INTO members(app, topic, user) VALUES(?, ?, ?)";
    private const string Delete = "DELETE FROM members WHERE app = ? AND topic = ? AND user = ?";
    private const string Select = "SELECT user FROM members WHERE app = ? AND topic = ? AND user > ? ORDER BY user LIMIT ?";

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
}
