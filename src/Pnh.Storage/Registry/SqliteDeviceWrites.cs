using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Registrations as rows. Each method runs inside the writer's transaction and may run again after a rollback.</summary>
internal static class SqliteDeviceWrites
{
    private const string FindRow = "SELECT row FROM devices WHERE app = ? AND user = ? AND device = ?";
    private const string CountRows = "SELECT count(*) FROM (SELECT 1 FROM devices WHERE app = ? AND user = ? LIMIT ?)";
    private const string InsertDevice = "INSERT INTO devices(app, user, device, platform, locale, version, registered) VALUES(?, ?, ?, ?, ?, ?, ?)";
    private const string UpdateDevice = "UPDATE devices SET platform = ?, locale = ?, version = ?, registered = ? WHERE row = ?";
    private const string DeleteDevice = "DELETE FROM devices WHERE app = ? AND user = ? AND device = ?";
    private const string DeleteDevices = "DELETE FROM devices WHERE app = ? AND user = ?";
    private const string DeleteAddresses = "DELETE FROM addresses WHERE device = ?";
    private const string InsertAddress =
        "INSERT OR REPLACE INTO addresses(app, channel, kind, value, device, position, scope, registered) VALUES(?, ?, ?, ?, ?, ?, ?, ?)";

    private const string FindHolders = """
        SELECT d.user, d.device FROM addresses a JOIN devices d ON d.row = a.device
        WHERE a.app = ? AND a.channel = ? AND a.kind = ? AND a.value >= ? AND a.value < ?
        """;

    private const string DeleteHeld = "DELETE FROM addresses WHERE app = ? AND channel = ? AND kind = ? AND value >= ? AND value < ?";

    private const string DeleteDead = """
        DELETE FROM addresses WHERE app = ? AND channel = ? AND kind = ? AND value = ? AND registered <= ?
        AND device = (SELECT row FROM devices WHERE app = ? AND user = ? AND device = ?)
        """;

    /// <summary>
    /// Writes the registration; <paramref name="touched"/> gets its user and everyone who lost an address to it, <paramref name="moved"/> the devices that did.
    /// A refusal comes before the first change: a group of writes has no savepoints.
    /// </summary>
    public static PutDeviceResult Put(
        SqliteDatabase database, SqliteGoneUsers gone, UserKey user, Device device, int mostDevices, MoveClaim claim, HashSet<UserKey> touched, HashSet<MovedAddress> moved)
    {
        moved.Clear();
        touched.Clear();
        touched.Add(user);
        var known = Row(database, user, device.Id);
        if (known is null && Count(database, user, mostDevices) >= mostDevices)
        {
            return PutDeviceResult.TooManyDevices;
        }

        foreach (var address in device.Addresses)
        {
            ForEachForm(address, (kind, from, before) => FindHoldersOf(database, user.App, address.Channel, kind, from, before, moved));
        }

        moved.RemoveWhere(holder => holder.User == user.User && holder.Device == device.Id);
        if (!claim.TryTake(moved))
        {
            return PutDeviceResult.TooManyMoves;
        }

        var row = known is { } found ? Update(database, found, device) : Insert(database, gone, user, device);

        // All that is taken away goes first, so that two addresses of one registration never take each other away.
        foreach (var address in moved.Count == 0 ? [] : device.Addresses)
        {
            ForEachForm(address, (kind, from, before) => database.Statement(DeleteHeld)
                .Bind(1, user.App).Bind(2, address.Channel).Bind(3, kind).Bind(4, from).Bind(5, before).Execute());
        }

        foreach (var holder in moved)
        {
            var loser = new UserKey(user.App, holder.User);
            touched.Add(loser);
            SqliteRemovedAddresses.Add(database, loser, new RemovedAddress(holder.Device, holder.Channel, string.Empty, device.RegisteredAt, RemovedAddress.Moved));
        }

        for (var i = 0; i < device.Addresses.Count; i++)
        {
            var address = device.Addresses[i];
            database.Statement(InsertAddress)
                .Bind(1, user.App).Bind(2, address.Channel).Bind(3, address.Kind).Bind(4, address.Value)
                .Bind(5, row).Bind(6, i).Bind(7, address.Scope).Bind(8, address.RegisteredAt).Execute();
        }

        return known is null ? PutDeviceResult.Created : PutDeviceResult.Updated;
    }

    public static bool Delete(SqliteDatabase database, SqliteGoneUsers gone, UserKey user, string device, DateTimeOffset now)
    {
        database.Statement(DeleteDevice).Bind(1, user.App).Bind(2, user.User).Bind(3, device).Execute();
        if (database.Changes == 0)
        {
            return false;
        }

        gone.Deleted(database, user, now);
        SqliteRemovedAddresses.Forget(database, user, device);
        return true;
    }

    /// <summary>All of a user's; how many there were.</summary>
    public static int DeleteAll(SqliteDatabase database, SqliteGoneUsers gone, UserKey user, DateTimeOffset now)
    {
        database.Statement(DeleteDevices).Bind(1, user.App).Bind(2, user.User).Execute();
        var deleted = database.Changes;
        SqliteRemovedAddresses.Forget(database, user, device: null);
        if (deleted > 0)
        {
            gone.Deleted(database, user, now);
        }

        return deleted;
    }

    public static bool RemoveAddress(SqliteDatabase database, UserKey user, PushAddress address, DateTimeOffset deadSince, RemovedAddress removed)
    {
        database.Statement(DeleteDead)
            .Bind(1, user.App).Bind(2, address.Channel).Bind(3, address.Kind).Bind(4, address.Value).Bind(5, deadSince)
            .Bind(6, user.App).Bind(7, user.User).Bind(8, removed.Device).Execute();
        if (database.Changes == 0)
        {
            return false;
        }

        SqliteRemovedAddresses.Add(database, user, removed);
        return true;
    }

    /// <summary>Every value that is the same address: up to its first blank, where it has one. From here, up to but not including there.</summary>
    public static (string From, string Before) SpanOf(string value) =>
        value.IndexOf(' ', StringComparison.Ordinal) is >= 0 and var end ? (value[..(end + 1)], value[..end] + '!') : (value, value + '\0');

    private static long? Row(SqliteDatabase database, UserKey user, string device)
    {
        var rows = database.Statement(FindRow).Bind(1, user.App).Bind(2, user.User).Bind(3, device);
        long? row = rows.Read() ? rows.Int64(0) : null;
        rows.Reset();
        return row;
    }

    private static int Count(SqliteDatabase database, UserKey user, int most)
    {
        var rows = database.Statement(CountRows).Bind(1, user.App).Bind(2, user.User).Bind(3, most);
        rows.Read();
        var count = rows.Int32(0);
        rows.Reset();
        return count;
    }

    private static long Insert(SqliteDatabase database, SqliteGoneUsers gone, UserKey user, Device device)
    {
        database.Statement(InsertDevice)
            .Bind(1, user.App).Bind(2, user.User).Bind(3, device.Id).Bind(4, (long)device.Platform)
            .Bind(5, device.Locale).Bind(6, device.AppVersion).Bind(7, device.RegisteredAt).Execute();
        var row = database.LastRow;
        gone.CameBack(database, user);
        return row;
    }

    private static long Update(SqliteDatabase database, long row, Device device)
    {
        database.Statement(UpdateDevice)
            .Bind(1, (long)device.Platform).Bind(2, device.Locale).Bind(3, device.AppVersion).Bind(4, device.RegisteredAt).Bind(5, row).Execute();
        database.Statement(DeleteAddresses).Bind(1, row).Execute();
        return row;
    }

    /// <summary>The address as a span of values of a kind, and the other form of the same FCM installation (a token starts with its FID and a colon).</summary>
    private static void ForEachForm(PushAddress address, Action<string, string, string> act)
    {
        var (value, kind) = (address.Value, address.Member);
        var (from, before) = SpanOf(value);
        act(kind, from, before);
        if (address.Channel != "fcm")
        {
            return;
        }

        act(kind + PushAddress.CallsAsData, from, before);
        if (kind == "fid")
        {
            // Everything from "fid:" up to, not including, "fid;", the next character.
            act("token", value + ':', value + ';');
            act("token" + PushAddress.CallsAsData, value + ':', value + ';');
        }
        else if (kind == "token" && value.IndexOf(':', StringComparison.Ordinal) is > 0 and var colon)
        {
            var fid = value[..colon];
            act("fid", fid, fid + '\0');
            act("fid" + PushAddress.CallsAsData, fid, fid + '\0');
        }
    }

    private static void FindHoldersOf(
        SqliteDatabase database, string app, string channel, string kind, string from, string before, HashSet<MovedAddress> moved)
    {
        var holders = database.Statement(FindHolders).Bind(1, app).Bind(2, channel).Bind(3, kind).Bind(4, from).Bind(5, before);
        while (holders.Read())
        {
            moved.Add(new MovedAddress(holders.Text(0), holders.Text(1), channel));
        }
    }
}
