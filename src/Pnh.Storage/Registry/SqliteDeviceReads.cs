using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Rows back to devices. Each method runs in one read transaction.</summary>
internal static class SqliteDeviceReads
{
    // One row per address, a device without any as one row with nulls; columns 0–5 the device, 6–10 the address.
    private const string Columns = """
        SELECT d.user, d.device, d.platform, d.locale, d.version, d.registered, a.channel, a.kind, a.value, a.scope, a.registered
        """;

    private const string OfUser = Columns + """
         FROM devices d LEFT JOIN addresses a ON a.device = d.row
        WHERE d.app = ? AND d.user = ? ORDER BY d.registered, d.device, a.position
        """;

    private const string AfterDevice = Columns + """
         FROM (SELECT * FROM devices WHERE app = ? AND (user, device) > (?, ?) ORDER BY user, device LIMIT ?) d
        LEFT JOIN addresses a ON a.device = d.row ORDER BY d.user, d.device, a.position
        """;

    public static UserSnapshot User(SqliteDatabase database, SqliteGoneUsers gone, TextPool texts, UserKey user)
    {
        var owned = Collect(database.Statement(OfUser).Bind(1, user.App).Bind(2, user.User), texts);
        var settings = SqliteUserSettings.Get(database, user);
        if (owned.Count == 0 && settings is null)
        {
            return gone.Has(database, user) ? UserSnapshot.Gone : UserSnapshot.Empty;
        }

        var devices = new Device[owned.Count];
        for (var i = 0; i < devices.Length; i++)
        {
            devices[i] = owned[i].Device;
        }

        return new UserSnapshot(devices, settings ?? UserSettings.Default);
    }

    /// <summary>The next devices of an app after (user, device).</summary>
    public static List<OwnedDevice> Page(SqliteDatabase database, TextPool texts, string app, string user, string device, int rows) =>
        Collect(database.Statement(AfterDevice).Bind(1, app).Bind(2, user).Bind(3, device).Bind(4, rows), texts);

    private static List<OwnedDevice> Collect(SqliteStatement rows, TextPool texts)
    {
        var owned = new List<OwnedDevice>();
        var addresses = new List<PushAddress>();
        while (rows.Read())
        {
            var (user, id) = (rows.Text(0), rows.Text(1));
            if (owned.Count == 0 || owned[^1].Device.Id != id || owned[^1].User != user)
            {
                TakeAddresses(owned, addresses);
                owned.Add(new OwnedDevice(user, ReadDevice(rows, id, texts)));
            }

            if (!rows.IsNull(6))
            {
                addresses.Add(ReadAddress(rows, texts));
            }
        }

        TakeAddresses(owned, addresses);
        return owned;
    }

    private static void TakeAddresses(List<OwnedDevice> owned, List<PushAddress> addresses)
    {
        if (addresses.Count > 0)
        {
            owned[^1] = owned[^1] with { Device = owned[^1].Device with { Addresses = addresses.ToArray() } };
            addresses.Clear();
        }
    }

    private static Device ReadDevice(SqliteStatement row, string id, TextPool texts) => new()
    {
        Id = id,
        Platform = (Platform)row.Int32(2),
        Locale = texts.Share(row.TextOrNull(3)),
        AppVersion = texts.Share(row.TextOrNull(4)),
        RegisteredAt = row.Time(5),
    };

    private static PushAddress ReadAddress(SqliteStatement row, TextPool texts) =>
        new(texts.Share(row.Text(6)), texts.Share(row.Text(7)), row.Text(8), texts.Share(row.Text(9)), row.Time(10));
}
