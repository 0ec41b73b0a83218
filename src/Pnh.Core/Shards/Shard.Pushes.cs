using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>Pushes: when they go to their lane, and what a provider's answer means.</summary>
internal sealed partial class Shard
{
    private const string AddressGoneReason = "address-gone";
    private static readonly TimeSpan FullLaneDelay = TimeSpan.FromSeconds(1);

    /// <summary>A lane's answer.</summary>
    internal void Complete(PendingPush delivery, in DeliveryResult result)
    {
        using (Enter())
        {
            delivery.IsInLane = false;
            if (delivery.Withdrawal is not null)
            {
                CompleteClear(delivery, result);
                return;
            }

            NoteEnd(delivery, result);
            if (delivery.IsSettled)
            {
                if (result.Status == DeliveryStatus.Accepted)
                {
                    _hub.Notes.PushedLate(delivery, result.ProviderId, _state.Now);
                }

                return;
            }

            switch (result.Status)
            {
                case DeliveryStatus.Accepted:
                    _settlement.Settle(delivery, DeliveryState.Accepted, result.Reason, result.ProviderId);
                    break;
                case DeliveryStatus.Unavailable when result.IsUnknown:
                    RetryUnanswered(delivery, result);
                    break;
                case DeliveryStatus.Throttled or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected:
                case DeliveryStatus.Misconfigured when result.RetryAfter is not null:
                    RetryLater(delivery, result);
                    break;
                case DeliveryStatus.Expired:
                    _settlement.End(delivery);
                    break;
                default:
                    Refuse(delivery, result.Reason ?? result.Status.Label());
                    break;
            }
        }
    }

    /// <summary>The device has no such address any more. Without the device itself, nobody can come for the rest.</summary>
    internal void AddressGone(PendingPush delivery, bool isDeviceGone)
    {
        using (Enter())
        {
            delivery.IsInLane = false;
            if (delivery.Withdrawal is not null)
            {
                _hub.Notes.Cleared(delivery.Event, delivery.User, delivery.Device.Id, delivery.Lane.Channel, AddressGoneReason, null, _state.Now);
                Release(delivery);
            }
            else if (!delivery.IsSettled)
            {
                Refuse(delivery, AddressGoneReason, isDeviceGone);
            }
        }
    }

    private void SendPush(PendingPush delivery)
    {
        if (delivery.IsSettled)
        {
            return;
        }

        if (delivery.Withdrawal is null && _state.IsExpired(delivery.Event) && !delivery.Event.IsNowOrNever)
        {
            _settlement.End(delivery);
            return;
        }

        // A TTL of 0 gets the one attempt that it asks for, so nobody is late with the next.
        if (delivery.Item is { } item)
        {
            item.WaitsForHub = !delivery.Event.IsNowOrNever;
        }

        if (delivery.Lane.TryEnqueue(delivery))
        {
            delivery.Attempts++;
            delivery.IsInLane = true;
            _settlement.NoLongerWaitsElsewhere(delivery);
            _state.Wheel.Cancel(delivery);
        }
        else if (delivery.Withdrawal is null && delivery.Event.IsNowOrNever)
        {
            _settlement.End(delivery);
        }
        else
        {
            // After a 202 nothing is shed, only delayed.
            _state.Wheel.Schedule(delivery, FullLaneDelay);
        }
    }

    private void RetryLater(PendingPush delivery, in DeliveryResult result)
    {
        var rest = delivery.Event.ExpiresAt - _state.Now;
        var wait = RetryWait.After(delivery, result, rest);
        DateTimeOffset? next = wait < rest ? _state.Now + wait : null;
        _hub.Notes.Attempt(delivery, result, next, _state.Now);
        if (next is not null)
        {
            _state.Wheel.Schedule(delivery, wait);
        }
        else
        {
            if (result.Status == DeliveryStatus.Misconfigured)
            {
                delivery.Item!.Ending = DeliveryState.Failed;
            }

            delivery.Item!.EndingReason ??= result.Reason ?? result.Status.Label();
            _settlement.Rest(delivery);
        }
    }

    // Refused for good. A frame on a live session may still be acknowledged; else the ledger has its end, and the mailbox may keep the event.
    private void Refuse(PendingPush delivery, string reason, bool isDeviceGone = false)
    {
        var item = delivery.Item!;
        item.Ending = DeliveryState.Failed;
        item.EndingReason = reason;
        if (IsOnLiveSession(delivery))
        {
            _settlement.Rest(delivery);
        }
        else
        {
            _settlement.Settle(delivery, DeliveryState.Failed, reason, isDeviceGone: isDeviceGone);
        }
    }

    // Seen on another device: not pushed any more, but this one still gets it with its next session.
    private void HoldBack(PendingPush delivery) => _settlement.Settle(delivery, DeliveryState.Suppressed, PlanReasons.AckedElsewhere);

    private bool IsOnLiveSession(PendingPush delivery) =>
        _state.Users.TryGetValue(delivery.User, out var user) && user.IsOnLive(delivery.Item!, delivery.Device.Id);
}
