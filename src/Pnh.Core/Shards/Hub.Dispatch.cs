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
        await foreach (var user in MembersAsync(accepted, stuck).ConfigureAwait(false))
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
            ShardOf(new UserKey(accepted.App, user)).EndPast(progress, new UserKey(accepted.App, user), past!, "device-gone");
        }
    }

    private async ValueTask DispatchUserAsync(Event accepted, EventProgress progress, string user, PastDispatch? past, TaskCompletionSource stuck)
    {
        var key = new UserKey(accepted.App, user);
        if (await ReadUserAsync(key, accepted, stuck).ConfigureAwait(false) is { } snapshot)
        {
            ShardOf(key).Dispatch(progress, accepted, key, snapshot, past);
            return;
        }

        _context.Metrics.DeadlineMissed(accepted.Class);
        if (past is not null)
        {
            ShardOf(key).EndPast(progress, key, past, "store-unavailable");
        }
    }

    // Tried until the event is over (then null): a disk that comes back must not cost a delivery.
    private async ValueTask<UserSnapshot?> ReadUserAsync(UserKey key, Event accepted, TaskCompletionSource stuck)
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await _devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault)
            {
                if (!await WaitForStoreAsync(accepted, failures, fault.Message, stuck).ConfigureAwait(false))
                {
                    return null;
                }
            }
        }
    }

    // The topic's members, each once; when they cannot be read on, again after the last one given, until the event is over.
    private async IAsyncEnumerable<string> MembersAsync(Event accepted, TaskCompletionSource stuck)
    {
        string? last = null;
        for (var failures = 0; ; failures++)
        {
            var begin = last;
            string? fault;
            var members = TargetsAsync(accepted, CancellationToken.None).GetAsyncEnumerator(CancellationToken.None);
            await using (members.ConfigureAwait(false))
            {
                while ((fault = await TryMoveNextAsync(members).ConfigureAwait(false)) is null)
                {
                    if (begin is null || IsAfter(members.Current, begin))
                    {
                        yield return last = members.Current;
                    }
                }
            }

            if (fault.Length == 0 || !await WaitForStoreAsync(accepted, failures, fault, stuck).ConfigureAwait(false))
            {
                yield break;
            }
        }
    }

    // Null = there is one; empty = that was all; else why it cannot be read.
    private static async ValueTask<string?> TryMoveNextAsync(IAsyncEnumerator<string> members)
    {
        try
        {
            return await members.MoveNextAsync().ConfigureAwait(false) ? null : "";
        }
        catch (StoreUnavailableException fault)
        {
            return fault.Message is "" ? "unavailable" : fault.Message;
        }
    }

    // The registry's order is that of UTF-8; .NET's ordinal one differs from it above U+FFFF.
    private static bool IsAfter(string member, string other) =>
        System.Text.Encoding.UTF8.GetBytes(member).AsSpan().SequenceCompareTo(System.Text.Encoding.UTF8.GetBytes(other)) > 0;

    // 1, 2, 4 … 30 s; false = nobody waits for it: the event is over by then, or promises nothing.
    private async ValueTask<bool> WaitForStoreAsync(Event accepted, int failures, string fault, TaskCompletionSource stuck)
    {
        NoteStoreFault(fault);
        if (!accepted.IsDurable || _time.GetUtcNow() >= accepted.ExpiresAt)
        {
            return false;
        }

        stuck.TrySetResult();
        await Task.Delay(Shorter(TimeSpan.FromSeconds(1 << Math.Min(failures, 5)), LongestReadRetry), _time, _stopping.Token).ConfigureAwait(false);
        return true;
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
