using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Core.Stores;

/// <summary>
/// The device registry with settings and topic membership. All members are thread-safe. A write has reached stable storage when its task
/// completes; a read that starts later sees it. Storage faults (disk full, I/O error) throw <see cref="StoreUnavailableException"/> with
/// nothing half-written; they never look like "not found".
/// </summary>
public interface IDeviceStore
{
    /// <summary>Devices and settings of a user; <see cref="UserSnapshot.Empty"/> when unknown. Completes synchronously when cached.</summary>
    ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken);

    /// <summary>The same if it is in memory; false = <see cref="GetUserAsync"/> has to read it. Never waits, never throws.</summary>
    bool TryGetUser(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot)
    {
        snapshot = null;
        return false;
    }

    /// <summary>
    /// Writes a whole registration. An address that another device of the app holds moves to this one (the other keeps its record).
    /// Registering a FID takes away FCM tokens that start with it and a colon, and the other way round. A new device of a user who has
    /// <paramref name="mostDevices"/> already is refused, and so is one that takes from other users more than <paramref name="moves"/> lets it (null = anything).
    /// </summary>
    Task<Registration> PutDeviceAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken);

    /// <summary>Removes a registration; false when there was none.</summary>
    Task<bool> DeleteDeviceAsync(UserKey user, string device, CancellationToken cancellationToken);

    /// <summary>Removes everything of a user at once: devices, settings, memberships.</summary>
    Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken);

    /// <summary>
    /// Takes a dead address off its device, unless a client confirmed it after <paramref name="deadSince"/>: compare and remove.
    /// The device's record stays, and says so for <see cref="Limits.RemovedAddressLife"/> with the reason. True when it was removed.
    /// </summary>
    Task<bool> RemoveAddressAsync(UserKey user, string device, PushAddress address, DateTimeOffset deadSince, string? reason, CancellationToken cancellationToken);

    /// <summary>Which addresses were taken off the user's devices in the last <see cref="Limits.RemovedAddressLife"/>: of each device the last of a kind, also where it has another one by now.</summary>
    ValueTask<IReadOnlyList<RemovedAddress>> FindRemovedAddressesAsync(UserKey user, CancellationToken cancellationToken) => new([]);

    /// <summary>Notes that an address rests, if its device still has it.</summary>
    Task RestAddressAsync(RestingAddress resting, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Every address that rests and that its device still has.</summary>
    ValueTask<IReadOnlyList<RestingAddress>> FindRestingAddressesAsync(CancellationToken cancellationToken) => new([]);

    /// <summary>Ends the rest of an account's addresses.</summary>
    Task ReleaseAddressesAsync(string channel, string account, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Replaces the user's settings.</summary>
    Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken);

    /// <summary>Adds a member to a topic; not one who is in <see cref="Limits.TopicsPerUser"/> already.</summary>
    Task<AddMemberResult> AddMemberAsync(string app, string topic, string user, CancellationToken cancellationToken);

    /// <summary>Removes a member from a topic; false when it was none.</summary>
    Task<bool> RemoveMemberAsync(string app, string topic, string user, CancellationToken cancellationToken);

    /// <summary>Members of a topic in ordinal order, streamed; nothing when the topic is unknown.</summary>
    IAsyncEnumerable<string> GetMembersAsync(string app, string topic, CancellationToken cancellationToken);

    /// <summary>
    /// The topic's next members after one, in the order of their ids' UTF-8 bytes. A change made meanwhile is seen when it lies after what was read.
    /// </summary>
    /// <param name="topic">Which; an unknown one has none.</param>
    /// <param name="after">The last one that was given; empty = from the first.</param>
    /// <param name="most">1 or more.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken);

    /// <summary>The topics that the user is a member of, and what he wants of them; none when the user is unknown. One read, however many members those have.</summary>
    ValueTask<UserTopics> FindTopicsAsync(UserKey user, CancellationToken cancellationToken);

    /// <summary>False when no topic of any app has a member, so that <see cref="FindTopicsAsync"/> would find none. True once there was one since the start. Never waits, never throws.</summary>
    bool HasMembers { get; }

    /// <summary>How many members the topic has; 0 also when it is unknown.</summary>
    ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken);

    /// <summary>Devices and settings of several users of an app, in their order, with fewer reads than one by one.</summary>
    /// <param name="app">Whose users.</param>
    /// <param name="users">Their ids.</param>
    /// <param name="areHere">True = they have sessions: worth keeping in memory, since the next event to them comes soon.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    async ValueTask<IReadOnlyList<UserSnapshot>> GetUsersAsync(string app, IReadOnlyList<string> users, bool areHere, CancellationToken cancellationToken)
    {
        var snapshots = new UserSnapshot[users.Count];
        for (var i = 0; i < snapshots.Length; i++)
        {
            snapshots[i] = await GetUserAsync(new UserKey(app, users[i]), cancellationToken).ConfigureAwait(false);
        }

        return snapshots;
    }

    /// <summary>All members if they are in memory, in the order of <see cref="GetMembersAsync"/>; false = that has to read them. Never waits, never throws.</summary>
    bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members)
    {
        members = null;
        return false;
    }

    /// <summary>
    /// Changes with each write to any topic's members. What <see cref="TryGetMembers"/> says holds for as long as this is what it was before the call; negative = that is
    /// not known.
    /// </summary>
    long MembersVersion => -1;

    /// <summary>Every device of an app, ordered by user and device, streamed with constant memory.</summary>
    IAsyncEnumerable<OwnedDevice> ExportAsync(string app, CancellationToken cancellationToken);
}

/// <summary>What is the same for every registry.</summary>
public static class DeviceStoreExtensions
{
    /// <summary>As <see cref="IDeviceStore.PutDeviceAsync"/>, up to <see cref="Limits.DevicesPerUser"/> devices.</summary>
    public static Task<Registration> PutDeviceAsync(this IDeviceStore store, UserKey user, Device device, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(store);
        return store.PutDeviceAsync(user, device, Limits.DevicesPerUser, moves: null, cancellationToken);
    }
}

/// <summary>What a registration did, and to whom.</summary>
/// <param name="Result">What it did.</param>
/// <param name="Moved">Whose address it took over, once per device and channel; empty = nobody's.</param>
/// <param name="RetryAfter">When it may be asked again; of <see cref="PutDeviceResult.TooManyMoves"/>.</param>
public readonly record struct Registration(PutDeviceResult Result, IReadOnlyList<MovedAddress> Moved, TimeSpan RetryAfter = default);

/// <summary>What there was of a user.</summary>
/// <param name="Devices">How many registrations.</param>
/// <param name="Topics">Of which topics a member.</param>
public readonly record struct RemovedUser(int Devices, IReadOnlyList<string> Topics);

/// <summary>What became of a new member.</summary>
public enum AddMemberResult
{
    /// <summary>A member from now on.</summary>
    Added,

    /// <summary>Was one before.</summary>
    AlreadyThere,

    /// <summary>Refused: the user is in as many topics as one may be in. Nothing was written.</summary>
    TooManyTopics,
}

/// <summary>What a registration did.</summary>
public enum PutDeviceResult
{
    /// <summary>New device.</summary>
    Created,

    /// <summary>Replaced the device's earlier record.</summary>
    Updated,

    /// <summary>Refused: the user has as many devices as the writer allows. Nothing was written.</summary>
    TooManyDevices,

    /// <summary>Refused: this user took, or the one who has the address lost, as many within the hour as may be. Nothing was written.</summary>
    TooManyMoves,
}

/// <summary>A device with its user.</summary>
public readonly record struct OwnedDevice(string User, Device Device);
