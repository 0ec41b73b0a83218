using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>What sessions tell the hub.</summary>
public sealed partial class Hub
{
    /// <summary>The user's sessions with a connection.</summary>
    public IReadOnlyList<LiveSession> Sessions(UserKey user) => _shards.Of(user).Sessions(user, isConnected: true);

    /// <summary>Closes the user's sessions for good; returns how many there were.</summary>
    public int Kick(UserKey user)
    {
        var sessions = _shards.Of(user).Sessions(user, isConnected: false);
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

    /// <summary>
    /// Takes an event back from one user or (null) from all: stops what waits, clears what was shown. Durable before it completes, and at most once.
    /// Throws <see cref="StoreUnavailableException"/>; then it may be tried again.
    /// </summary>
    public ValueTask<WithdrawStatus> WithdrawAsync(string app, string id, string reason, string? user, CancellationToken cancellationToken) =>
        _takeBack.RunAsync(new Withdrawal(app, id, reason, _time.GetUtcNow()), reason, user, exceptDevice: null, cancellationToken);

    /// <summary>There was a process before this one, and its sessions come back within a minute: what is for a user without devices waits so long. Before <see cref="StartAsync"/>.</summary>
    public void AwaitReturns() => _dispatcher.Awaited.Open();

    /// <summary>The process begins to end: what sessions have not acknowledged, and what comes for users who are gone, is left to the next one. Before sessions are sent away.</summary>
    public void BeginStop()
    {
        _context.IsStopping = true;
        _dispatcher.Awaited.Stop();
    }

    /// <summary>The machine's clock was set: quiet hours, which are on a wall, may end at another time.</summary>
    public void ClockSet() => _shards.ReleaseHolds();

    /// <inheritdoc/>
    public ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        if (!_shards.Of(opened.Key).TryOpen(opened, _options.SessionsPerUser, out var replaced))
        {
            return ValueTask.FromResult(false);
        }

        if (replaced is not null)
        {
            _topics.Remove(replaced);
        }

        _dispatcher.Awaited.Came(new UserKey(opened.Key.App, opened.Key.User));
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
        if (!_shards.Of(key).TryReopen(reopened, isRecovered: _isRecovered, out var replaced))
        {
            return false;
        }

        if (replaced is not null)
        {
            _topics.Remove(replaced);
        }

        _dispatcher.Awaited.Came(new UserKey(key.App, key.User));
        if (_devices.HasMembers)
        {
            await _memberships.SubscribeAsync(key).ConfigureAwait(false);
        }

        if ((reopened.Topics.Count > 0 ? _shards.Of(key).GetOrAddSubscriber(key) : _shards.Of(key).Find(key)?.Subscriber) is { } subscriber)
        {
            _topics.SetJoined(subscriber, reopened.Topics);
        }

        return true;
    }

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<string>?> ClaimAsync(SessionKey session, long seq, DateTimeOffset? connectedAt, ReadOnlyMemory<byte> pass = default) =>
        _shards.Of(session).Find(session) is { } known && !known.Outdates(connectedAt, _context.Time.GetUtcNow())
            ? known.Link.SurrenderAsync(session.Session, seq)
            : ValueTask.FromResult<IReadOnlyList<string>?>(null);

    /// <inheritdoc/>
    public ValueTask FlushAsync() => _context.Journal.FlushAsync(CancellationToken.None);

    /// <inheritdoc/>
    public void Detached(SessionKey session) => _shards.Of(session).Detach(session);

    /// <inheritdoc/>
    public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken) =>
        ValueTask.FromResult(_shards.Of(session).Resume(session, state, connectedAt));

    /// <inheritdoc/>
    public void Closed(SessionKey session)
    {
        if (_shards.Of(session).Close(session) is { } subscriber)
        {
            _topics.Remove(subscriber);
        }
    }

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state) => _shards.Of(session).ChangeState(session, state);

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => _shards.Of(session).Ack(new UserKey(session.App, session.User), session.Device, eventId);

    /// <inheritdoc/>
    public void HasRoom(SessionKey session) => _shards.Of(session).GoOn(session);

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId) => _shards.Of(session).Refused(session, eventId);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer) => _ = AnsweredAsync(session, eventId, reason, answer).AsTask();

    /// <inheritdoc/>
    public async ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        try
        {
            var key = new UserKey(session.App, session.User);
            if (!_shards.Of(session).Ack(key, session.Device, eventId) && !await WasForAsync(key, eventId).ConfigureAwait(false))
            {
                return true; // never sent to this user: nothing to end, and nothing to tell
            }

            var noted = answer is null ? reason : $"{reason}: {answer}";
            var withdrawal = new Withdrawal(session.App, eventId, reason, _time.GetUtcNow());
            await _takeBack.RunAsync(withdrawal, noted, session.User, session.Device, CancellationToken.None).ConfigureAwait(false);
            return true;
        }
        catch (StoreUnavailableException fault)
        {
            _faults.Awaited(fault.Message);
            return false;
        }
        catch (Exception bug)
        {
            Log.AnswerBroke(_paced, eventId, session.App, bug);
            return false;
        }
    }

    private async ValueTask<bool> WasForAsync(UserKey user, string id)
    {
        var history = await _context.Journal.ReadAsync(user.App, id, user.User, CancellationToken.None).ConfigureAwait(false);
        return history?.Milestones.Any(m => m.Device is not null) == true;
    }

    /// <inheritdoc/>
    public void Joined(SessionKey session, IReadOnlyList<string> topics)
    {
        if (_shards.Of(session).GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Join(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics)
    {
        if (_shards.Of(session).GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Leave(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        _sends.SendAsync(identity, message);
}
