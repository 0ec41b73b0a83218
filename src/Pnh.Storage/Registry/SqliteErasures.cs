using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// Erasures in the registry's database. A row whose counts are null has not ended. When each user's last one began is in memory too (some 60 bytes a user): it is asked for with each client token.
/// </summary>
/// <param name="hashes">What stands for a user.</param>
/// <param name="time">The hub's clock; the machine's, by which tokens go, is behind it.</param>
internal sealed class SqliteErasures(UserHashes hashes, TimeProvider time) : IErasureStore
{
    private const int Slice = 256;
    private const string FindOpen = "SELECT id, at FROM erasures WHERE hash = ? AND devices IS NULL";
    private const string FindEnded = "SELECT id FROM erasures WHERE hash = ? AND devices IS NOT NULL ORDER BY barrier DESC LIMIT 1";
    private const string IsEnded = "SELECT 1 FROM erasures WHERE id = ? AND devices IS NOT NULL";
    private const string Insert = "INSERT INTO erasures(id, hash, app, at, barrier) VALUES(?, ?, ?, ?, ?)";
    private const string Raise = "UPDATE erasures SET barrier = ? WHERE id = ?";
    private const string Drop = "DELETE FROM erasures WHERE id = ?";
    private const string Find = "SELECT id, at, devices, topics, sessions, withdrawn, gone_by FROM erasures WHERE app = ? AND id = ? AND devices IS NOT NULL";
    private const string Over = "SELECT id, hash FROM erasures WHERE barrier < ? LIMIT ?";

    // Two of one user that run beside each other share a row, and each adds what it found.
    private const string End = """
        INSERT INTO erasures(id, hash, app, at, barrier, devices, topics, sessions, withdrawn, gone_by) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT(id) DO UPDATE SET devices = coalesce(devices, 0) + excluded.devices, topics = coalesce(topics, 0) + excluded.topics,
            sessions = coalesce(sessions, 0) + excluded.sessions, withdrawn = coalesce(withdrawn, 0) + excluded.withdrawn, gone_by = coalesce(excluded.gone_by, gone_by)
        """;

    private static readonly TimeSpan PruneEvery = TimeSpan.FromHours(1);
    private readonly ConcurrentDictionary<UInt128, long> _barriers = new();
    private readonly TimeProvider _wall = SteadyClock.WallOf(time);
    private SqliteEngine? _engine;
    private DateTimeOffset _prunedAt = DateTimeOffset.MinValue;

    /// <summary>Before the first call of another member: what the file has.</summary>
    public void Opened(SqliteDatabase database)
    {
        var rows = database.Statement("SELECT hash, max(barrier) FROM erasures GROUP BY hash");
        while (rows.Read())
        {
            _barriers[Number(rows.Bytes(0))] = rows.Int64(1);
        }

        rows.Reset();
    }

    /// <summary>Once, behind <see cref="Opened"/>.</summary>
    public void Use(SqliteEngine engine) => _engine = engine;

    /// <inheritdoc/>
    public DateTimeOffset? FindBarrier(UserKey user) =>
        !_barriers.IsEmpty && hashes.Find(user) is { } hash && _barriers.TryGetValue(Number(hash), out var ticks) ? new DateTimeOffset(ticks, TimeSpan.Zero) : null;

    /// <inheritdoc/>
    public Task<StartedErasure> BeginAsync(UserKey user, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var (at, barrier) = (time.GetUtcNow(), _wall.GetUtcNow());
        UInt128 number = default;
        return _engine!.Writer.WriteAsync(
            database =>
            {
                var hash = hashes.Of(user);
                number = Number(hash);
                return FindOpenOf(database, user, hash, barrier) is { } open ? GoOn(database, open) : Start(database, hash, new StartedErasure(user, NewId(), at, barrier, IsNew: true));
            },
            () => _barriers.AddOrUpdate(number, barrier.UtcTicks, (_, known) => Math.Max(known, barrier.UtcTicks)));
    }

    /// <inheritdoc/>
    public Task<ErasureReceipt> EndAsync(StartedErasure started, ErasedParts found, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return _engine!.Writer.WriteAsync(database =>
        {
            var hash = hashes.Of(started.User);
            if (found.IsNothing && started.IsNew && !database.Statement(IsEnded).Bind(1, started.Id).IsThere() && EndedOf(database, hash) is { } earlier)
            {
                database.Statement(Drop).Bind(1, started.Id).Execute();
                database.Statement(Raise).Bind(1, started.Barrier).Bind(2, earlier).Execute();
                return Receipt(database, started.User.App, earlier)!;
            }

            var row = database.Statement(End).Bind(1, started.Id).Bind(2, hash).Bind(3, started.User.App).Bind(4, started.At).Bind(5, started.Barrier)
                .Bind(6, found.Devices).Bind(7, found.Topics).Bind(8, found.Sessions).Bind(9, found.Withdrawn);
            (found.GoneBy is { } goneBy ? row.Bind(10, goneBy) : row.Bind(10, (string?)null)).Execute();
            return Receipt(database, started.User.App, started.Id)!;
        });
    }

    /// <inheritdoc/>
    public async ValueTask<ErasureReceipt?> FindAsync(string app, string id, CancellationToken cancellationToken) =>
        await _engine!.Readers.ReadAsync((app, id), static (database, at) => Receipt(database, at.app, at.id), cancellationToken).ConfigureAwait(false);

    /// <summary>A slice of what is over. True = there is more.</summary>
    public bool Tidy(SqliteDatabase database)
    {
        var now = time.GetUtcNow();
        if (hashes.IsOfCopy || now - _prunedAt < PruneEvery)
        {
            return false;
        }

        var limit = _wall.GetUtcNow() - Limits.ErasureLife;
        var over = FindOver(database, limit);
        foreach (var (id, user) in over)
        {
            database.Statement(Drop).Bind(1, id).Execute();
            if (_barriers.TryGetValue(user, out var ticks) && ticks < limit.UtcTicks)
            {
                _barriers.TryRemove(KeyValuePair.Create(user, ticks));
            }
        }

        _prunedAt = over.Count < Slice ? now : _prunedAt;
        return over.Count == Slice;
    }

    private static List<(string Id, UInt128 User)> FindOver(SqliteDatabase database, DateTimeOffset limit)
    {
        var over = new List<(string Id, UInt128 User)>();
        var rows = database.Statement(Over).Bind(1, limit).Bind(2, Slice);
        while (rows.Read())
        {
            over.Add((rows.Text(0), Number(rows.Bytes(1))));
        }

        rows.Reset();
        return over;
    }

    private static StartedErasure? FindOpenOf(SqliteDatabase database, UserKey user, byte[] hash, DateTimeOffset barrier)
    {
        var rows = database.Statement(FindOpen).Bind(1, hash);
        StartedErasure? open = rows.Read() ? new StartedErasure(user, rows.Text(0), rows.Time(1), barrier, IsNew: false) : null;
        rows.Reset();
        return open;
    }

    private static StartedErasure GoOn(SqliteDatabase database, StartedErasure open)
    {
        database.Statement(Raise).Bind(1, open.Barrier).Bind(2, open.Id).Execute();
        return open;
    }

    private static StartedErasure Start(SqliteDatabase database, byte[] hash, StartedErasure started)
    {
        database.Statement(Insert).Bind(1, started.Id).Bind(2, hash).Bind(3, started.User.App).Bind(4, started.At).Bind(5, started.Barrier).Execute();
        return started;
    }

    private static string? EndedOf(SqliteDatabase database, byte[] hash)
    {
        var rows = database.Statement(FindEnded).Bind(1, hash);
        var id = rows.Read() ? rows.Text(0) : null;
        rows.Reset();
        return id;
    }

    private static ErasureReceipt? Receipt(SqliteDatabase database, string app, string id)
    {
        var rows = database.Statement(Find).Bind(1, app).Bind(2, id);
        var receipt = rows.Read()
            ? new ErasureReceipt(
                rows.Text(0), rows.Time(1), new ErasedParts(rows.Int32(2), rows.Int32(3), rows.Int32(4), rows.Int32(5), rows.IsNull(6) ? null : rows.Time(6)))
            : null;
        rows.Reset();
        return receipt;
    }

    private static string NewId() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));

    private static UInt128 Number(ReadOnlySpan<byte> hash) => hash.Length == UserHashes.Bytes ? BinaryPrimitives.ReadUInt128LittleEndian(hash) : default;
}
