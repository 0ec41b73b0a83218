using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// Events to users of whom neither a device nor a session is known, while sessions are about to come back: in the minute after a start, and while the hub stops. A page without a
/// registered device has its session alone, and that ended with the process before. Each event stays undispatched until its users have come or the minute is over; one that stops waits
/// in the journal. Holds no event, only its progress. Thread-safe.
/// </summary>
/// <param name="context">What it tells of a dispatch that has ended.</param>
/// <param name="loader">Makes events again.</param>
/// <param name="dispatch">Plans an event for a user who has come.</param>
/// <param name="faulted">Gets each fault of the journal.</param>
/// <param name="log">Gets bugs.</param>
/// <param name="stopping">Ends the minute.</param>
internal sealed partial class AwaitedUsers(
    ShardContext context, EventLoader loader, Func<Event, EventProgress, string, RestoredUser, ValueTask> dispatch, Action<string> faulted, ILogger log, CancellationToken stopping)
{
    /// <summary>As long as a client that comes back waits at most, twice.</summary>
    internal static readonly TimeSpan Window = TimeSpan.FromSeconds(60);

    // Some 20 MB. Further ones are dispatched as if nobody came back.
    private const int Most = 100_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<UserKey, List<Awaiting>> _users = [];
    private readonly Dictionary<EventProgress, Awaiting> _events = [];
    private long _openedAt;
    private volatile bool _isStopping;
    private volatile int _count;

    private bool IsOpen => _isStopping || (_openedAt != 0 && context.Time.GetElapsedTime(_openedAt) < Window);

    /// <summary>From here on, for as long as the window is.</summary>
    internal void Open()
    {
        _openedAt = context.Time.GetTimestamp();
        _ = EndAsync();
    }

    /// <summary>From here on, until the end of the process.</summary>
    internal void Stop() => _isStopping = true;

    /// <summary>True when the event waits for the user; false when nobody is awaited now, or too many are.</summary>
    internal bool TryAdd(UserKey user, Event accepted, EventProgress progress)
    {
        if (!IsOpen)
        {
            return false;
        }

        lock (_gate)
        {
            if (_count >= Most)
            {
                return false;
            }

            if (!_events.TryGetValue(progress, out var awaiting))
            {
                _events.Add(progress, awaiting = new Awaiting(progress, accepted.To.Users.Count == 1 ? accepted.To.Users[0] : null));
            }

            if (!_users.TryGetValue(user, out var own))
            {
                _users.Add(user, own = new List<Awaiting>(1));
            }

            own.Add(awaiting);
            awaiting.Users++;
            _count++;
            return true;
        }
    }

    /// <summary>True when the event still waits for somebody: it is not dispatched yet.</summary>
    internal bool Holds(EventProgress progress)
    {
        if (_count == 0)
        {
            return false;
        }

        lock (_gate)
        {
            return _events.ContainsKey(progress);
        }
    }

    /// <summary>A session of the user has opened: what waited is planned, in its order, unless the process ends.</summary>
    internal void Came(UserKey user)
    {
        if (_count == 0 || _isStopping)
        {
            return;
        }

        List<Awaiting>? events;
        lock (_gate)
        {
            _users.Remove(user, out events);
        }

        if (events is not null)
        {
            _ = ServeAsync(user, events);
        }
    }

    private async Task ServeAsync(UserKey user, List<Awaiting> events)
    {
        foreach (var awaiting in events)
        {
            try
            {
                await ServeAsync(user, awaiting.Progress).ConfigureAwait(false);
                Served(awaiting);
            }
            catch (StoreUnavailableException fault)
            {
                // The event stays open: the next start takes it up.
                faulted(fault.Message);
            }
            catch (Exception bug)
            {
                Log.ReturnBroke(log, awaiting.Progress.Id, user.App, bug);
            }
        }
    }

    // Read back with what became of it: it may have been taken back meanwhile.
    private async ValueTask ServeAsync(UserKey user, EventProgress progress)
    {
        if (await context.Journal.ReadAsync(progress.App, progress.Id, CancellationToken.None).ConfigureAwait(false) is { } history
            && loader.Read(history.Event, []) is { } accepted && accepted.ExpiresAt > context.Time.GetUtcNow())
        {
            await dispatch(accepted, progress, user.User, new RestoredEvent(UnfinishedFold.Fold(history)).Of(user.User)).ConfigureAwait(false);
        }
    }

    // The minute is over: who is not here is gone.
    private async Task EndAsync()
    {
        try
        {
            await Task.Delay(Window, context.Time, stopping).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The hub stops: the journal holds them.
            return;
        }

        List<Awaiting> left;
        lock (_gate)
        {
            left = _isStopping ? [] : [.. _users.Values.SelectMany(static own => own)];
            _users.Clear();
        }

        left.ForEach(Served);
    }

    // One user of the event has been served, or is gone; with the last one the event is dispatched.
    private void Served(Awaiting awaiting)
    {
        lock (_gate)
        {
            _count--;
            if (--awaiting.Users > 0)
            {
                return;
            }

            _events.Remove(awaiting.Progress);
        }

        context.EndDispatch(awaiting.Progress, awaiting.OnlyUser);
    }

    private static partial class Log
    {
        [LoggerMessage(16, LogLevel.Error, "Event {Id} of app {App} could not be planned for a user who came back; this is a bug.", EventName = "ReturnBroke")]
        internal static partial void ReturnBroke(ILogger logger, string id, string app, Exception bug);
    }

    /// <summary>An event that waits for users.</summary>
    /// <param name="progress">How far it is.</param>
    /// <param name="onlyUser">Its user, where it is for one alone.</param>
    internal sealed class Awaiting(EventProgress progress, string? onlyUser)
    {
        internal EventProgress Progress => progress;

        internal string? OnlyUser => onlyUser;

        internal int Users { get; set; }
    }
}
