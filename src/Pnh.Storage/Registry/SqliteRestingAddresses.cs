using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Addresses that get no pushes for now. A row goes with its device; that of an address which the device no longer has counts for nothing, and goes with the next release.</summary>
internal static class SqliteRestingAddresses
{
    private const string Insert = """
        INSERT OR REPLACE INTO resting(device, channel, kind, value, account, reason, at)
        SELECT a.device, a.channel, a.kind, a.value, ?, ?, ? FROM addresses a JOIN devices d ON d.row = a.device
        WHERE d.app = ? AND d.user = ? AND d.device = ? AND a.app = ? AND a.channel = ? AND a.kind = ? AND a.value = ?
        """;

    private const string All = """
        SELECT d.app, d.user, d.device, a.channel, a.kind, a.value, a.scope, a.registered, r.account, r.reason, r.at
        FROM resting r JOIN devices d ON d.row = r.device JOIN addresses a ON a.app = d.app AND a.channel = r.channel AND a.kind = r.kind AND a.value = r.value AND a.device = r.device
        """;

    public static bool Add(SqliteDatabase database, RestingAddress resting)
    {
        var (user, address) = (resting.User, resting.Address);
        database.Statement(Insert)
            .Bind(1, resting.Account).Bind(2, resting.Reason).Bind(3, resting.At).Bind(4, user.App).Bind(5, user.User).Bind(6, resting.Device)
            .Bind(7, user.App).Bind(8, address.Channel).Bind(9, address.Kind).Bind(10, address.Value).Execute();
        return database.Changes > 0;
    }

    public static IReadOnlyList<RestingAddress> Find(SqliteDatabase database, TextPool texts)
    {
        var found = new List<RestingAddress>();
        var rows = database.Statement(All);
        while (rows.Read())
        {
            found.Add(new RestingAddress(
                new UserKey(texts.Share(rows.Text(0)), rows.Text(1)),
                rows.Text(2),
                new PushAddress(texts.Share(rows.Text(3)), texts.Share(rows.Text(4)), rows.Text(5), texts.Share(rows.Text(6)), rows.Time(7)),
                texts.Share(rows.Text(8)),
                texts.Share(rows.TextOrNull(9)),
                rows.Time(10)));
        }

        rows.Reset();
        return found;
    }

    public static bool Release(SqliteDatabase database, string channel, string account)
    {
        database.Statement("DELETE FROM resting WHERE channel = ? AND account = ?").Bind(1, channel).Bind(2, account).Execute();
        return database.Changes > 0;
    }
}
