using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>What became of addresses that were taken off their devices: the last of each kind, for <see cref="Limits.RemovedAddressLife"/>. Not the address itself.</summary>
internal static class SqliteRemovedAddresses
{
    private const string Insert = "INSERT OR REPLACE INTO removed(app, user, device, channel, kind, at, reason) VALUES(?, ?, ?, ?, ?, ?, ?)";

    private const string OfUser = "SELECT device, channel, kind, at, reason FROM removed WHERE app = ? AND user = ? AND at >= ? ORDER BY device, channel, kind";

    public static void Add(SqliteDatabase database, UserKey user, RemovedAddress removed)
    {
        database.Statement("DELETE FROM removed WHERE at < ?").Bind(1, removed.At - Limits.RemovedAddressLife).Execute();
        database.Statement(Insert)
            .Bind(1, user.App).Bind(2, user.User).Bind(3, removed.Device).Bind(4, removed.Channel).Bind(5, removed.Kind).Bind(6, removed.At).Bind(7, removed.Reason)
            .Execute();
    }

    /// <summary>The device is gone, and what was said of it. Null = all of the user's.</summary>
    public static void Forget(SqliteDatabase database, UserKey user, string? device)
    {
        var delete = device is null
            ? database.Statement("DELETE FROM removed WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User)
            : database.Statement("DELETE FROM removed WHERE app = ? AND user = ? AND device = ?").Bind(1, user.App).Bind(2, user.User).Bind(3, device);
        delete.Execute();
    }

    public static IReadOnlyList<RemovedAddress> Find(SqliteDatabase database, UserKey user, DateTimeOffset now)
    {
        var found = new List<RemovedAddress>();
        var rows = database.Statement(OfUser).Bind(1, user.App).Bind(2, user.User).Bind(3, now - Limits.RemovedAddressLife);
        while (rows.Read())
        {
            found.Add(new RemovedAddress(rows.Text(0), rows.Text(1), rows.Text(2), rows.Time(3), rows.IsNull(4) ? null : rows.Text(4)));
        }

        rows.Reset();
        return found;
    }
}
