using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Intake;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>Publishers of events to long topics, who wait while many of their app's are under way.</summary>
public sealed partial class EventAcceptor
{
    private static readonly TimeSpan FanOutPatience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan FanOutLook = TimeSpan.FromMilliseconds(20);
    private int _heldBack;

    // Its app has so many under way that the next publisher waits for one of them. Not for a topic that is known to be small.
    private bool IsHeldBack(Event accepted) => accepted is { IsDurable: true, To.Topic: { } topic } && _dispatcher.FanOuts.IsFull(accepted.App)
        && (!_devices.TryGetMembers(new TopicKey(accepted.App, topic), out _) || _dispatcher.FanOuts.Holds(FanOutLine.Of(accepted)));

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
}
