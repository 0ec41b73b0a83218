using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Events to more members than a page holds: behind their answers, page by page, as fast as the journal takes what is noted of them.</summary>
public sealed partial class Hub
{
    // One read, some 3 ms of work, and what a crash repeats at most.
    private const int PageMembers = 256;

    // 16,000 members as fast as it goes; of more each page is followed by a rest three times as long, calls left aside. What a million leave in mailboxes the
    // collector moves, 12 times for 30 ms: in 11 s that was a call's p99, in 45 s it is not.
    private const int QuickPages = 64;
    private const int RestsPerPage = 3;
    private static readonly TimeSpan LongestRest = TimeSpan.FromMilliseconds(100);

    private static readonly TimeSpan FanOutPatience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan FanOutLook = TimeSpan.FromMilliseconds(20);
    private readonly FanOutTable _fanOuts;
    private int _heldBack;

    /// <summary>Fan-outs that go on behind their answers.</summary>
    internal int FanOuts => _fanOuts.Count;

    // Its app has so many under way that the next publisher waits for one of them. Not for a topic that is known to be small.
    private bool IsHeldBack(Event accepted) => accepted is { IsDurable: true, To.Topic: { } topic } && _fanOuts.IsFull(accepted.App)
        && (!_devices.TryGetMembers(new TopicKey(accepted.App, topic), out _) || _fanOuts.Holds(FanOutLine.Of(accepted)));

    // The publisher waits before anything is stored, and without a place, which others need. So do few only, and not for ever: the others are told to come back.
    private async ValueTask<AcceptResult> AcceptWhenRoomAsync(Event accepted, IntakeGate.Place place)
    {
        _gate.Leave(place);
        var hasRoom = false;
        try
        {
            hasRoom = Interlocked.Increment(ref _heldBack) <= FanOutTable.MostOfApp
                && await WaitForFanOutsAsync(accepted, FanOutPatience, CancellationToken.None).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _heldBack);
        }

        if (hasRoom)
        {
            return await FinishAsync(accepted, Enter(accepted, place: default, isOfUpload: false)).ConfigureAwait(false);
        }

        _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Overloaded);
        return new AcceptResult(AcceptStatus.Overloaded, "Too many events to topics with many members are under way.", UnavailableRetry);
    }

    // True when there is room, or when the hub stops and says so itself.
    private async ValueTask<bool> WaitForFanOutsAsync(Event accepted, TimeSpan patience, CancellationToken cancellationToken)
    {
        var since = _time.GetTimestamp();
        while (IsHeldBack(accepted) && !_stopping.IsCancellationRequested)
        {
            if (_time.GetElapsedTime(since) >= patience)
            {
                return false;
            }

            await Task.Delay(FanOutLook, _time, cancellationToken).ConfigureAwait(false);
        }

        return true;
    }

    private async Task RunAsync(FanOut fanOut)
    {
        var (accepted, progress, past) = (fanOut.Event, fanOut.Progress, fanOut.Past);
        try
        {
            for (var pages = 1; !_stopping.IsCancellationRequested; pages++)
            {
                var since = _time.GetTimestamp();
                if (!await ServePageAsync(fanOut).ConfigureAwait(false))
                {
                    EndFormerGuests(accepted, progress, past);
                    EndFanOut(accepted, progress, past);
                    return;
                }

                if (pages > QuickPages && accepted.Class != EventClass.Call)
                {
                    await Task.Delay(Shorter(_time.GetElapsedTime(since) * RestsPerPage, LongestRest), _time, _stopping.Token).ConfigureAwait(false);
                }

                await FlushAsync().ConfigureAwait(false);
                await _context.Lanes.WaitForRoomAsync(accepted.Class, _stopping.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The hub stops: the next start goes on after the last member that was noted.
        }
        catch (Exception fault)
        {
            Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);
        }
    }

    // False = that was all.
    private async ValueTask<bool> ServePageAsync(FanOut fanOut)
    {
        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var page = await ReadPageAsync(fanOut.Line.Topic, fanOut.Reached, fanOut.Event, fanOut.Progress, stuck).ConfigureAwait(false);
        await fanOut.HoldAsync(_stopping.Token).ConfigureAwait(false);
        try
        {
            if (fanOut.IsStopped)
            {
                return false;
            }

            await ServeAsync(fanOut, page.Users, stuck).ConfigureAwait(false);
            return !page.IsLast;
        }
        finally
        {
            NoteReached(fanOut);
            fanOut.Release();
        }
    }

    // Behind what it tells of: who reads it back finds all of that too.
    private void NoteReached(FanOut fanOut)
    {
        if (fanOut.TakeNews())
        {
            _context.Journal.Note(new(fanOut.Event.App, fanOut.Event.Id, fanOut.Event.Class, MilestoneKind.Reached, _time.GetUtcNow())
            {
                Reason = fanOut.Reached,
            });
        }
    }

    // The journal drops notes when too many wait, so the next page waits until it has those of this one, however long its disk takes.
    private async ValueTask FlushAsync()
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                await _context.Journal.FlushAsync(_stopping.Token).ConfigureAwait(false);
                return;
            }
            catch (StoreUnavailableException fault)
            {
                await _reads.WaitAsync(DateTimeOffset.MaxValue, failures, fault.Message, new TaskCompletionSource()).ConfigureAwait(false);
            }
        }
    }

    // Members after one; when they cannot be read until the event is over, nobody, and that is noted.
    private async ValueTask<MemberPage> ReadPageAsync(
        TopicKey topic, string after, Event accepted, EventProgress? progress, TaskCompletionSource stuck)
    {
        if (await _reads.PageAsync(topic, after, PageMembers, EndOf(accepted), stuck).ConfigureAwait(false) is { } page)
        {
            return page;
        }

        progress?.Unread();
        return new MemberPage([], IsLast: true);
    }

    // Read together, and one by one when that fails: one user who cannot be read holds up nobody before him.
    private async ValueTask DispatchPageAsync(Event accepted, EventProgress? progress, PastDispatch? past, IReadOnlyList<string> users, TaskCompletionSource stuck)
    {
        var snapshots = await _reads.TryUsersAsync(accepted.App, users).ConfigureAwait(false);
        for (var i = 0; i < users.Count; i++)
        {
            await YieldAsync(i).ConfigureAwait(false);
            if (snapshots is null)
            {
                await DispatchUserAsync(accepted, progress, users[i], past, stuck).ConfigureAwait(false);
            }
            else
            {
                DispatchRead(accepted, progress, new UserKey(accepted.App, users[i]), snapshots[i], past);
            }
        }
    }

    // The same for a fan-out. Those who had their turn are not read.
    private async ValueTask ServeAsync(FanOut fanOut, IReadOnlyList<string> users, TaskCompletionSource stuck)
    {
        var due = users.Where(user => !fanOut.HasBegun(user)).ToList();
        var snapshots = due.Count == 0 ? [] : await _reads.TryUsersAsync(fanOut.Event.App, due).ConfigureAwait(false);
        for (var i = 0; i < due.Count; i++)
        {
            await YieldAsync(i).ConfigureAwait(false);
            _stopping.Token.ThrowIfCancellationRequested();
            var key = new UserKey(fanOut.Event.App, due[i]);
            var snapshot = snapshots is null ? await _reads.UserAsync(key, EndOf(fanOut.Event), stuck).ConfigureAwait(false) : snapshots[i];
            if (fanOut.Serve(ShardOf(key), key, snapshot) && snapshot is null)
            {
                EndUnread(fanOut.Event, fanOut.Progress, key, fanOut.Past);
            }
        }

        if (users.Count > 0)
        {
            fanOut.Pass(users[^1]);
        }
    }
}
