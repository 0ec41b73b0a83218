using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// The registry of one node: <c>registry.db</c> in the data folder, with an in-memory cache of users. Publisher keys and
/// erasures live in the same file (<see cref="Keys"/>, <see cref="Erasures"/>). Thread-safe. A <see cref="CancellationToken"/> is honoured until a write is queued; from then on it is written.
/// </summary>
public sealed partial class SqliteDeviceStore : IDeviceStore, IAsyncDisposable
{
    private readonly TextPool _texts = new();
    private readonly SqliteGoneUsers _gone;
    private readonly TimeProvider _time;
    private readonly RegistryCache _cache;
    private volatile bool _hasMembers;

    private SqliteDeviceStore(SqliteEngine engine, SqliteGoneUsers gone, SqliteErasures erasures, TimeProvider time, int cachedUsers)
    {
        (Engine, _gone, _time) = (engine, gone, time);
        erasures.Use(engine);
        Erasures = erasures;
        _cache = new RegistryCache(new SqliteRegistryReads(engine, gone, _texts), cachedUsers);
        Keys = new SqlitePublisherKeys(engine);
    }

    /// <summary>Publisher keys made at run time.</summary>
    public IPublisherKeyStore Keys { get; }

    /// <summary>Erasures of users.</summary>
    public IErasureStore Erasures { get; }

    /// <summary>Closed for good after a failed sync or on a damaged file: every write is refused until it is opened again.</summary>
    public bool IsDamaged => Engine.IsDamaged;

    /// <summary>Why registrations are refused now, in one line without paths; null = they are taken. It goes by itself, unless <see cref="IsDamaged"/>.</summary>
    public string? Refusal => Engine.Writer.Refusal?.Message;

    /// <summary>Another hub has the data folder: nothing is written any more.</summary>
    public void Lose() => Engine.Writer.Close(FolderFault.Lost());

    internal SqliteEngine Engine { get; }

    /// <summary>What the users in memory weigh (<see cref="UserWeight"/>), for tests.</summary>
    internal int CachedWeight => _cache.Weight;

    /// <summary>Opens or creates <c>registry.db</c>. Throws <see cref="DataFolderException"/> with what to do when that cannot be.</summary>
    /// <param name="folder">An existing folder that this process alone holds (<see cref="DataFolder"/>).</param>
    /// <param name="time">Measures commits; says when a user's last device was deleted.</param>
    /// <param name="cachedUsers">How many users with one device each are kept in memory, about; more devices and long texts count more.</param>
    /// <param name="onSync">Told the duration of every commit (fsync included) on the writer's thread: quick, must not throw. Null = nobody.</param>
    /// <param name="isCopy">A copy of a folder, which is only counted: nothing is brought along or made in it.</param>
    /// <param name="respell">An address that an older build kept, in the spelling of today; null = it has it. None = addresses stay as they are.</param>
    public static SqliteDeviceStore Open(
        string folder, TimeProvider time, int cachedUsers = 100_000, Action<TimeSpan>? onSync = null, bool isCopy = false, Func<PushAddress, PushAddress?>? respell = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(cachedUsers);
        var hasMembers = false;
        var hashes = new UserHashes(isCopy ? null : folder);
        var (gone, erasures) = (new SqliteGoneUsers(hashes), new SqliteErasures(hashes, time));
        var engine = SqliteEngine.Open(
            Path.Combine(folder, "registry.db"), SqliteRegistrySchema.Schema, time, onSync, database => gone.Tidy(database, time.GetUtcNow()) || erasures.Tidy(database),
            database =>
            {
                hasMembers = SqliteMembers.HasAny(database);
                gone.Opened(database);
                erasures.Opened(database);
                if (!isCopy)
                {
                    if (respell is not null)
                    {
                        new SqliteAddressSpelling(respell, time.GetUtcNow()).Bring(database);
                    }

                    SqliteErasedPages.Scrub(database, time.GetUtcNow());
                }
            });
        return new SqliteDeviceStore(engine, gone, erasures, time, cachedUsers) { _hasMembers = hasMembers };
    }

    /// <inheritdoc/>
    public ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken) => _cache.GetUserAsync(user, cancellationToken);

    /// <inheritdoc/>
    public bool TryGetUser(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot) => _cache.TryGetUser(user, out snapshot);

    /// <inheritdoc/>
    public async Task<Registration> PutDeviceAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken)
    {
        var touched = new HashSet<UserKey>();
        var moved = new HashSet<MovedAddress>();
        var claim = new MoveClaim(moves, user);
        try
        {
            var result = await WriteAsync(
                touched, database => SqliteDeviceWrites.Put(database, _gone, user, device, mostDevices, claim, touched, moved), cancellationToken).ConfigureAwait(false);
            var isWritten = result is PutDeviceResult.Created or PutDeviceResult.Updated;
            return new Registration(result, isWritten ? [.. moved] : [], claim.RetryAfter);
        }
        catch
        {
            claim.GiveBack();
            throw;
        }
    }

    /// <inheritdoc/>
    public Task<bool> DeleteDeviceAsync(UserKey user, string device, CancellationToken cancellationToken) =>
        WriteAsync([user], database => SqliteDeviceWrites.Delete(database, _gone, user, device, _time.GetUtcNow()), cancellationToken);

    /// <inheritdoc/>
    public Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        List<string> topics = [];
        return Engine.Writer.WriteAsync(
            database =>
            {
                topics = SqliteMembers.RemoveAll(database, user);
                SqliteUserSettings.Delete(database, user);
                return new RemovedUser(SqliteDeviceWrites.DeleteAll(database, _gone, user, _time.GetUtcNow()), topics);
            },
            () =>
            {
                Engine.Writer.ClearLog();
                _cache.Forget(user);
                topics.ForEach(topic => _cache.Forget(new TopicKey(user.App, topic)));
            });
    }

    /// <inheritdoc/>
    public Task<bool> RemoveAddressAsync(
        UserKey user, string device, PushAddress address, DateTimeOffset deadSince, string? reason, CancellationToken cancellationToken)
    {
        var removed = new RemovedAddress(device, address.Channel, address.Kind, _time.GetUtcNow(), reason);
        return WriteAsync([user], database => SqliteDeviceWrites.RemoveAddress(database, user, address, deadSince, removed), cancellationToken);
    }

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<RemovedAddress>> FindRemovedAddressesAsync(UserKey user, CancellationToken cancellationToken) => await Engine.Readers.ReadAsync(
        (user, now: _time.GetUtcNow()), static (database, at) => SqliteRemovedAddresses.Find(database, at.user, at.now), cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public Task RestAddressAsync(RestingAddress resting, CancellationToken cancellationToken) =>
        WriteAsync([], database => SqliteRestingAddresses.Add(database, resting), cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<RestingAddress>> FindRestingAddressesAsync(CancellationToken cancellationToken) =>
        await Engine.Readers.ReadAsync(_texts, static (database, texts) => SqliteRestingAddresses.Find(database, texts), cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public Task ReleaseAddressesAsync(string channel, string account, CancellationToken cancellationToken) =>
        WriteAsync([], database => SqliteRestingAddresses.Release(database, channel, account), cancellationToken);

    /// <inheritdoc/>
    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken) =>
        WriteAsync([user], database => SqliteUserSettings.Put(database, user, settings), cancellationToken);

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<UserSnapshot>> GetUsersAsync(string app, IReadOnlyList<string> users, bool areHere, CancellationToken cancellationToken) =>
        _cache.GetUsersAsync(app, users, areHere, cancellationToken);

    /// <inheritdoc/>
    public IAsyncEnumerable<OwnedDevice> ExportAsync(string app, CancellationToken cancellationToken) => _cache.ExportAsync(app, cancellationToken);

    /// <summary>To which data folder it belongs.</summary>
    public Task<FolderMark> ReadFolderAsync(CancellationToken cancellationToken) =>
        Engine.Readers.ReadAsync(0, static (database, _) => SqliteFolderMark.Get(database), cancellationToken);

    /// <summary>From now on it belongs to the folder with that id.</summary>
    public Task PutFolderAsync(int folder) => Engine.Writer.WriteAsync(database => SqliteFolderMark.Put(database, folder));

    /// <summary>Writes what is queued and closes the file. Call once, after the last user of the store is gone.</summary>
    public ValueTask DisposeAsync() => Engine.DisposeAsync();

    /// <summary>The cache forgets everyone touched after the commit and before the caller hears of it, so no later read is stale.</summary>
    private Task<T> WriteAsync<T>(HashSet<UserKey> touched, Func<SqliteDatabase, T> write, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return Engine.Writer.WriteAsync(write, () =>
        {
            foreach (var user in touched)
            {
                _cache.Forget(user);
            }
        });
    }
}
