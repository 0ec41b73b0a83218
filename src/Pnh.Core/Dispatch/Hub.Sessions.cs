using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>What sessions tell the hub.</summary>
public sealed partial class Hub
{
    /// <summary>The user's sessions with a connection.</summary>
    public IReadOnlyList<LiveSession> Sessions(UserKey user) => ShardOf(user).Sessions(user, isConnected: true);

    /// <summary>Closes the user's sessions for good; returns how many there were.</summary>
    public int Kick(UserKey user)
    {
        var sessions = ShardOf(user).Sessions(user, isConnected: false);
        foreach (var session in sessions)
        {
            session.Link.Close(session.Key.Session, SessionClose.Kicked);
        }

        return sessions.Length;
    }

    /// <summary>Makes the user a member of the topic. When it completes, the registry has it on stable storage, and the user's sessions are in the topic.</summary>
    public Task<AddMemberResult> AddMemberAsync(TopicKey topic, string user, CancellationToken cancellationToken) => _memberships.AddAsync(topic, user, cancellationToken);

    /// <summary>The user is no member of the topic any more; false when there was no membership. A session that joined the topic stays in it.</summary>
    public Task<bool> RemoveMemberAsync(TopicKey topic, string user, CancellationToken cancellationToken) => _memberships.RemoveAsync(topic, user, cancellationToken);

    /// <summary>Replaces the user's settings. When it completes, the registry has them on stable storage, and the user's sessions in topics follow them.</summary>
    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken) => _memberships.PutSettingsAsync(user, settings, cancellationToken);

    /// <summary>There was a process before this one, and its sessions come back within a minute: what is for a user without devices waits so long. Before <see cref="StartAsync"/>.</summary>
    public void AwaitReturns() => _awaited.Open();

    /// <summary>The process begins to end: what sessions have not acknowledged, and what comes for users who are gone, is left to the next one. Before sessions are sent away.</summary>
    public void BeginStop()
    {
        _context.IsStopping = true;
        _awaited.Stop();
    }

    /// <summary>The machine's clock was set: quiet hours, which are on a wall, may end at another time.</summary>
    public void ClockSet() => Array.ForEach(_shards, static shard => shard.ReleaseHolds(null));

    /// <inheritdoc/>
    public ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        if (!ShardOf(opened.Key).TryOpen(opened, _options.SessionsPerUser, out var replaced))
        {
            return ValueTask.FromResult(false);
        }

        if (replaced is not null)
        {
            _topics.Remove(replaced);
        }

        _awaited.Came(new UserKey(opened.Key.App, opened.Key.User));
        return _devices.HasMembers ? SubscribedAsync(opened.Key) : ValueTask.FromResult(true);
    }

    private async ValueTask<bool> SubscribedAsync(SessionKey opened)
    {
        await _memberships.SubscribeAsync(opened).ConfigureAwait(false);
        return true;
    }

    /// <inheritdoc/>
    public async ValueTask<bool> ReopenedAsync(SessionReopened reopened, CancellationToken cancellationToken)
    {
        var key = reopened.Opened.Key;
        if (!ShardOf(key).TryReopen(reopened, isRecovered: _isRecovered, out var replaced))
        {
            return false;
        }

        if (replaced is not null)
        {
            _topics.Remove(replaced);
        }

        _awaited.Came(new UserKey(key.App, key.User));
        if (_devices.HasMembers)
        {
            await _memberships.SubscribeAsync(key).ConfigureAwait(false);
        }

        if ((reopened.Topics.Count > 0 ? ShardOf(key).GetOrAddSubscriber(key) : ShardOf(key).Find(key)?.Subscriber) is { } subscriber)
        {
            _topics.SetJoined(subscriber, reopened.Topics);
        }

        return true;
    }

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<string>?> ClaimAsync(SessionKey session, long seq, DateTimeOffset? connectedAt, ReadOnlyMemory<byte> pass = default) =>
        ShardOf(session).Find(session) is { } known && !known.Outdates(connectedAt, _context.Time.GetUtcNow())
            ? known.Link.SurrenderAsync(session.Session, seq)
            : ValueTask.FromResult<IReadOnlyList<string>?>(null);

    /// <inheritdoc/>
    public ValueTask FlushAsync() => _context.Journal.FlushAsync(CancellationToken.None);

    /// <inheritdoc/>
    public void Detached(SessionKey session) => ShardOf(session).Detach(session);

    /// <inheritdoc/>
    public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken) =>
        ValueTask.FromResult(ShardOf(session).Resume(session, state, connectedAt));

    /// <inheritdoc/>
    public void Closed(SessionKey session)
    {
        if (ShardOf(session).Close(session) is { } subscriber)
        {
            _topics.Remove(subscriber);
        }
    }

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state) => ShardOf(session).ChangeState(session, state);

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => ShardOf(session).Ack(new UserKey(session.App, session.User), session.Device, eventId);

    /// <inheritdoc/>
    public void HasRoom(SessionKey session) => ShardOf(session).GoOn(session);

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId) => ShardOf(session).Refused(session, eventId);

    /// <inheritdoc/>
    public void Joined(SessionKey session, IReadOnlyList<string> topics)
    {
        if (ShardOf(session).GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Join(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics)
    {
        if (ShardOf(session).GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Leave(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        _sends.SendAsync(identity, message);
}
