using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// What the previous process began for users of whom the registry knows nothing now. Nothing says that their devices were deleted, so they are not gone: they cannot be read,
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
                _context.EndUnread(ShardOf(key), accepted, progress, key, past);
                return;
            }
        }
    }

    // Off the topic's line: its next events do not wait for users whom nobody can read.
    private void EndFanOut(FanOut fanOut)
    {
        EndFormerGuests(fanOut.Event, fanOut.Progress, fanOut.Past);
        if (fanOut.Past?.Lost is null)
        {
            Dispatched(fanOut.Event, fanOut.Progress, fanOut.Past);
        }
        else
        {
            _ = WaitForLostAsync(fanOut.Event, fanOut.Progress, fanOut.Past);
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
            LogCut(accepted, fault);
        }
    }

    // Guests: their sessions ended with the previous process, but for those that edges hold.
    private void EndFormerGuests(Event accepted, EventProgress? progress, PastDispatch? past)
    {
        foreach (var user in past?.Users ?? [])
        {
            if (past!.Lost?.Contains(user) != true)
            {
                var key = new UserKey(accepted.App, user);
                ShardOf(key).EndPastGuest(progress!, accepted, key, past);
            }
        }
    }
}
