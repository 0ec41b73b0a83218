using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Core.Withdrawals;

namespace Pnh.Core.Hubs;

/// <summary>What sessions tell the hub goes to their user's shard, and to their topics. Thread-safe.</summary>
public sealed partial class SessionRouter : ISessionEvents
{
    private readonly ShardContext _context;
    private readonly ShardMap _shards;
    private readonly Dispatcher _dispatcher;
    private readonly TakeBack _takeBack;
    private readonly TopicTable _topics;
    private readonly Memberships _memberships;
    private readonly IDeviceStore _devices;
    private readonly ClientSends _sends;
    private readonly StoreFaults _faults;
    private readonly int _sessionsPerUser;
    private readonly ILogger _log;
    private volatile bool _isRecovered;

    /// <param name="context">What shards share.</param>
    /// <param name="shards">Where users live.</param>
    /// <param name="dispatcher">Hears who has come back.</param>
    /// <param name="takeBack">Ends what was answered elsewhere.</param>
    /// <param name="topics">Who is in which topic.</param>
    /// <param name="memberships">Puts members' sessions into their topics.</param>
    /// <param name="devices">Knows whether there are members at all.</param>
    /// <param name="sends">Takes what clients publish.</param>
    /// <param name="faults">Hears of a store that takes nothing.</param>
    /// <param name="sessionsPerUser">Most sessions with a connection that one user may have.</param>
    /// <param name="log">Gets bugs.</param>
    internal SessionRouter(
        ShardContext context, ShardMap shards, Dispatcher dispatcher, TakeBack takeBack, TopicTable topics, Memberships memberships, IDeviceStore devices, ClientSends sends, StoreFaults faults,
        int sessionsPerUser, ILogger log)
    {
        (_context, _shards, _dispatcher, _takeBack, _topics) = (context, shards, dispatcher, takeBack, topics);
        (_memberships, _devices, _sends, _faults, _sessionsPerUser, _log) = (memberships, devices, sends, faults, sessionsPerUser, log);
    }

    /// <summary>The user's sessions with a connection.</summary>
    public IReadOnlyList<LiveSession> Sessions(UserKey user) => _shards.Of(user).Sessions.Of(user, isConnected: true);

    /// <summary>Closes the user's sessions for good; returns how many there were.</summary>
    public int Kick(UserKey user)
    {
        var sessions = _shards.Of(user).Sessions.Of(user, isConnected: false);
        foreach (var session in sessions)
        {
            session.Link.Close(session.Key.Session, SessionClose.Kicked);
        }

        return sessions.Length;
    }

    /// <summary>All that the previous process left has been read: what sessions hold of it is not kept in mind any more.</summary>
    internal void EndRecovery()
    {
        _isRecovered = true;
        _shards.EndHeld();
    }

    /// <inheritdoc/>
    public ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        if (!_shards.Of(opened.Key).Sessions.TryOpen(opened, _sessionsPerUser, out var replaced))
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
        if (!_shards.Of(key).Sessions.TryReopen(reopened, isRecovered: _isRecovered, out var replaced))
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

        if ((reopened.Topics.Count > 0 ? _shards.Of(key).Sessions.GetOrAddSubscriber(key) : _shards.Of(key).Sessions.Find(key)?.Subscriber) is { } subscriber)
        {
            _topics.SetJoined(subscriber, reopened.Topics);
        }

        return true;
    }

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<string>?> ClaimAsync(SessionKey session, long seq, DateTimeOffset? connectedAt, ReadOnlyMemory<byte> pass = default) =>
        _shards.Of(session).Sessions.Find(session) is { } known && !known.Outdates(connectedAt, _context.Time.GetUtcNow())
            ? known.Link.SurrenderAsync(session.Session, seq)
            : ValueTask.FromResult<IReadOnlyList<string>?>(null);

    /// <inheritdoc/>
    public ValueTask FlushAsync() => _context.Journal.FlushAsync(CancellationToken.None);

    /// <inheritdoc/>
    public void Detached(SessionKey session) => _shards.Of(session).Sessions.Detach(session);

    /// <inheritdoc/>
    public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken) =>
        ValueTask.FromResult(_shards.Of(session).Sessions.Resume(session, state, connectedAt));

    /// <inheritdoc/>
    public void Closed(SessionKey session)
    {
        if (_shards.Of(session).Sessions.Close(session) is { } subscriber)
        {
            _topics.Remove(subscriber);
        }
    }

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state) => _shards.Of(session).Sessions.ChangeState(session, state);

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => _shards.Of(session).Frames.Ack(new UserKey(session.App, session.User), session.Device, eventId);

    /// <inheritdoc/>
    public void HasRoom(SessionKey session) => _shards.Of(session).Frames.GoOn(session);

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId) => _shards.Of(session).Frames.Refused(session, eventId);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer) => _ = AnsweredAsync(session, eventId, reason, answer).AsTask();

    /// <inheritdoc/>
    public async ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        try
        {
            var key = new UserKey(session.App, session.User);
            if (!_shards.Of(session).Frames.Ack(key, session.Device, eventId) && !await WasForAsync(key, eventId).ConfigureAwait(false))
            {
                return true; // never sent to this user: nothing to end, and nothing to tell
            }

            var noted = answer is null ? reason : $"{reason}: {answer}";
            var withdrawal = new Withdrawal(session.App, eventId, reason, _context.Time.GetUtcNow());
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
            Log.AnswerBroke(_log, eventId, session.App, bug);
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
        if (_shards.Of(session).Sessions.GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Join(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics)
    {
        if (_shards.Of(session).Sessions.GetOrAddSubscriber(session) is { } subscriber)
        {
            _topics.Leave(subscriber, topics);
        }
    }

    /// <inheritdoc/>
    public ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        _sends.SendAsync(identity, message);

    private static partial class Log
    {
        [LoggerMessage(10, LogLevel.Error, "An answer to event {Id} of app {App} could not be handled; this is a bug.", EventName = "AnswerBroke")]
        internal static partial void AnswerBroke(ILogger logger, string id, string app, Exception bug);
    }
}
