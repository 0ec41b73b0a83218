using Pnh.Core.Events;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// Users whose last device was deleted, for as long as an event of theirs may be open: without that a restart could not tell them from users whose rows were lost.
/// </summary>
internal static class SqliteGoneUsers
{
    private const string CountDevices = "SELECT EXISTS(SELECT 1 FROM devices WHERE app = ? AND user = ?)";

    /// <summary>After a deletion: notes the user unless a device is left, and forgets those whose events are all over.</summary>
    public static void Deleted(SqliteDatabase database, UserKey user, DateTimeOffset now)
    {
        var left = database.Statement(CountDevices).Bind(1, user.App).Bind(2, user.User);
        left.Read();
        var isLeft = left.Int32(0) != 0;
        left.Reset();
        if (!isLeft)
        {
            database.Statement("DELETE FROM gone WHERE at < ?").Bind(1, now - Limits.Ttl).Execute();
            database.Statement("INSERT OR REPLACE INTO gone(app, user, at) VALUES(?, ?, ?)").Bind(1, user.App).Bind(2, user.User).Bind(3, now).Execute();
        }
    }

    public static void CameBack(SqliteDatabase database, UserKey user) =>
        database.Statement("DELETE FROM gone WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User).Execute();

    public static bool Has(SqliteDatabase database, UserKey user)
    {
        var row = database.Statement("SELECT 1 FROM gone WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User);
        var isGone = row.Read();
        row.Reset();
        return isGone;
    }
}
