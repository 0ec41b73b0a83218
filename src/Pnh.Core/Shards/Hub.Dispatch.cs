using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Shards;

/// <summary>From an accepted event to its deliveries, user by user.</summary>
public sealed partial class Hub
{
    // A fan-out gives way to others after so many users: 2,000 sends take some 8 ms of one core.
    private const int YieldEvery = 128;
    private static readonly TimeSpan LongestReadRetry = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Plans the event and starts its deliveries. Comes back early when the registry cannot be read: the rest goes on by itself when it can, since
    /// the event is on stable storage.
    /// </summary>
    private async ValueTask DispatchAsync(Event accepted, EventProgress progress, PastDispatch? past)
    {
        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var dispatch = DispatchAllAsync(accepted, progress, past, stuck);
        if (!dispatch.IsCompletedSuccessfully)
        {
            await Task.WhenAny(dispatch, stuck.Task).ConfigureAwait(false);
        }
    }

    private async Task DispatchAllAsync(Event accepted, EventProgress progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        try
        {
            await DispatchUsersAsync(accepted, progress, past, stuck).ConfigureAwait(false);
            if (accepted.IsDurable)
            {
                _context.Journal.Note(new(accepted.App, accepted.Id, accepted.Class, MilestoneKind.Dispatched, _time.GetUtcNow())
                {
                    Reason = progress.HasPlans ? null : Plans.PlanReasons.NoDevices,
                });
            }

            _context.Close(progress);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The hub stops: the journal holds it.
        }
        catch (Exception fault)
        {
            // Journaled, so accepted: what could not be planned is taken up again at the next start, because the event stays open.
            Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);
        }
        finally
        {
            DispatchEnded(progress);
        }
    }

    private void DispatchEnded(EventProgress progress)
    {
        progress.DispatchEnded();
        _dispatching.TryRemove(new((progress.App, progress.Id), progress));
    }

    private async ValueTask DispatchUsersAsync(Event accepted, EventProgress progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        var users = 0;
        if (past is { IsComplete: true })
        {
            foreach (var user in past.Users)
            {
                await DispatchUserAsync(accepted, progress, user, past, stuck).ConfigureAwait(false);
            }
        }
        else if (accepted.To.Topic is null)
        {
            foreach (var user in accepted.To.Users)
            {
                await DispatchUserAsync(accepted, progress, user, past, stuck).ConfigureAwait(false);
                await YieldAsync(++users).ConfigureAwait(false);
            }
        }
        else
        {
            await DispatchTopicAsync(accepted, progress, past, stuck).ConfigureAwait(false);
        }
    }

    // Members first, then the sessions that joined, but for those of members: their devices have been planned.
    private async ValueTask DispatchTopicAsync(Event accepted, EventProgress progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        var joined = past is null ? _topics.Find(accepted.App, accepted.To.Topic!) : [];
        var members = joined.Length > 0 ? new HashSet<string>(StringComparer.Ordinal) : null;
        var users = 0;
        await foreach (var user in TargetsAsync(accepted, CancellationToken.None).ConfigureAwait(false))
        {
            members?.Add(user);
            await DispatchUserAsync(accepted, progress, user, past, stuck).ConfigureAwait(false);
            await YieldAsync(++users).ConfigureAwait(false);
        }

        foreach (var session in joined)
        {
            if (!members!.Contains(session.User))
            {
                ShardOf(session).DispatchJoined(progress, accepted, session);
                await YieldAsync(++users).ConfigureAwait(false);
            }
        }

        foreach (var user in past?.Users ?? [])
        {
            // Users who are no members any more, or were there by a session.
            ShardOf(new UserKey(accepted.App, user)).EndPast(progress, new UserKey(accepted.App, user), past!);
        }
    }

    private async ValueTask DispatchUserAsync(Event accepted, EventProgress progress, string user, PastDispatch? past, TaskCompletionSource stuck)
    {
        var key = new UserKey(accepted.App, user);
        var snapshot = await ReadUserAsync(key, accepted, stuck).ConfigureAwait(false);
        ShardOf(key).Dispatch(progress, accepted, key, snapshot, past);
    }

    // Tried until the event would be over: a disk that comes back must not cost a delivery.
    private async ValueTask<UserSnapshot> ReadUserAsync(UserKey key, Event accepted, TaskCompletionSource stuck)
    {
        for (var wait = TimeSpan.FromSeconds(1); ; wait = Shorter(wait * 2, LongestReadRetry))
        {
            try
            {
                return await _devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault) when (accepted.IsDurable && _time.GetUtcNow() < accepted.ExpiresAt)
            {
                NoteStoreFault(fault.Message);
                stuck.TrySetResult();
                await Task.Delay(wait, _time, _stopping.Token).ConfigureAwait(false);
            }
        }
    }

    private static async ValueTask YieldAsync(int users)
    {
        if (users % YieldEvery == 0)
        {
            await Task.Yield();
        }
    }

    private static TimeSpan Shorter(TimeSpan a, TimeSpan b) => a < b ? a : b;
}
