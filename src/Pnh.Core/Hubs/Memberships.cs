using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>
/// Who is a member of which topic: written in the registry, and in the table of topics for the sessions of members. What a read of the registry says may be old when it comes: changes
/// that were committed since it began are kept with the user, and repeated on top of it. Thread-safe.
/// </summary>
public sealed class Memberships
{
    // Changes of one user one after the other, or the table could follow the older of two.
    private const int Lines = 256;

    private readonly SemaphoreSlim[] _lines = [.. Enumerable.Range(0, Lines).Select(static _ => new SemaphoreSlim(1, 1))];

    private readonly IDeviceStore _devices;
    private readonly TopicTable _table;
    private readonly ShardMap _shards;
    private readonly PatientReads _reads;
    private readonly Action<string> _faulted;

    internal Memberships(IDeviceStore devices, TopicTable table, ShardMap shards, PatientReads reads, Action<string> faulted) =>
        (_devices, _table, _shards, _reads, _faulted) = (devices, table, shards, reads, faulted);

    /// <summary>Makes the user a member of the topic. When it completes, the registry has it on stable storage, and the user's sessions are in the topic.</summary>
    public Task<AddMemberResult> AddAsync(TopicKey topic, string user, CancellationToken cancellationToken) => InTurnAsync(new UserKey(topic.App, user), async key =>
    {
        var result = await _devices.AddMemberAsync(topic.App, topic.Topic, user, cancellationToken).ConfigureAwait(false);
        if (result == AddMemberResult.Added)
        {
            Change(topic, user, isMember: true, await SettingsAsync(key).ConfigureAwait(false));
        }

        return result;
    }, cancellationToken);

    /// <summary>The user is no member of the topic any more; false when there was no membership. A session that joined the topic stays in it.</summary>
    public Task<bool> RemoveAsync(TopicKey topic, string user, CancellationToken cancellationToken) => InTurnAsync(new UserKey(topic.App, user), async _ =>
    {
        var isRemoved = await _devices.RemoveMemberAsync(topic.App, topic.Topic, user, cancellationToken).ConfigureAwait(false);
        if (isRemoved)
        {
            Change(topic, user, isMember: false, settings: null);
        }

        return isRemoved;
    }, cancellationToken);

    /// <summary>When it completes, the registry has nothing of the user any more, and the user's sessions are in the topics that they joined themselves.</summary>
    public Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken) => InTurnAsync(user, async key =>
    {
        var removed = await _devices.DeleteUserAsync(key, cancellationToken).ConfigureAwait(false);
        foreach (var topic in removed.Topics)
        {
            Change(new TopicKey(key.App, topic), key.User, isMember: false, settings: null);
        }

        Follow(key, UserSettings.Default);
        return removed;
    }, cancellationToken);

    /// <summary>Replaces the user's settings. When it completes, the registry has them on stable storage, and the user's sessions in topics follow them.</summary>
    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken) => InTurnAsync(user, async key =>
    {
        await _devices.PutSettingsAsync(key, settings, cancellationToken).ConfigureAwait(false);
        Follow(key, settings);
        return true;
    }, cancellationToken);

    /// <summary>The registry has them.</summary>
    internal void Follow(UserKey user, UserSettings settings)
    {
        var shard = _shards.Of(user);
        shard.Under(user, state =>
        {
            state.Settings = settings;
            var mutes = MutesOf(settings);
            for (var i = 0; i < state.Sessions.Count; i++)
            {
                TopicTable.Mute(shard.Sessions.SubscriberOf(state, i), mutes);
            }
        });
        shard.Holds.Release(user);
    }

    /// <summary>Puts a new session into its user's topics. A registry that cannot be read holds nobody up: it is tried again behind it, for as long as the session is there.</summary>
    public async ValueTask SubscribeAsync(SessionKey session)
    {
        if (!await TrySubscribeAsync(session).ConfigureAwait(false))
        {
            _ = _reads.GoOnAsync(() => TrySubscribeAsync(session));
        }
    }

    private async Task<TResult> InTurnAsync<TResult>(UserKey user, Func<UserKey, Task<TResult>> change, CancellationToken cancellationToken)
    {
        var line = _lines[(user.GetHashCode() & int.MaxValue) % Lines];
        await line.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await change(user).ConfigureAwait(false);
        }
        finally
        {
            line.Release();
        }
    }

    // False = the registry could not be read.
    private async ValueTask<bool> TrySubscribeAsync(SessionKey session)
    {
        var key = new UserKey(session.App, session.User);
        (UserState User, int From)? read = null;
        _shards.Of(key).Under(key, user =>
        {
            if (Find(user, session) >= 0)
            {
                user.MembershipReads++;
                read = (user, user.MembershipChanges?.Count ?? 0);
            }
        });
        if (read is not { } begun)
        {
            return true; // it is over
        }

        UserTopics? topics = null;
        try
        {
            topics = await _devices.FindTopicsAsync(key, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            _faulted(fault.Message);
        }
        finally
        {
            _shards.Of(key).Under(begun.User, user => End(user, session, begun.From, topics));
        }

        return topics is not null;
    }

    private void End(UserState user, SessionKey session, int from, UserTopics? topics)
    {
        // Those that were written since are there already.
        user.Settings ??= topics is { Names.Count: > 0 } ? topics.Settings : null;
        var changes = user.MembershipChanges;
        if (topics is not null && topics.Names.Count + (changes?.Count ?? 0) > from && Find(user, session) is >= 0 and var index)
        {
            var subscriber = _shards.Of(user.Key).Sessions.SubscriberOf(user, index);
            var mutes = MutesOf(user.Settings);
            _table.Join(subscriber, topics.Names, TopicReasons.Member, mutes);
            for (var i = from; i < changes?.Count; i++)
            {
                Change(subscriber, changes[i].Topic, changes[i].IsMember, mutes);
            }
        }

        user.MembershipReads--;
        user.MembershipChanges = user.MembershipReads == 0 ? null : changes;
    }

    /// <summary>The registry has it.</summary>
    /// <param name="topic">Which.</param>
    /// <param name="user">Whose membership began, or ended.</param>
    /// <param name="isMember">Whether he is a member now.</param>
    /// <param name="settings">His, if they are not known of any session of his yet; null = they do not matter.</param>
    internal void Change(TopicKey topic, string user, bool isMember, UserSettings? settings)
    {
        var key = new UserKey(topic.App, user);
        var shard = _shards.Of(key);
        shard.Under(key, state =>
        {
            if (state.MembershipReads > 0)
            {
                (state.MembershipChanges ??= []).Add((topic.Topic, isMember));
            }

            state.Settings ??= settings;
            var mutes = MutesOf(state.Settings);
            for (var i = 0; i < state.Sessions.Count; i++)
            {
                Change(shard.Sessions.SubscriberOf(state, i), topic.Topic, isMember, mutes);
            }
        });
    }

    // Null also when no session waits for them: those that open later read them by themselves.
    private async ValueTask<UserSettings?> SettingsAsync(UserKey user)
    {
        var isWanted = false;
        _shards.Of(user).Under(user, state => isWanted = state is { Settings: null, Sessions.Count: > 0 });
        if (!isWanted)
        {
            return null;
        }

        return (await _reads.TryUserAsync(user).ConfigureAwait(false))?.Settings;
    }

    // The classes that are muted, a bit each, for each topic's name.
    private static Func<string, byte> MutesOf(UserSettings? settings)
    {
        byte classes = 0;
        foreach (var name in settings?.MutedClasses ?? [])
        {
            classes |= EventClassNames.TryParse(name, out var @class) ? (byte)(1 << (int)@class) : (byte)0;
        }

        return topic => settings?.MutedTopics.Contains(topic) == true ? byte.MaxValue : classes;
    }

    private void Change(Subscriber subscriber, string topic, bool isMember, Func<string, byte> mutes)
    {
        if (isMember)
        {
            _table.Join(subscriber, [topic], TopicReasons.Member, mutes);
        }
        else
        {
            _table.Leave(subscriber, [topic], TopicReasons.Member);
        }
    }

    private static int Find(UserState user, SessionKey session) => user.FindSession(session.Device) is >= 0 and var index && user.Sessions[index].Key == session ? index : -1;
}
