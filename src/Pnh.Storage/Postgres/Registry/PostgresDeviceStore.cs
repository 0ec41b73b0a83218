using System.Diagnostics.CodeAnalysis;
using Npgsql;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>
/// The registry in PostgreSQL: one session writes it, under its lock; a pool reads it; users and topics are kept in memory. Thread-safe. A <see cref="CancellationToken"/> is honoured until a write is queued; from
/// then on it is written.
/// </summary>
public sealed class PostgresDeviceStore : IDeviceStore, IAsyncDisposable
{
    private readonly PostgresDatabase _database;
    private readonly PostgresWriter _writer;
    private readonly UserHashes _hashes;
    private readonly RegistryCache _cache;
    private readonly TimeProvider _time;
    private volatile bool _hasMembers;

    private PostgresDeviceStore(PostgresDatabase database, PostgresWriter writer, bool hasMembers, TimeProvider time, int cachedUsers)
    {
        (_database, _writer, _hasMembers, _time) = (database, writer, hasMembers, time);
        _hashes = UserHashes.Under(database.UserKey);
        _cache = new RegistryCache(new PostgresRegistryReads(database, _hashes, new TextPool()), cachedUsers);
        Keys = new PostgresPublisherKeys(database, writer);
    }

    /// <summary>Publisher keys made at run time.</summary>
    public IPublisherKeyStore Keys { get; }

    /// <summary>Why registrations are refused now, in one line; null = they are taken. It goes by itself.</summary>
    public string? Refusal => _writer.Refusal;

    /// <summary>
    /// Opens the registry, brings its tables along and takes its lock. Throws <see cref="DataFolderException"/> with what to do when the database may not be used, and <see cref="StoreUnavailableException"/> when it cannot be
    /// reached or another process has it.
    /// </summary>
    /// <param name="connectionString">As Npgsql has it; options of sessions and pools are set here.</param>
    /// <param name="time">Says when a user's last device was deleted.</param>
    /// <param name="cachedUsers">How many users with one device each are kept in memory, about; more devices and long texts count more.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public static async Task<PostgresDeviceStore> OpenAsync(string connectionString, TimeProvider time, int cachedUsers = 100_000, CancellationToken cancellationToken = default)
    {
        var database = await PostgresDatabase.OpenAsync(connectionString, cancellationToken).ConfigureAwait(false);
        PostgresWriter? writer = null;
        try
        {
            writer = new PostgresWriter(await OpenSessionAsync(cancellationToken).ConfigureAwait(false), OpenSessionAsync);
            return new PostgresDeviceStore(database, writer, await PostgresMembers.HasAnyAsync(database, cancellationToken).ConfigureAwait(false), time, cachedUsers);
        }
        catch
        {
            if (writer is not null)
            {
                await writer.DisposeAsync().ConfigureAwait(false);
            }

            await database.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        Task<NpgsqlConnection> OpenSessionAsync(CancellationToken stop) => database.OpenWriterAsync(PostgresLock.Registry, stop);
    }

    /// <inheritdoc/>
    public ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken) => _cache.GetUserAsync(user, cancellationToken);

    /// <inheritdoc/>
    public bool TryGetUser(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot) => _cache.TryGetUser(user, out snapshot);

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<UserSnapshot>> GetUsersAsync(string app, IReadOnlyList<string> users, bool areHere, CancellationToken cancellationToken) =>
        _cache.GetUsersAsync(app, users, areHere, cancellationToken);

    /// <inheritdoc/>
    public Task<Registration> PutDeviceAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new PutDeviceWrite(user, device, mostDevices, new MoveClaim(moves, user), _hashes, _cache), cancellationToken);

    /// <inheritdoc/>
    public Task<bool> DeleteDeviceAsync(UserKey user, string device, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new DeleteDeviceWrite(user, device, _hashes, _time.GetUtcNow(), _cache), cancellationToken);

    /// <inheritdoc/>
    public Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new DeleteUserWrite(user, _hashes, _time.GetUtcNow(), _cache), cancellationToken);

    /// <inheritdoc/>
    public Task<bool> RemoveAddressAsync(UserKey user, string device, PushAddress address, DateTimeOffset deadSince, string? reason, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new RemoveAddressWrite(user, address, deadSince, new RemovedAddress(device, address.Channel, address.Kind, _time.GetUtcNow(), reason), _cache), cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<RemovedAddress>> FindRemovedAddressesAsync(UserKey user, CancellationToken cancellationToken) =>
        await PostgresRemoved.FindAsync(_database, user, _time.GetUtcNow(), cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public Task RestAddressAsync(RestingAddress resting, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new PlainWrite<bool>([KeyOf(resting.User)], batch => PostgresResting.Add(batch, resting), static _ => true), cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<RestingAddress>> FindRestingAddressesAsync(CancellationToken cancellationToken) =>
        await PostgresResting.FindAsync(_database, cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public Task ReleaseAddressesAsync(string channel, string account, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new PlainWrite<bool>([], batch => PostgresResting.Release(batch, channel, account), static _ => true), cancellationToken);

    /// <inheritdoc/>
    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken) =>
        _writer.WriteAsync(new PlainWrite<bool>([KeyOf(user)], batch => PostgresSettings.Put(batch, user, settings), _ => Forget(user)), cancellationToken);

    /// <inheritdoc/>
    public Task<AddMemberResult> AddMemberAsync(string app, string topic, string user, CancellationToken cancellationToken)
    {
        // Before it is written: a session that opens meanwhile looks in vain once, and never misses a member.
        _hasMembers = true;
        return _writer.WriteAsync(new AddMemberWrite(new TopicKey(app, topic), user, _cache), cancellationToken);
    }

    /// <inheritdoc/>
    public Task<bool> RemoveMemberAsync(string app, string topic, string user, CancellationToken cancellationToken) => _writer.WriteAsync(
        new PlainWrite<bool>(
            [KeyOf(new UserKey(app, user))],
            batch => batch.Add("DELETE FROM pnh.members WHERE app = $1 AND topic = $2 AND user_ = $3").With(app).With(topic).With(user),
            changed => Forget(new TopicKey(app, topic)) && changed[0] > 0),
        cancellationToken);

    /// <inheritdoc/>
    public IAsyncEnumerable<string> GetMembersAsync(string app, string topic, CancellationToken cancellationToken) => _cache.GetMembersAsync(new TopicKey(app, topic), cancellationToken);

    /// <inheritdoc/>
    public ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken) =>
        _cache.GetMemberPageAsync(topic, after, most, cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<UserTopics> FindTopicsAsync(UserKey user, CancellationToken cancellationToken) =>
        _hasMembers ? await PostgresMembers.FindTopicsAsync(_database, user, cancellationToken).ConfigureAwait(false) : UserTopics.None;

    /// <inheritdoc/>
    public bool HasMembers => _hasMembers;

    /// <inheritdoc/>
    public async ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken) =>
        await PostgresMembers.CountAsync(_database, topic, cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members) => _cache.TryGetMembers(topic, out members);

    /// <inheritdoc/>
    public long MembersVersion => _cache.MembersVersion;

    /// <inheritdoc/>
    public IAsyncEnumerable<OwnedDevice> ExportAsync(string app, CancellationToken cancellationToken) => _cache.ExportAsync(app, cancellationToken);

    /// <summary>Writes what is queued and ends the sessions. Call once, after the last user of the store is gone.</summary>
    public async ValueTask DisposeAsync()
    {
        await _writer.DisposeAsync().ConfigureAwait(false);
        await _database.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>What a write of the user names in its keys.</summary>
    internal static (string Kind, string Of) KeyOf(UserKey user) => ("user", $"{user.App}\n{user.User}");

    private bool Forget(UserKey user)
    {
        _cache.Forget(user);
        return true;
    }

    private bool Forget(TopicKey topic)
    {
        _cache.Forget(topic);
        return true;
    }
}
