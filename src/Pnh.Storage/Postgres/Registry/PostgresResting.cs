using Npgsql;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>Addresses that get no pushes for now. A row goes with its device; that of an address which the device no longer has counts for nothing, and goes with the next release.</summary>
internal static class PostgresResting
{
    private const string Insert = """
        INSERT INTO pnh.resting(app, user_, device, channel, kind, value, account, reason, at)
        SELECT app, user_, device, channel, kind, value, $7, $8, $9 FROM pnh.addresses WHERE app = $1 AND user_ = $2 AND device = $3 AND channel = $4 AND kind = $5 AND value = $6
        ON CONFLICT(app, user_, device, channel, kind) DO UPDATE SET value = excluded.value, account = excluded.account, reason = excluded.reason, at = excluded.at
        """;

    private const string All = """
        SELECT a.app, a.user_, a.device, a.channel, a.kind, a.value, a.scope, a.registered, r.account, r.reason, r.at
        FROM pnh.resting r JOIN pnh.addresses a USING(app, user_, device, channel, kind, value)
        """;

    public static void Add(NpgsqlBatch batch, RestingAddress resting)
    {
        var (user, address) = (resting.User, resting.Address);
        batch.Add(Insert).With(user.App).With(user.User).With(resting.Device).With(address.Channel).With(address.Kind).With(address.Value).With(resting.Account).With(resting.Reason).With(resting.At);
    }

    public static void Release(NpgsqlBatch batch, string channel, string account) =>
        batch.Add("DELETE FROM pnh.resting WHERE channel = $1 AND account = $2").With(channel).With(account);

    public static Task<List<RestingAddress>> FindAsync(PostgresDatabase database, CancellationToken cancellationToken) => database.ReadAsync(
        static batch => batch.Add(All),
        async rows =>
        {
            var found = new List<RestingAddress>();
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                found.Add(new RestingAddress(
                    new UserKey(rows.GetString(0), rows.GetString(1)),
                    rows.GetString(2),
                    new PushAddress(rows.GetString(3), rows.GetString(4), rows.GetString(5), rows.GetString(6), rows.Time(7)),
                    rows.GetString(8),
                    rows.TextOrNull(9),
                    rows.Time(10)));
            }

            return found;
        },
        cancellationToken);
}
