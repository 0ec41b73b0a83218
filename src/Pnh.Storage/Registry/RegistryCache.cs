using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Storage.Registry;

/// <summary>A registry's users and topics in memory, and its long reads in pages. The same for every engine. Thread-safe.</summary>
/// <param name="reads">How what is not in memory is read.</param>
/// <param name="cachedUsers">How many users with one device each are kept, about; more devices and long texts count more.</param>
internal sealed class RegistryCache(IRegistryReads reads, int cachedUsers)
{
    private const int PageRows = 256;
    private readonly ReadCache<UserKey, UserSnapshot> _users = new(cachedUsers, UserWeight.Of);

    // One and one per member; a broadcast to sessions alone asks for a topic without members each time.
    private readonly ReadCache<TopicKey, TopicMembers> _topics = new(cachedUsers, static topic => 1 + topic.Users.Count);

    /// <summary>What the users in memory weigh (<see cref="UserWeight"/>), for tests.</summary>
    internal int Weight => _users.Weight;

    /// <inheritdoc cref="IDeviceStore.MembersVersion"/>
    public long MembersVersion => _topics.Writes;

    /// <inheritdoc cref="IDeviceStore.TryGetUser"/>
    public bool TryGetUser(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot) => _users.TryGet(user, out snapshot);

    /// <summary>Topics of fewer than 256 members.</summary>
    public bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members) => _topics.TryGet(topic, out members);

    /// <inheritdoc cref="IDeviceStore.GetUserAsync"/>
    public ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken) =>
        _users.TryGet(user, out var known) ? new ValueTask<UserSnapshot>(known) : new ValueTask<UserSnapshot>(ReadUserAsync(user, cancellationToken));

    /// <summary>One read for all that are not in memory. Kept there are those who are here, and those with an address, who are looked up again before their push.</summary>
    public async ValueTask<IReadOnlyList<UserSnapshot>> GetUsersAsync(string app, IReadOnlyList<string> users, bool areHere, CancellationToken cancellationToken)
    {
        var snapshots = new UserSnapshot[users.Count];
        List<(int At, UserKey Key, long Ticket)>? missing = null;
        for (var i = 0; i < snapshots.Length; i++)
        {
            var key = new UserKey(app, users[i]);
            if (_users.TryGet(key, out var known))
            {
                snapshots[i] = known;
            }
            else
            {
                (missing ??= []).Add((i, key, _users.StartRead(key)));
            }
        }

        if (missing is null)
        {
            return snapshots;
        }

        var read = await reads.ReadUsersAsync(app, missing.ConvertAll(static one => one.Key.User), cancellationToken).ConfigureAwait(false);
        for (var i = 0; i < read.Length; i++)
        {
            var (at, key, ticket) = missing[i];
            snapshots[at] = read[i];
            if (areHere || HasAddress(read[i]))
            {
                _users.Fill(key, read[i], ticket);
            }
        }

        return snapshots;
    }

    /// <summary>The first page is kept in memory when it is all.</summary>
    public async ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken)
    {
        var ticket = _topics.StartRead(topic);
        var users = await reads.ReadMembersAsync(topic, after, most, cancellationToken).ConfigureAwait(false);
        var page = new MemberPage(users, users.Count < most);
        if (page.IsLast && after.Length == 0)
        {
            _topics.Fill(topic, new TopicMembers(users), ticket);
        }

        return page;
    }

    /// <summary>Members in the order of their UTF-8 bytes. Read page by page: a change made meanwhile is seen or not, nothing stands twice.</summary>
    public async IAsyncEnumerable<string> GetMembersAsync(TopicKey topic, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var after = string.Empty;
        MemberPage page;
        do
        {
            page = await GetMemberPageAsync(topic, after, PageRows, cancellationToken).ConfigureAwait(false);
            foreach (var member in page.Users)
            {
                yield return after = member;
            }
        }
        while (!page.IsLast);
    }

    /// <summary>Devices in the order of the UTF-8 bytes of user and device. Read page by page, so that no long read holds the engine.</summary>
    public async IAsyncEnumerable<OwnedDevice> ExportAsync(string app, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var (user, device) = (string.Empty, string.Empty);
        List<OwnedDevice> page;
        do
        {
            page = await reads.ReadDevicesAsync(app, user, device, PageRows, cancellationToken).ConfigureAwait(false);
            foreach (var owned in page)
            {
                (user, device) = (owned.User, owned.Device.Id);
                yield return owned;
            }
        }
        while (page.Count == PageRows);
    }

    /// <summary>After the commit, and before the writer's caller hears of it: so no later read is stale.</summary>
    public void Forget(UserKey user) => _users.Forget(user);

    /// <summary>The same of a topic.</summary>
    public void Forget(TopicKey topic) => _topics.Forget(topic);

    private static bool HasAddress(UserSnapshot user)
    {
        for (var i = 0; i < user.Devices.Count; i++)
        {
            if (user.Devices[i].Addresses.Count > 0)
            {
                return true;
            }
        }

        return false;
    }

    private async Task<UserSnapshot> ReadUserAsync(UserKey user, CancellationToken cancellationToken)
    {
        var ticket = _users.StartRead(user);
        var snapshot = (await reads.ReadUsersAsync(user.App, [user.User], cancellationToken).ConfigureAwait(false))[0];
        _users.Fill(user, snapshot, ticket);
        return snapshot;
    }
}
