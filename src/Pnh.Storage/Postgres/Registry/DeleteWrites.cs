using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>Users whose last device was deleted, for as long as an event of theirs may be open; of each a hash.</summary>
internal static class PostgresGone
{
    public static void Add(NpgsqlBatch batch, UserHashes hashes, UserKey user, DateTimeOffset now)
    {
        batch.Add("DELETE FROM pnh.gone WHERE at < $1").With(now - Limits.Ttl);
        batch.Add("INSERT INTO pnh.gone(hash, at) VALUES($1, $2) ON CONFLICT(hash) DO UPDATE SET at = excluded.at").With(hashes.Of(user)).With(now);
    }
}

/// <summary>The end of a registration.</summary>
internal sealed class DeleteDeviceWrite(UserKey user, string device, UserHashes hashes, DateTimeOffset now, RegistryCache cache) : PostgresWrite<bool>
{
    private bool _isKnown;
    private bool _isLast;

    public override IEnumerable<(string Kind, string Of)> Keys => [PostgresDeviceStore.KeyOf(user)];

    public override int Ask(NpgsqlBatch batch)
    {
        batch.Add("""
            SELECT EXISTS(SELECT 1 FROM pnh.devices WHERE app = $1 AND user_ = $2 AND device = $3), EXISTS(SELECT 1 FROM pnh.devices WHERE app = $1 AND user_ = $2 AND device <> $3)
            """).With(user.App).With(user.User).With(device);
        return 1;
    }

    public override async Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        await rows.ReadAsync(cancellationToken).ConfigureAwait(false);
        (_isKnown, _isLast) = (rows.GetBoolean(0), !rows.GetBoolean(1));
    }

    public override void Write(NpgsqlBatch batch)
    {
        if (!_isKnown)
        {
            return;
        }

        batch.Add("DELETE FROM pnh.devices WHERE app = $1 AND user_ = $2 AND device = $3").With(user.App).With(user.User).With(device);
        PostgresRemoved.Forget(batch, user, device);
        if (_isLast)
        {
            PostgresGone.Add(batch, hashes, user, now);
        }
    }

    protected override bool Written(IReadOnlyList<int> changed)
    {
        cache.Forget(user);
        return _isKnown;
    }
}

/// <summary>The end of everything of a user.</summary>
internal sealed class DeleteUserWrite(UserKey user, UserHashes hashes, DateTimeOffset now, RegistryCache cache) : PostgresWrite<RemovedUser>
{
    private List<string> _topics = [];
    private int _devices;

    public override IEnumerable<(string Kind, string Of)> Keys => [PostgresDeviceStore.KeyOf(user)];

    public override int Ask(NpgsqlBatch batch)
    {
        batch.Add(PostgresMembers.TopicsOf).With(user.App).With(user.User);
        batch.Add("SELECT count(*) FROM pnh.devices WHERE app = $1 AND user_ = $2").With(user.App).With(user.User);
        return 2;
    }

    public override async Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        if (index == 0)
        {
            _topics = await PostgresDatabase.TextsAsync(rows, cancellationToken).ConfigureAwait(false);
        }
        else
        {
            await rows.ReadAsync(cancellationToken).ConfigureAwait(false);
            _devices = (int)rows.GetInt64(0);
        }
    }

    public override void Write(NpgsqlBatch batch)
    {
        foreach (var table in (string[])["members", "settings", "devices", "removed"])
        {
            batch.Add($"DELETE FROM pnh.{table} WHERE app = $1 AND user_ = $2").With(user.App).With(user.User);
        }

        if (_devices > 0)
        {
            PostgresGone.Add(batch, hashes, user, now);
        }
    }

    protected override RemovedUser Written(IReadOnlyList<int> changed)
    {
        cache.Forget(user);
        _topics.ForEach(topic => cache.Forget(new TopicKey(user.App, topic)));
        return new RemovedUser(_devices, _topics);
    }
}

/// <summary>The end of an address that is dead: compared, then removed.</summary>
internal sealed class RemoveAddressWrite(UserKey user, PushAddress address, DateTimeOffset deadSince, RemovedAddress removed, RegistryCache cache) : PostgresWrite<bool>
{
    private const string Where = "app = $1 AND hash = $2 AND kind = $3 AND value = $4 AND registered <= $5 AND user_ = $6 AND device = $7";
    private readonly byte[] _hash = new PostgresAddress(address).Hash;
    private bool _isThere;

    public override IEnumerable<(string Kind, string Of)> Keys => [PostgresDeviceStore.KeyOf(user), ("address", user.App + Convert.ToHexString(_hash))];

    public override int Ask(NpgsqlBatch batch)
    {
        Add(batch, $"SELECT EXISTS(SELECT 1 FROM pnh.addresses WHERE {Where})");
        return 1;
    }

    public override async Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        await rows.ReadAsync(cancellationToken).ConfigureAwait(false);
        _isThere = rows.GetBoolean(0);
    }

    public override void Write(NpgsqlBatch batch)
    {
        if (_isThere)
        {
            Add(batch, $"DELETE FROM pnh.addresses WHERE {Where}");
            PostgresRemoved.Add(batch, user, removed);
        }
    }

    protected override bool Written(IReadOnlyList<int> changed)
    {
        cache.Forget(user);
        return _isThere;
    }

    private void Add(NpgsqlBatch batch, string sql) => batch.Add(sql)
        .With(user.App).With(_hash).With(address.Kind).With(address.Value).With(deadSince).With(user.User).With(removed.Device);
}
