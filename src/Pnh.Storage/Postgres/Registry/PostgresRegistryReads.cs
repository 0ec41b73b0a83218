using Npgsql;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>Reads of the registry, each one round trip on a connection of the pool.</summary>
internal sealed class PostgresRegistryReads(PostgresDatabase database, UserHashes hashes, TextPool texts) : IRegistryReads
{
    // One row per address, a device without any as one row with nulls; columns 0-5 the device, 6-10 the address.
    private const string Columns = "SELECT d.user_, d.device, d.platform, d.locale, d.version, d.registered, a.channel, a.kind, a.value, a.scope, a.registered";

    private const string Join = "LEFT JOIN pnh.addresses a ON a.app = d.app AND a.user_ = d.user_ AND a.device = d.device";

    private const string OfUsers = $"{Columns} FROM pnh.devices d {Join} WHERE d.app = $1 AND d.user_ = ANY($2) ORDER BY d.user_, d.registered, d.device, a.position";

    private const string AfterDevice = $"""
        {Columns} FROM (SELECT * FROM pnh.devices WHERE app = $1 AND (user_, device) > ($2, $3) ORDER BY user_, device LIMIT $4) d
        {Join} ORDER BY d.user_, d.device, a.position
        """;

    /// <inheritdoc/>
    public Task<UserSnapshot[]> ReadUsersAsync(string app, IReadOnlyList<string> users, CancellationToken cancellationToken)
    {
        var ofUser = users.Distinct(StringComparer.Ordinal).ToDictionary(user => user, user => hashes.Of(new UserKey(app, user)), StringComparer.Ordinal);
        return database.ReadAsync(
            batch =>
            {
                batch.Add(OfUsers).With(app).With(users);
                batch.Add(PostgresSettings.OfUsers).With(app).With(users);
                batch.Add("SELECT hash FROM pnh.gone WHERE hash = ANY($1)").With(ofUser.Values.ToArray());
            },
            async rows =>
            {
                var devices = (await CollectAsync(rows, cancellationToken).ConfigureAwait(false)).ToLookup(static owned => owned.User, static owned => owned.Device, StringComparer.Ordinal);
                await rows.NextResultAsync(cancellationToken).ConfigureAwait(false);
                var settings = await PostgresSettings.ReadAsync(rows, cancellationToken).ConfigureAwait(false);
                await rows.NextResultAsync(cancellationToken).ConfigureAwait(false);
                var gone = new HashSet<string>(StringComparer.Ordinal);
                while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
                {
                    gone.Add(Convert.ToHexString(rows.Bytes(0)));
                }

                return users.Select(user => Snapshot([.. devices[user]], settings.GetValueOrDefault(user), gone.Contains(Convert.ToHexString(ofUser[user])))).ToArray();
            },
            cancellationToken);
    }

    /// <inheritdoc/>
    public Task<List<string>> ReadMembersAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add("SELECT user_ FROM pnh.members WHERE app = $1 AND topic = $2 AND user_ > $3 ORDER BY user_ LIMIT $4").With(topic.App).With(topic.Topic).With(after).With(most),
        rows => PostgresDatabase.TextsAsync(rows, cancellationToken),
        cancellationToken);

    /// <inheritdoc/>
    public Task<List<OwnedDevice>> ReadDevicesAsync(string app, string user, string device, int most, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add(AfterDevice).With(app).With(user).With(device).With(most), rows => CollectAsync(rows, cancellationToken), cancellationToken);

    private static UserSnapshot Snapshot(Device[] devices, UserSettings? settings, bool isGone) => devices.Length == 0 && settings is null
        ? isGone ? UserSnapshot.Gone : UserSnapshot.Empty
        : new UserSnapshot(devices, settings ?? UserSettings.Default);

    private async Task<List<OwnedDevice>> CollectAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        var owned = new List<OwnedDevice>();
        var addresses = new List<PushAddress>();
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            var (user, id) = (rows.GetString(0), rows.GetString(1));
            if (owned.Count == 0 || owned[^1].Device.Id != id || owned[^1].User != user)
            {
                TakeAddresses(owned, addresses);
                owned.Add(new OwnedDevice(user, ReadDevice(rows, id)));
            }

            if (!rows.IsNull(6))
            {
                addresses.Add(new PushAddress(texts.Share(rows.GetString(6)), texts.Share(rows.GetString(7)), rows.GetString(8), texts.Share(rows.GetString(9)), rows.Time(10)));
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

    private Device ReadDevice(NpgsqlDataReader row, string id) => new()
    {
        Id = id,
        Platform = (Platform)row.GetInt16(2),
        Locale = texts.Share(row.TextOrNull(3)),
        AppVersion = texts.Share(row.TextOrNull(4)),
        RegisteredAt = row.Time(5),
    };
}
