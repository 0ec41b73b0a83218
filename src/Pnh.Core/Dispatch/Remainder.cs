using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// The rest of a dispatch, for which the registry has to be read, or which is for many. Where it cannot be read, the rest waits, and goes on where it stopped; what has no time left ends
/// as unread. For one thread at a time.
/// </summary>
internal sealed class Remainder
{
    private const string RowsLost = "The registry has nothing of a user whose events are unfinished: put the registry.db back that belongs to the journal.";

    private readonly Dispatcher _dispatcher;
    private readonly Event _event;
    private readonly PastDispatch? _past;
    private readonly Dispatcher.Targets _targets;
    private Part _part;
    private string[][]? _begun; // what the previous process had begun, in pages
    private MemberPage? _members;
    private int _page;
    private int _served; // of the list of users that is served

    internal Remainder(Dispatcher dispatcher, Event accepted, EventProgress? progress, in Dispatcher.Targets targets)
    {
        (_dispatcher, _event, Progress) = (dispatcher, accepted, progress);
        _targets = targets;
        _served = targets.Served;
        _part = Part.New;
    }

    internal Remainder(Dispatcher dispatcher, Event accepted, EventProgress progress, PastDispatch past)
    {
        (_dispatcher, _event, Progress, _past) = (dispatcher, accepted, progress, past);
        _targets = new Dispatcher.Targets(accepted.To.Topic is null ? accepted.To.Users : null, null, []);
        _part = past.IsComplete || accepted.To.Topic is not null ? Part.Begun : Part.New;
    }

    /// <summary>What comes last: a thread of its own.</summary>
    internal static Remainder OfLost(Dispatcher dispatcher, Event accepted, EventProgress progress, PastDispatch past) => new(dispatcher, accepted, progress, past) { _part = Part.Lost };

    private enum Part
    {
        /// <summary>What the previous process planned goes on; before sessions come, and also of members whose page it had not come to.</summary>
        Begun,

        /// <summary>What no process has planned.</summary>
        New,

        /// <summary>Users of whom the registry knows nothing, though the previous process began deliveries for them. Nothing says that their devices were deleted, so they are not gone: they
        /// cannot be read, until they can or the event is over. Nobody else of the event waits for them.</summary>
        Lost,

        /// <summary>A fan-out goes on with it.</summary>
        FanOut,
    }

    internal EventProgress? Progress { get; }

    /// <summary>Goes on; false = the registry cannot be read now, so it has to be called again. Throws nothing.</summary>
    internal async ValueTask<bool> TryAsync()
    {
        try
        {
            if (!await TryPartsAsync().ConfigureAwait(false))
            {
                return false;
            }

            if (_part != Part.FanOut)
            {
                _dispatcher.Dispatched(_event, Progress, _past);
            }
        }
        catch (Exception fault)
        {
            _dispatcher.LogCut(_event, fault);
        }

        _dispatcher.End(Progress);
        return true;
    }

    private async ValueTask<bool> TryPartsAsync()
    {
        if (_part == Part.Begun)
        {
            if (!await TryBegunAsync().ConfigureAwait(false))
            {
                return false;
            }

            _part = _past!.IsComplete ? Part.Lost : Part.New;
        }

        if (_part == Part.New)
        {
            if (!await TryNewAsync().ConfigureAwait(false))
            {
                return false;
            }

            if (_part == Part.FanOut)
            {
                return true;
            }

            _part = Part.Lost;
            if (_past is not null && _event.To.Topic is not null)
            {
                _dispatcher.EndFormerGuests(_event, Progress!, _past);
            }
        }

        return _past?.Lost is not { } lost || await TryUsersAsync([.. lost], areRead: false).ConfigureAwait(false);
    }

    private async ValueTask<bool> TryBegunAsync()
    {
        _begun ??= [.. _past!.Users.Where(user => _past.IsReached(user) || _past.WasPlanned(user)).Chunk(FanOutPages.Members)];
        for (; _page < _begun.Length; _page++)
        {
            if (!await TryUsersAsync(_begun[_page], areRead: true).ConfigureAwait(false))
            {
                return false;
            }

            Array.ForEach(_begun[_page], _past!.Take);
        }

        Progress!.Planned(_past!.Users.Count);
        return true;
    }

    private async ValueTask<bool> TryNewAsync()
    {
        if (_targets.Users is not { } users)
        {
            return _past is { IsWithdrawnFromAll: true } || (_past is null ? await TryTopicAsync().ConfigureAwait(false) : await TryPastTopicAsync(_past).ConfigureAwait(false));
        }

        if (!await TryUsersAsync(users, areRead: false).ConfigureAwait(false))
        {
            return false;
        }

        await _dispatcher.Joined.ServeAsync(_event, Progress, _targets.Joined, _targets.Members).ConfigureAwait(false);
        return true;
    }

    // A topic that is not in memory, or whose events wait for one before them.
    private async ValueTask<bool> TryTopicAsync()
    {
        // Sessions wait neither for a million members nor for a registry: those alone may be more than a page.
        var line = FanOutLine.Of(_event);
        var sessions = _members is null ? _dispatcher.SessionsOf(line.Topic) : TopicSessions.None;
        if (_members is null && sessions.Members.Length < FanOutPages.Members && !_dispatcher.FanOuts.Holds(line))
        {
            _members = await _dispatcher.Reads.TryPageAsync(line.Topic, string.Empty, FanOutPages.Members).ConfigureAwait(false) is { IsLast: true } few ? few : null;
        }

        if (_members is { Users: var members })
        {
            if (!await TryUsersAsync(members, areRead: true).ConfigureAwait(false))
            {
                return false;
            }

            await _dispatcher.Joined.ServeAsync(_event, Progress, _targets.Joined, new TopicMembers(members)).ConfigureAwait(false);
            return true;
        }

        var fanOut = new FanOut(_event, Progress!, past: null, sessions, after: string.Empty);
        await _dispatcher.Early.BeginAsync(fanOut, _dispatcher.FanOuts.Of(line)).ConfigureAwait(false);
        await _dispatcher.Joined.ServeAsync(_event, Progress, sessions.Guests, members: null).ConfigureAwait(false);
        GoOn(fanOut);
        return true;
    }

    // What the previous process had not come to: nobody has a session yet.
    private async ValueTask<bool> TryPastTopicAsync(PastDispatch past)
    {
        var line = FanOutLine.Of(_event);
        _members ??= await _dispatcher.Reads.TryPageAsync(line.Topic, past.Reached, FanOutPages.Members).ConfigureAwait(false);
        if (_members is not { } page)
        {
            if (!_dispatcher.IsOver(_event))
            {
                return false;
            }

            Progress!.Unread();
            return true;
        }

        if (!await TryUsersAsync(page.Users, areRead: true).ConfigureAwait(false))
        {
            return false;
        }

        if (!page.IsLast || _dispatcher.FanOuts.Holds(line))
        {
            GoOn(new FanOut(_event, Progress!, past, TopicSessions.None, page.Users.Count > 0 ? page.Users[^1] : past.Reached));
        }

        return true;
    }

    private void GoOn(FanOut fanOut)
    {
        _part = Part.FanOut;
        _dispatcher.FanOuts.Add(fanOut);
    }

    // Read together, and one by one when that fails: one user who cannot be read holds up nobody before him.
    private async ValueTask<bool> TryUsersAsync(IReadOnlyList<string> users, bool areRead)
    {
        var snapshots = areRead && _served == 0 ? await _dispatcher.Reads.TryUsersAsync(_event.App, users).ConfigureAwait(false) : null;
        for (; _served < users.Count; _served++)
        {
            if (_served > 0 && _served % FanOutPages.YieldEvery == 0)
            {
                await _dispatcher.Turns.NextAsync();
            }

            var key = new UserKey(_event.App, users[_served]);
            if (!TryUser(key, snapshots?[_served] ?? await _dispatcher.Reads.TryUserAsync(key).ConfigureAwait(false)))
            {
                return false;
            }
        }

        _served = 0;
        return true;
    }

    // Null = cannot be read now.
    private bool TryUser(UserKey key, UserSnapshot? snapshot)
    {
        if (snapshot is not null && _past?.IsLost(key.User, snapshot) == true)
        {
            if (_part != Part.Lost)
            {
                _past.LeaveLost(key.User);
                return true;
            }

            _dispatcher.Faulted(RowsLost);
            snapshot = null;
        }

        if (snapshot is not null)
        {
            _dispatcher.Dispatch(_event, Progress, key, snapshot, _past);
        }
        else if (_dispatcher.IsOver(_event))
        {
            _dispatcher.EndUnread(_event, Progress, key, _past);
        }
        else
        {
            return false;
        }

        return true;
    }
}
