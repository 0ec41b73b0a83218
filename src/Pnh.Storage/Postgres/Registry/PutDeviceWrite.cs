using Npgsql;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>A registration: its device, its addresses, and those that it takes from other devices. Decided as the embedded registry does.</summary>
/// <param name="user">Whose.</param>
/// <param name="device">The whole record.</param>
/// <param name="mostDevices">A new device beyond so many is refused.</param>
/// <param name="claim">Whether it may take as much from others.</param>
/// <param name="hashes">What stands for a user that is gone.</param>
/// <param name="cache">Forgets everybody whose devices changed.</param>
internal sealed class PutDeviceWrite(UserKey user, Device device, int mostDevices, MoveClaim claim, UserHashes hashes, RegistryCache cache) : PostgresWrite<Registration>
{
    // The same address, in any form; a FID also its tokens, and a token its FID.
    private const string Held = """
        (app = $1 AND hash = ANY($2)) OR (app = $1 AND installation = ANY($3)) OR (app = $1 AND installation = ANY($4) AND kind IN ('fid', 'fid calls=data'))
        """;

    private const string Upsert = """
        INSERT INTO pnh.devices(app, user_, device, platform, locale, version, registered) VALUES($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT(app, user_, device) DO UPDATE SET platform = excluded.platform, locale = excluded.locale, version = excluded.version, registered = excluded.registered
        """;

    private const string Insert = """
        INSERT INTO pnh.addresses(app, hash, installation, user_, device, position, channel, kind, value, scope, registered) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT(app, hash) DO UPDATE SET position = excluded.position, kind = excluded.kind, value = excluded.value, scope = excluded.scope, registered = excluded.registered
        """;

    private readonly PostgresAddress[] _addresses = [.. device.Addresses.Select(static address => new PostgresAddress(address))];
    private readonly HashSet<MovedAddress> _moved = [];
    private bool _isKnown;
    private long _devices;
    private PutDeviceResult _result;

    public override IEnumerable<(string Kind, string Of)> Keys =>
    [
        PostgresDeviceStore.KeyOf(user),
        .. _addresses.Select(address => ("address", user.App + Convert.ToHexString(address.Hash))),
        .. _addresses.Where(static address => address.Installation is not null).Select(address => ("installation", user.App + Convert.ToHexString(address.Installation!))),
    ];

    private byte[][] Hashes => [.. _addresses.Select(static address => address.Hash)];

    public override int Ask(NpgsqlBatch batch)
    {
        batch.Add("""
            SELECT EXISTS(SELECT 1 FROM pnh.devices WHERE app = $1 AND user_ = $2 AND device = $3),
                   (SELECT count(*) FROM (SELECT 1 FROM pnh.devices WHERE app = $1 AND user_ = $2 LIMIT $4) of)
            """).With(user.App).With(user.User).With(device.Id).With(mostDevices);
        if (_addresses.Length == 0)
        {
            return 1;
        }

        AddHeld(batch, $"SELECT user_, device, channel FROM pnh.addresses WHERE {Held}");
        return 2;
    }

    public override async Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        if (index == 0)
        {
            await rows.ReadAsync(cancellationToken).ConfigureAwait(false);
            (_isKnown, _devices) = (rows.GetBoolean(0), rows.GetInt64(1));
            _moved.Clear();
            return;
        }

        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            _moved.Add(new MovedAddress(rows.GetString(0), rows.GetString(1), rows.GetString(2)));
        }

        _moved.RemoveWhere(holder => holder.User == user.User && holder.Device == device.Id);
    }

    public override void Write(NpgsqlBatch batch)
    {
        _result = !_isKnown && _devices >= mostDevices ? PutDeviceResult.TooManyDevices
            : !claim.TryTake(_moved) ? PutDeviceResult.TooManyMoves
            : _isKnown ? PutDeviceResult.Updated : PutDeviceResult.Created;
        if (_result is PutDeviceResult.TooManyDevices or PutDeviceResult.TooManyMoves)
        {
            return;
        }

        batch.Add(Upsert).With(user.App).With(user.User).With(device.Id).With((int)device.Platform).With(device.Locale).With(device.AppVersion).With(device.RegisteredAt);
        if (_isKnown)
        {
            batch.Add("DELETE FROM pnh.addresses WHERE app = $1 AND user_ = $2 AND device = $3").With(user.App).With(user.User).With(device.Id);
        }
        else
        {
            batch.Add("DELETE FROM pnh.gone WHERE hash = $1").With(hashes.Of(user));
        }

        // All that is taken away goes first, so that two addresses of one registration never take each other away.
        if (_moved.Count > 0)
        {
            AddHeld(batch, $"DELETE FROM pnh.addresses WHERE {Held}");
        }

        foreach (var holder in _moved)
        {
            PostgresRemoved.Add(batch, new UserKey(user.App, holder.User), new RemovedAddress(holder.Device, holder.Channel, string.Empty, device.RegisteredAt, RemovedAddress.Moved));
        }

        for (var i = 0; i < _addresses.Length; i++)
        {
            var address = device.Addresses[i];
            batch.Add(Insert).With(user.App).With(_addresses[i].Hash).With(_addresses[i].Installation).With(user.User).With(device.Id).With(i)
                .With(address.Channel).With(address.Kind).With(address.Value).With(address.Scope).With(address.RegisteredAt);
        }
    }

    public override void Fail(Exception fault)
    {
        claim.GiveBack();
        base.Fail(fault);
    }

    protected override Registration Written(IReadOnlyList<int> changed)
    {
        if (_result is PutDeviceResult.TooManyDevices or PutDeviceResult.TooManyMoves)
        {
            return new Registration(_result, [], claim.RetryAfter);
        }

        cache.Forget(user);
        foreach (var holder in _moved)
        {
            cache.Forget(new UserKey(user.App, holder.User));
        }

        return new Registration(_result, [.. _moved]);
    }

    private void AddHeld(NpgsqlBatch batch, string sql) => batch.Add(sql).With(user.App).With(Hashes)
        .With([.. _addresses.Where(static address => address.IsFid).Select(static address => address.Installation!)])
        .With([.. _addresses.Where(static address => address is { IsFid: false, Installation: not null }).Select(static address => address.Installation!)]);
}
