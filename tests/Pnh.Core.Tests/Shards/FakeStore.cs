using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>A device registry in memory; only what the hub uses.</summary>
internal sealed class FakeStore : IDeviceStore
{
    private readonly ConcurrentDictionary<string, UserSnapshot> _users = new();
    private readonly ConcurrentDictionary<string, string[]> _topics = new();
    private int _failedReads;
    private int _warmReads;
    private int _cuts;
    private int _pages;

    /// <summary>Users whose read fails.</summary>
    public HashSet<string> Unreadable { get; } = [];

    /// <summary>Members after whom the reading of their topic fails, each time.</summary>
    public HashSet<string> CutAfter { get; } = [];

    /// <summary>Called when a user was read from memory, before the reader has it.</summary>
    public Action? WasRead { get; set; }

    /// <summary>How many reads of a topic were cut.</summary>
    public int Cuts => Volatile.Read(ref _cuts);

    /// <summary>True = nothing is in memory: every read goes the long way.</summary>
    public bool IsCold { get; set; }

    /// <summary>How many reads were answered from memory.</summary>
    public int WarmReads => Volatile.Read(ref _warmReads);

    public long MembersVersion { get; private set; }

    /// <summary>How many reads of a user failed.</summary>
    public int FailedReads => Volatile.Read(ref _failedReads);

    /// <summary>Users whose read breaks as only a bug does.</summary>
    public HashSet<string> Broken { get; } = [];

    /// <summary>Every call of <see cref="RemoveAddressAsync"/>: device, address, dead since. It answers as a registry would, and removes nothing.</summary>
    public ConcurrentQueue<(string Device, PushAddress Address, DateTimeOffset DeadSince)> Removals { get; } = new();

    public void Put(string user, params Device[] devices) => _users[user] = new UserSnapshot(devices, UserSettings.Default);

    public void Put(string user, UserSettings settings, params Device[] devices)
    {
        _users[user] = new UserSnapshot(devices, settings);
        SettingsChanged?.Invoke(new UserKey("demo", user), settings);
    }

    public UserSettings SettingsOf(string user) => _users.GetValueOrDefault(user, UserSnapshot.Empty).Settings;

    /// <summary>As when its rows were lost, or the file is another's.</summary>
    public void Lose(string user) => _users.Remove(user, out _);

    public void PutTopic(string topic, params string[] members)
    {
        var before = _topics.GetValueOrDefault(topic, []);
        _topics[topic] = [.. members.OrderBy(static member => Convert.ToHexString(System.Text.Encoding.UTF8.GetBytes(member)), StringComparer.Ordinal)];
        MembersVersion++;
        foreach (var user in before.Except(members))
        {
            MemberChanged?.Invoke(new TopicKey("demo", topic), user, false);
        }

        foreach (var user in members.Except(before))
        {
            MemberChanged?.Invoke(new TopicKey("demo", topic), user, true);
        }
    }

    public ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken) => Unreadable.Contains(user.User)
        ? throw Unavailable(ref _failedReads)
        : Broken.Contains(user.User) ? throw new InvalidOperationException("A bug.")
        : ValueTask.FromResult(_users.GetValueOrDefault(user.User, UserSnapshot.Empty));

    public bool TryGetUser(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot)
    {
        snapshot = IsCold || Unreadable.Contains(user.User) || Broken.Contains(user.User) ? null : _users.GetValueOrDefault(user.User, UserSnapshot.Empty);
        Interlocked.Add(ref _warmReads, snapshot is null ? 0 : 1);
        WasRead?.Invoke();
        return snapshot is not null;
    }

    public bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members)
    {
        var all = _topics.GetValueOrDefault(topic.Topic, []);
        members = IsCold || CutAfter.Count > 0 || all.Length >= 256 ? null : new TopicMembers(all);
        Interlocked.Add(ref _warmReads, members is null ? 0 : 1);
        return members is not null;
    }

    public IAsyncEnumerable<string> GetMembersAsync(string app, string topic, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <summary>Pages that were read.</summary>
    public int Pages => Volatile.Read(ref _pages);

    /// <summary>Called by each read of a page.</summary>
    public Action? Paging { get; set; }

    public async ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _pages);
        await Task.Yield();
        Paging?.Invoke();
        if (CutAfter.Contains(after))
        {
            throw Unavailable(ref _cuts);
        }

        var left = Array.FindAll(_topics.GetValueOrDefault(topic.Topic, []), member => after.Length == 0 || TopicMembers.IsAfter(member, after));
        var cut = Array.FindIndex(left, CutAfter.Contains) + 1;
        var count = Math.Min(Math.Min(left.Length, most), cut > 0 ? cut : int.MaxValue);
        return new MemberPage(left[..count], cut == 0 && left.Length < most);
    }

    public bool IsMember(TopicKey topic, string user) => _topics.GetValueOrDefault(topic.Topic, []).Contains(user);

    public ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken) =>
        ValueTask.FromResult((long)_topics.GetValueOrDefault(topic.Topic, []).Length);

    public Task<bool> RemoveAddressAsync(
        UserKey user, string device, PushAddress address, DateTimeOffset deadSince, string? reason, CancellationToken cancellationToken)
    {
        Removals.Enqueue((device, address, deadSince));
        var held = _users.GetValueOrDefault(user.User, UserSnapshot.Empty).Devices.FirstOrDefault(d => d.Id == device)?.Addresses
            .FirstOrDefault(a => (a.Channel, a.Kind, a.Value) == (address.Channel, address.Kind, address.Value));
        return Task.FromResult(held?.RegisteredAt <= deadSince);
    }

    /// <summary>Addresses that rest, also over a restart.</summary>
    public ConcurrentDictionary<(UserKey User, string Device), RestingAddress> Resting { get; } = new();

    public Task RestAddressAsync(RestingAddress resting, CancellationToken cancellationToken)
    {
        Resting[(resting.User, resting.Device)] = resting;
        return Task.CompletedTask;
    }

    public ValueTask<IReadOnlyList<RestingAddress>> FindRestingAddressesAsync(CancellationToken cancellationToken) => new([.. Resting.Values]);

    public Task ReleaseAddressesAsync(string channel, string account, CancellationToken cancellationToken)
    {
        Resting.Clear();
        return Task.CompletedTask;
    }

    public Task<Registration> PutDeviceAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task<bool> DeleteDeviceAsync(UserKey user, string device, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken)
    {
        Put(user.User, settings, [.. _users.GetValueOrDefault(user.User, UserSnapshot.Empty).Devices]);
        return Task.CompletedTask;
    }

    /// <summary>Told of each change of a membership, as the hub is that made it.</summary>
    public Action<TopicKey, string, bool>? MemberChanged { get; set; }

    /// <summary>Told of each change of settings.</summary>
    public Action<UserKey, UserSettings>? SettingsChanged { get; set; }

    /// <summary>What an added member waits for, after the write and before it is answered; null = nothing.</summary>
    public Func<Task>? Adding { get; set; }

    public async Task<AddMemberResult> AddMemberAsync(string app, string topic, string user, CancellationToken cancellationToken)
    {
        var members = _topics.GetValueOrDefault(topic, []);
        if (members.Contains(user))
        {
            return AddMemberResult.AlreadyThere;
        }

        PutTopic(topic, [.. members, user]);
        await (Adding?.Invoke() ?? Task.CompletedTask);
        return AddMemberResult.Added;
    }

    /// <summary>What a read of a user's topics waits for, after it was made and before it is given; null = nothing.</summary>
    public Func<Task>? FindingTopics { get; set; }

    /// <summary>So many reads of a user's topics fail.</summary>
    public int FailingTopicReads { get; set; }

    public async ValueTask<UserTopics> FindTopicsAsync(UserKey user, CancellationToken cancellationToken)
    {
        if (FailingTopicReads > 0)
        {
            FailingTopicReads--;
            throw Unavailable(ref _failedReads);
        }

        string[] topics = [.. _topics.Where(topic => topic.Value.Contains(user.User)).Select(static topic => topic.Key).Order(StringComparer.Ordinal)];
        var found = new UserTopics(topics, SettingsOf(user.User));
        await (FindingTopics?.Invoke() ?? Task.CompletedTask);
        return found;
    }

    public bool HasMembers => _topics.Values.Any(static members => members.Length > 0);

    public Task<bool> RemoveMemberAsync(string app, string topic, string user, CancellationToken cancellationToken)
    {
        var members = _topics.GetValueOrDefault(topic, []);
        PutTopic(topic, [.. members.Where(member => member != user)]);
        return Task.FromResult(members.Contains(user));
    }

    public Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken) => throw new NotSupportedException();

    public IAsyncEnumerable<OwnedDevice> ExportAsync(string app, CancellationToken cancellationToken) => throw new NotSupportedException();

    private static StoreUnavailableException Unavailable(ref int count)
    {
        Interlocked.Increment(ref count);
        return new StoreUnavailableException("The disk does not answer.");
    }
}
