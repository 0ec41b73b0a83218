using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// What a former run began for users of whom the registry knows nothing now. Nothing says that their devices were deleted, so they are not gone: they cannot be read,
/// until they can or the event is over. Nobody else of the event waits for them.
/// </summary>
public sealed partial class Hub
{
    private const string RowsLost = "The registry has nothing of a user whose events are unfinished: put the registry.db back that belongs to the journal.";

    private async ValueTask DispatchLostAsync(Event accepted, EventProgress? progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        foreach (var user in past?.Lost ?? [])
        {
            await DispatchLostAsync(accepted, progress, new UserKey(accepted.App, user), past!, stuck).ConfigureAwait(false);
        }
    }

    private async ValueTask DispatchLostAsync(Event accepted, EventProgress? progress, UserKey key, PastDispatch past, TaskCompletionSource stuck)
    {
        for (var failures = 0; ; failures++)
        {
            var snapshot = await _reads.UserAsync(key, EndOf(accepted), stuck).ConfigureAwait(false);
            if (snapshot is not null && !past.IsLost(key.User, snapshot))
            {
                ShardOf(key).Dispatch(progress, accepted, key, snapshot, past);
                return;
            }

            if (snapshot is null || !await _reads.WaitAsync(EndOf(accepted), failures, RowsLost, stuck).ConfigureAwait(false))
            {
                EndUnread(accepted, progress, key, past);
                return;
            }
        }
    }

    // Off the topic's line: its next events do not wait for whom nobody can read.
    private void EndFanOut(Event accepted, EventProgress progress, PastDispatch? past)
    {
        if (past?.Lost is null)
        {
            Dispatched(accepted, progress, past);
        }
        else
        {
            _ = WaitForLostAsync(accepted, progress, past);
        }
    }

    private async Task WaitForLostAsync(Event accepted, EventProgress progress, PastDispatch past)
    {
        try
        {
            await DispatchLostAsync(accepted, progress, past, new TaskCompletionSource()).ConfigureAwait(false);
            Dispatched(accepted, progress, past);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The hub stops: the journal holds it.
        }
        catch (Exception fault)
        {
            Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);
        }
    }

    private void EndUnread(Event accepted, EventProgress? progress, UserKey key, PastDispatch? past)
    {
        progress?.Unread();
        _context.Metrics.DeadlineMissed(accepted.Class);
        if (past is not null)
        {
            ShardOf(key).EndPast(progress!, key, past, DeliveryState.Failed, StoreUnavailable);
        }
    }

    // Guests: their sessions ended with the previous process.
    private void EndFormerGuests(Event accepted, EventProgress? progress, PastDispatch? past)
    {
        foreach (var user in past?.Users ?? [])
        {
            if (past!.Lost?.Contains(user) != true)
            {
                var key = new UserKey(accepted.App, user);
                ShardOf(key).EndPast(progress!, key, past, DeliveryState.Failed, "device-gone");
            }
        }
    }
}
