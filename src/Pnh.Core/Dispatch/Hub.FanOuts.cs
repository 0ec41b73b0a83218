using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Intake;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Events to more members than a page holds: behind their answers, page by page, as fast as the journal takes what is noted of them.</summary>
public sealed partial class Hub
{
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

    // Members after one; when they cannot be read until the event is over, nobody, and that is noted.
    private async ValueTask<MemberPage> ReadPageAsync(
        TopicKey topic, string after, Event accepted, EventProgress? progress, TaskCompletionSource stuck)
    {
        if (await _reads.PageAsync(topic, after, FanOutPages.Members, EndOf(accepted), stuck).ConfigureAwait(false) is { } page)
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
}
