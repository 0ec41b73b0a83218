using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>What became of addresses that were taken off their devices: the last of each kind, for <see cref="Limits.RemovedAddressLife"/>. Not the address itself.</summary>
internal static class PostgresRemoved
{
    private const string Upsert = """
        INSERT INTO pnh.removed(app, user_, device, channel, kind, at, reason) VALUES($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT(app, user_, device, channel, kind) DO UPDATE SET at = excluded.at, reason = excluded.reason
        """;

    public static void Add(NpgsqlBatch batch, UserKey user, RemovedAddress removed)
    {
        batch.Add("DELETE FROM pnh.removed WHERE at < $1").With(removed.At - Limits.RemovedAddressLife);
        batch.Add(Upsert).With(user.App).With(user.User).With(removed.Device).With(removed.Channel).With(removed.Kind).With(removed.At).With(removed.Reason);
    }

    /// <summary>The device is gone, and what was said of it. Null = all of the user's.</summary>
    public static void Forget(NpgsqlBatch batch, UserKey user, string? device) => batch
        .Add("DELETE FROM pnh.removed WHERE app = $1 AND user_ = $2 AND device = coalesce($3, device)").With(user.App).With(user.User).With(device);

    public static Task<List<RemovedAddress>> FindAsync(PostgresDatabase database, UserKey user, DateTimeOffset now, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add("SELECT device, channel, kind, at, reason FROM pnh.removed WHERE app = $1 AND user_ = $2 AND at >= $3 ORDER BY device, channel, kind")
            .With(user.App).With(user.User).With(now - Limits.RemovedAddressLife),
        async rows =>
        {
            var found = new List<RemovedAddress>();
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                found.Add(new RemovedAddress(rows.GetString(0), rows.GetString(1), rows.GetString(2), rows.Time(3), rows.TextOrNull(4)));
            }

            return found;
        },
        cancellationToken);
}
