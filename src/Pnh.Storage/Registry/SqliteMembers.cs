using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Topic membership as rows.</summary>
internal static class SqliteMembers
{
    private const string Insert = "INSERT OR IGNORE INTO members(app, topic, user) VALUES(?, ?, ?)";
    private const string Delete = "DELETE FROM members WHERE app = ? AND topic = ? AND user = ?";
    private const string DeleteAll = "DELETE FROM members WHERE app = ? AND user = ?";
    private const string Select = "SELECT user FROM members WHERE app = ? AND topic = ? AND user > ? ORDER BY user LIMIT ?";

    private const string Is = "SELECT 1 FROM members WHERE app = ? AND topic = ? AND user = ?";
    private const string Topics = "SELECT topic FROM members WHERE app = ? AND user = ? ORDER BY topic";
    private const string CountTopics = "SELECT count(*) FROM members WHERE app = ? AND user = ?";
    private const string Any = "SELECT 1 FROM members LIMIT 1";
    private const string Count = "SELECT count(*) FROM members WHERE app = ? AND topic = ?";

    /// <summary>Decides before its change: a group of writes has no savepoint.</summary>
    public static AddMemberResult Add(SqliteDatabase database, string app, string topic, string user)
    {
        if (Exists(database.Statement(Is).Bind(1, app).Bind(2, topic).Bind(3, user)))
        {
            return AddMemberResult.AlreadyThere;
        }

        if (Number(database.Statement(CountTopics).Bind(1, app).Bind(2, user)) >= Limits.TopicsPerUser)
        {
            return AddMemberResult.TooManyTopics;
        }

        database.Statement(Insert).Bind(1, app).Bind(2, topic).Bind(3, user).Execute();
        return AddMemberResult.Added;
    }

    /// <summary>Whether any topic has a member.</summary>
    public static bool HasAny(SqliteDatabase database) => Exists(database.Statement(Any));

    /// <summary>The topics that the user is a member of.</summary>
    public static UserTopics TopicsOf(SqliteDatabase database, UserKey user)
    {
        var topics = NamesOf(database, user);
        return topics.Count == 0 ? UserTopics.None : new UserTopics(topics, SqliteUserSettings.Get(database, user) ?? UserSettings.Default);
    }

    /// <summary>Out of all topics; which these were.</summary>
    public static List<string> RemoveAll(SqliteDatabase database, UserKey user)
    {
        var topics = NamesOf(database, user);
        database.Statement(DeleteAll).Bind(1, user.App).Bind(2, user.User).Execute();
        return topics;
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

    public static long CountOf(SqliteDatabase database, TopicKey topic) => Number(database.Statement(Count).Bind(1, topic.App).Bind(2, topic.Topic));

    private static List<string> NamesOf(SqliteDatabase database, UserKey user)
    {
        var topics = new List<string>();
        var rows = database.Statement(Topics).Bind(1, user.App).Bind(2, user.User);
        while (rows.Read())
        {
            topics.Add(rows.Text(0));
        }

        return topics;
    }

    private static bool Exists(SqliteStatement rows)
    {
        var exists = rows.Read();
        rows.Reset();
        return exists;
    }

    private static long Number(SqliteStatement rows)
    {
        _ = rows.Read();
        var number = rows.Int64(0);
        rows.Reset();
        return number;
    }
}
