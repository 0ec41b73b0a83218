using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// Brings the browsers' addresses that older builds kept as they came into the one spelling, before the registry is used: a page of them a transaction, found by an index that has those alone. Of two that are one
/// address the newest registration keeps it. A full disk leaves the rest to the next start; an older build reads what was written here.
/// </summary>
/// <param name="respell">Null = it has the spelling already.</param>
/// <param name="now">When a device lost its address to its twin.</param>
internal sealed class SqliteAddressSpelling(Func<PushAddress, PushAddress?> respell, DateTimeOffset now)
{
    private const int PageRows = 1000;
    private const string Former = "SELECT app, channel, kind, value, scope, device, position, registered FROM addresses WHERE channel = 'webpush' AND scope = '' LIMIT ?";
    private const string FindTwin = "SELECT value, device, registered FROM addresses WHERE app = ? AND channel = ? AND kind = ? AND value >= ? AND value < ? ORDER BY registered DESC LIMIT 1";
    private const string Delete = "DELETE FROM addresses WHERE app = ? AND channel = ? AND kind = ? AND value = ?";
    private const string FindOwner = "SELECT user, device FROM devices WHERE row = ?";
    private const string Insert = "INSERT INTO addresses(app, channel, kind, value, device, position, scope, registered) VALUES(?, ?, ?, ?, ?, ?, ?, ?)";

    public void Bring(SqliteDatabase database)
    {
        try
        {
            while (BringPage(database))
            {
                // The next one.
            }
        }
        catch (SqliteException fault) when (fault.Fault() == SqliteFault.Unavailable)
        {
            database.Rollback();
        }
    }

    private bool BringPage(SqliteDatabase database)
    {
        var page = new List<Held>();
        var rows = database.Statement(Former).Bind(1, PageRows);
        while (rows.Read())
        {
            page.Add(new Held(rows.Text(0), new PushAddress(rows.Text(1), rows.Text(2), rows.Text(3), rows.Text(4), rows.Time(7)), rows.Int64(5), rows.Int64(6)));
        }

        rows.Reset();
        if (page.Count == 0)
        {
            return false;
        }

        database.Execute("BEGIN IMMEDIATE");
        var isAny = false;
        foreach (var held in page)
        {
            isAny |= Bring(database, held);
        }

        database.Execute("COMMIT");
        return isAny && page.Count == PageRows;
    }

    private bool Bring(SqliteDatabase database, Held held)
    {
        if (respell(held.Address) is not { } spelled)
        {
            return false;
        }

        Take(database, held.App, held.Address);
        if (database.Changes == 0)
        {
            // To a twin of this page.
            return true;
        }

        while (TwinOf(database, held.App, spelled) is { } twin)
        {
            if (twin.Registered > held.Address.RegisteredAt)
            {
                Lose(database, held.App, held.Device, spelled.Channel);
                return true;
            }

            Take(database, held.App, spelled with { Value = twin.Value });
            Lose(database, held.App, twin.Device, spelled.Channel);
        }

        database.Statement(Insert).Bind(1, held.App).Bind(2, spelled.Channel).Bind(3, spelled.Kind).Bind(4, spelled.Value)
            .Bind(5, held.Device).Bind(6, held.Position).Bind(7, spelled.Scope).Bind(8, spelled.RegisteredAt).Execute();
        return true;
    }

    private static void Take(SqliteDatabase database, string app, PushAddress address) =>
        database.Statement(Delete).Bind(1, app).Bind(2, address.Channel).Bind(3, address.Kind).Bind(4, address.Value).Execute();

    private static (string Value, long Device, DateTimeOffset Registered)? TwinOf(SqliteDatabase database, string app, PushAddress spelled)
    {
        var (from, before) = SqliteDeviceWrites.SpanOf(spelled.Value);
        var rows = database.Statement(FindTwin).Bind(1, app).Bind(2, spelled.Channel).Bind(3, spelled.Kind).Bind(4, from).Bind(5, before);
        (string, long, DateTimeOffset)? twin = rows.Read() ? (rows.Text(0), rows.Int64(1), rows.Time(2)) : null;
        rows.Reset();
        return twin;
    }

    private void Lose(SqliteDatabase database, string app, long device, string channel)
    {
        var rows = database.Statement(FindOwner).Bind(1, device);
        (UserKey User, string Device)? owner = rows.Read() ? (new UserKey(app, rows.Text(0)), rows.Text(1)) : null;
        rows.Reset();
        if (owner is { } loser)
        {
            SqliteRemovedAddresses.Add(database, loser.User, new RemovedAddress(loser.Device, channel, string.Empty, now, RemovedAddress.Moved));
        }
    }

    private readonly record struct Held(string App, PushAddress Address, long Device, long Position);
}
