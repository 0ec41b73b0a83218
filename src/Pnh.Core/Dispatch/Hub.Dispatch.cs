using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>From an accepted event to its deliveries, user by user.</summary>
public sealed partial class Hub
{
    // Up to so many are served at once, by the thread that brought the event: a hop costs as much as a few of them.
    private const int FewTargets = 128;

    /// <summary>
    /// Plans the event and starts its deliveries. Nearly always what it needs is in memory and it is for few: then all of it happens here, and nothing is
    /// allocated. Comes back early when the registry cannot be read: the rest goes on by itself when it can, since the event is on stable storage.
    /// </summary>
    /// <param name="accepted">The event.</param>
    /// <param name="progress">Null for a transient one.</param>
    /// <param name="past">What the previous process began; null = a new event.</param>
    private ValueTask DispatchAsync(Event accepted, EventProgress? progress, PastDispatch? past)
    {
        if (past is not null)
        {
            return new ValueTask(DispatchRestAsync(accepted, progress, past, new Targets(null, null, [])));
        }

        var targets = FindTargets(accepted);
        try
        {
            if (!TryDispatch(accepted, progress, ref targets))
            {
                return new ValueTask(DispatchRestAsync(accepted, progress, past, targets));
            }

            Dispatched(accepted, progress, past);
        }
        catch (Exception bug)
        {
            LogCut(accepted, bug);
        }

        DispatchEnded(progress);
        return ValueTask.CompletedTask;
    }

    // What needs no wait; true = that was all.
    private bool TryDispatch(Event accepted, EventProgress? progress, ref Targets targets)
    {
        if (targets.Users is not { } users || users.Count + targets.Joined.Length > FewTargets)
        {
            return false;
        }

        for (; targets.Served < users.Count; targets.Served++)
        {
            var key = new UserKey(accepted.App, users[targets.Served]);
            if (!_devices.TryGetUser(key, out var snapshot))
            {
                return false;
            }

            Dispatch(accepted, progress, key, snapshot, past: null);
        }

        _joined.Serve(accepted, progress, targets.Joined, targets.Members);
        return true;
    }

    private async Task DispatchRestAsync(Event accepted, EventProgress? progress, PastDispatch? past, Targets targets)
    {
        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var dispatch = DispatchAllAsync(accepted, progress, past, targets, stuck);
        if (!dispatch.IsCompletedSuccessfully)
        {
            await Task.WhenAny(dispatch, stuck.Task).ConfigureAwait(false);
        }
    }

    private async Task DispatchAllAsync(Event accepted, EventProgress? progress, PastDispatch? past, Targets targets, TaskCompletionSource stuck)
    {
        try
        {
            if (await DispatchUsersAsync(accepted, progress, past, targets, stuck).ConfigureAwait(false))
            {
                Dispatched(accepted, progress, past);
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The hub stops: the journal holds it.
        }
        catch (Exception fault)
        {
            LogCut(accepted, fault);
        }
        finally
        {
            DispatchEnded(progress);
        }
    }

    private void Dispatched(Event accepted, EventProgress? progress, PastDispatch? past)
    {
        if (progress is null || _awaited.Holds(progress))
        {
            return;
        }

        // Once for all runs: what was there then may be gone now, which is not "no devices".
        if (past is { IsComplete: true })
        {
            _context.Close(progress);
        }
        else
        {
            _context.EndDispatch(progress, accepted.To.Users.Count == 1 ? accepted.To.Users[0] : null);
        }
    }

    // Journaled, so accepted: what could not be planned is taken up again at the next start, because the event stays open.
    private void LogCut(Event accepted, Exception fault) =>
        Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);

    private void DispatchEnded(EventProgress? progress)
    {
        if (progress is not null)
        {
            _dispatching.Remove(progress);
            progress.DispatchEnded();
        }
    }

    // False = a fan-out goes on with it.
    private async ValueTask<bool> DispatchUsersAsync(Event accepted, EventProgress? progress, PastDispatch? past, Targets targets, TaskCompletionSource stuck)
    {
        await DispatchReachedAsync(accepted, progress, past, stuck).ConfigureAwait(false);
        if (past is not { IsComplete: true } && !await DispatchNewAsync(accepted, progress, past, targets, stuck).ConfigureAwait(false))
        {
            return false;
        }

        await DispatchLostAsync(accepted, progress, past, stuck).ConfigureAwait(false);
        return true;
    }

    private async ValueTask<bool> DispatchNewAsync(Event accepted, EventProgress? progress, PastDispatch? past, Targets targets, TaskCompletionSource stuck)
    {
        var users = targets.Users ?? (accepted.To.Topic is null ? accepted.To.Users : null);
        for (var i = targets.Served; i < users?.Count; i++)
        {
            await DispatchUserAsync(accepted, progress, users[i], past, stuck).ConfigureAwait(false);
            await YieldAsync(i + 1).ConfigureAwait(false);
        }

        if (accepted.To.Topic is not null)
        {
            if (users is not null)
            {
                await _joined.ServeAsync(accepted, progress, targets.Joined, targets.Members).ConfigureAwait(false);
            }
            else if (past is not { IsWithdrawnFromAll: true }
                && !await DispatchTopicAsync(accepted, progress!, past, targets.Joined, stuck).ConfigureAwait(false))
            {
                return false;
            }

            EndFormerGuests(accepted, progress, past);
        }

        return true;
    }

    // What the previous process planned goes on; before sessions come, and also of members whose page it had not come to.
    private async ValueTask DispatchReachedAsync(Event accepted, EventProgress? progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        if (past is null || (!past.IsComplete && accepted.To.Topic is null))
        {
            return;
        }

        var page = new List<string>(FanOutPages.Members);
        foreach (var user in past.Users)
        {
            if (past.IsReached(user) || past.WasPlanned(user))
            {
                page.Add(user);
            }

            if (page.Count == FanOutPages.Members)
            {
                await DispatchPageAsync(accepted, progress, past, page, stuck).ConfigureAwait(false);
                page.ForEach(past.Take);
                page.Clear();
            }
        }

        await DispatchPageAsync(accepted, progress, past, page, stuck).ConfigureAwait(false);
        page.ForEach(past.Take);
        progress?.Planned(past.Users.Count);
    }

    private async ValueTask DispatchUserAsync(Event accepted, EventProgress? progress, string user, PastDispatch? past, TaskCompletionSource stuck)
    {
        var key = new UserKey(accepted.App, user);
        if (await _reads.UserAsync(key, EndOf(accepted), stuck).ConfigureAwait(false) is { } snapshot)
        {
            DispatchRead(accepted, progress, key, snapshot, past);
        }
        else
        {
            _context.EndUnread(ShardOf(key), accepted, progress, key, past);
        }
    }

    private void DispatchRead(Event accepted, EventProgress? progress, UserKey key, UserSnapshot snapshot, PastDispatch? past)
    {
        if (past?.IsLost(key.User, snapshot) == true)
        {
            past.LeaveLost(key.User);
        }
        else
        {
            Dispatch(accepted, progress, key, snapshot, past);
        }
    }

    private void Dispatch(Event accepted, EventProgress? progress, UserKey key, UserSnapshot snapshot, PastDispatch? past)
    {
        if (!ShardOf(key).Dispatch(progress, accepted, key, snapshot, past) && progress is not null && past is not { IsComplete: true } && past?.HasBegun(key.User) != true
            && _awaited.TryAdd(key, accepted, progress) && Sessions(key).Count > 0)
        {
            _awaited.Came(key); // between the two
        }
    }

    // What the previous process began and nobody goes on with.
    private void EndPast(Event accepted, EventProgress? progress, PastDispatch? past, DeliveryState state, string? reason)
    {
        foreach (var user in past?.Users ?? [])
        {
            var key = new UserKey(accepted.App, user);
            ShardOf(key).EndPast(progress!, key, past!, state, reason);
        }
    }

    // A transient event promises nothing, and nobody waits for it.
    private static DateTimeOffset EndOf(Event accepted) => accepted.IsDurable ? accepted.ExpiresAt : DateTimeOffset.MinValue;

    private async ValueTask YieldAsync(int users)
    {
        if (users % FanOutPages.YieldEvery == 0)
        {
            await _turns.NextAsync();
        }
    }
}
