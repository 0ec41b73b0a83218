using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.FanOuts;

/// <summary>The pages of fan-outs: a page's members are read together and have their turns, what follows waits until the journal has what was noted. Thread-safe.</summary>
/// <param name="context">What shards share.</param>
/// <param name="shards">Where users live.</param>
/// <param name="reads">The registry.</param>
/// <param name="turns">Gives way to others.</param>
/// <param name="ended">Gets a fan-out that came to its end.</param>
/// <param name="cut">Gets one that a bug ended, with it.</param>
/// <param name="stopping">Ends everything.</param>
internal sealed class FanOutPages(
    ShardContext context, ShardMap shards, PatientReads reads, Turns turns, Action<FanOut> ended, Action<FanOut, Exception> cut, CancellationToken stopping)
{
    /// <summary>Members of one: one read, some 3 ms of work. A crash repeats two at most.</summary>
    internal const int Members = 256;

    /// <summary>Between two turns that give way, so many members: 0.3 ms of a core.</summary>
    internal const int YieldEvery = 32;

    // Ids that are only looked at.
    private const int Counted = 4_096;
    private const int RestsPerPage = 3;

    private static readonly TimeSpan LongestRest = TimeSpan.FromMilliseconds(100);

    // As long as a lane holds what has one attempt now.
    private static readonly TimeSpan NowOrNever = TimeSpan.FromSeconds(5);

    /// <summary>The next page; false = that was all, or the hub stops: then the next start goes on after the last member that was noted.</summary>
    internal async Task<bool> ServeAsync(FanOut fanOut)
    {
        try
        {
            if (!IsOver(fanOut.Event))
            {
                if (await ServePageAsync(fanOut).ConfigureAwait(false))
                {
                    return true;
                }
            }
            else
            {
                await EndNotReachedAsync(fanOut).ConfigureAwait(false);
            }

            ended(fanOut);
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // As said.
        }
        catch (Exception fault)
        {
            cut(fanOut, fault);
        }

        return false;
    }

    /// <summary>
    /// What comes between two pages: a long one's rest, the journal, which must have the page before this one, and room in the lanes. False = the hub stops.
    /// </summary>
    internal async Task<bool> RestAsync(FanOut fanOut, TimeSpan took)
    {
        try
        {
            if (fanOut.IsAhead)
            {
                return true; // nothing was noted
            }

            if (fanOut.Pace == FanOutPace.Long)
            {
                var due = took * RestsPerPage;
                await Task.Delay(due < LongestRest ? due : LongestRest, context.Time, stopping).ConfigureAwait(false);
            }

            await fanOut.Flushed.ConfigureAwait(false);
            fanOut.Flushed = FlushAsync().AsTask();
            await context.Lanes.WaitForRoomAsync(fanOut.Event.Class, stopping).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            return false;
        }
        catch (Exception fault)
        {
            cut(fanOut, fault);
            return false;
        }
    }

    /// <summary>The journal drops notes when too many wait: completes when it has all that were made so far, however long its disk takes.</summary>
    internal async ValueTask FlushAsync()
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                await context.Journal.FlushAsync(stopping).ConfigureAwait(false);
                return;
            }
            catch (StoreUnavailableException fault)
            {
                await reads.WaitAsync(fault.Message, failures).ConfigureAwait(false);
            }
        }
    }

    private bool IsOver(Event accepted) =>
        (accepted.ExpiresAt > accepted.AcceptedAt ? accepted.ExpiresAt : accepted.AcceptedAt + NowOrNever) <= context.Time.GetUtcNow();

    // False = that was all.
    private async ValueTask<bool> ServePageAsync(FanOut fanOut)
    {
        if (fanOut is { Pages: 0, Begun: > 0 and var begun } && await reads.TryCountAsync(fanOut.Line.Topic).ConfigureAwait(false) <= begun)
        {
            return false; // all of them have a session: counting costs a tenth of reading their names
        }

        var most = fanOut.IsAhead ? Counted : Members;
        if (await reads.PageAsync(fanOut.Line.Topic, fanOut.Reached, most, fanOut.Event.ExpiresAt).ConfigureAwait(false) is not { } page)
        {
            fanOut.Progress.Unread();
            return false;
        }

        await fanOut.HoldAsync(stopping).ConfigureAwait(false);
        try
        {
            if (fanOut.IsStopped)
            {
                return false;
            }

            return !await ServeAsync(fanOut, page).ConfigureAwait(false);
        }
        finally
        {
            NoteReached(fanOut);
            fanOut.Release();
        }
    }

    // Those who had their turn are not read. Together, and one by one when that fails: one user who cannot be read holds up nobody before him. True = that was all.
    private async ValueTask<bool> ServeAsync(FanOut fanOut, MemberPage page)
    {
        var due = page.Users.Where(user => !fanOut.HasBegun(user)).Take(Members + 1).ToList();
        var isCut = due.Count > Members;
        due.RemoveRange(Math.Min(due.Count, Members), isCut ? 1 : 0);
        var snapshots = due.Count == 0 ? [] : await reads.TryUsersAsync(fanOut.Event.App, due).ConfigureAwait(false);
        for (var i = 0; i < due.Count; i++)
        {
            if (i > 0 && i % YieldEvery == 0)
            {
                await turns.NextAsync();
            }

            stopping.ThrowIfCancellationRequested();
            var key = new UserKey(fanOut.Event.App, due[i]);
            var snapshot = snapshots is null ? await reads.UserAsync(key, fanOut.Event.ExpiresAt).ConfigureAwait(false) : snapshots[i];
            if (fanOut.Serve(shards.Of(key), key, snapshot) && snapshot is null)
            {
                context.EndUnread(fanOut.Event, fanOut.Progress);
            }
        }

        // Where all have a session, and so had their turn, the rest is looked through in longer strides.
        fanOut.IsAhead = due.Count == 0;
        if (page.Users.Count > 0 && !isCut)
        {
            fanOut.Pass(page.Users[^1]);
        }

        return page.IsLast && !isCut;
    }

    // Behind what it tells of: who reads it back finds all of that too.
    private void NoteReached(FanOut fanOut)
    {
        if (fanOut.TakeNews())
        {
            context.Journal.Note(new(fanOut.Event.App, fanOut.Event.Id, fanOut.Event.Class, MilestoneKind.Reached, context.Time.GetUtcNow())
            {
                Reason = fanOut.Reached,
            });
        }
    }

    // The TTL is over: who is left is not planned one by one, but counted, in one line.
    private async ValueTask EndNotReachedAsync(FanOut fanOut)
    {
        await fanOut.HoldAsync(stopping).ConfigureAwait(false);
        try
        {
            var left = 0;
            for (var isLast = fanOut.IsStopped; !isLast;)
            {
                var read = await reads.PageAsync(fanOut.Line.Topic, fanOut.Reached, Counted, DateTimeOffset.MinValue).ConfigureAwait(false);
                if (read is not { } page)
                {
                    fanOut.Progress.Unread();
                    break;
                }

                left += page.Users.Count(user => fanOut.IsLeft(user));
                fanOut.Pass(page.Users.Count > 0 ? page.Users[^1] : fanOut.Reached);
                isLast = page.IsLast;
            }

            context.EndNotReached(fanOut.Progress, left);
        }
        finally
        {
            fanOut.Release();
        }
    }
}
