using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>
/// Pushes: when they go to their lane, and what a provider's answer means. Of an attempt whose end nobody knows the provider may have shown the push, and each further one may show it
/// again: so they are few and far between, and when none is left the delivery is neither accepted nor failed, but unconfirmed. Members take the shard's gate, but where said.
/// </summary>
internal sealed class PushSchedule(ShardState state, Settlement settlement)
{
    internal const string AddressGoneReason = "address-gone";

    // Of an attempt of the previous process: what was in its way is in the line of that attempt.
    internal const string UnansweredReason = "unanswered";

    private static readonly TimeSpan FullLaneDelay = TimeSpan.FromSeconds(1);

    private readonly ShardContext _hub = state.Hub;

    /// <summary>A lane's answer.</summary>
    internal void Complete(PendingPush delivery, in DeliveryResult result)
    {
        using (state.Enter())
        {
            delivery.IsInLane = false;
            NoteEnd(delivery, result);
            if (delivery.IsSettled)
            {
                if (result.Status == DeliveryStatus.Accepted)
                {
                    _hub.Notes.PushedLate(delivery, result.ProviderId, state.Now);
                }

                return;
            }

            switch (result.Status)
            {
                case DeliveryStatus.Accepted:
                    settlement.Settle(delivery, DeliveryState.Accepted, result.Reason, result.ProviderId);
                    break;
                case DeliveryStatus.Unavailable when result.IsUnknown:
                    RetryUnanswered(delivery, result);
                    break;
                case DeliveryStatus.Throttled or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected:
                case DeliveryStatus.Misconfigured when result.RetryAfter is not null:
                    RetryLater(delivery, result);
                    break;
                case DeliveryStatus.Expired:
                    settlement.End(delivery);
                    break;
                default:
                    Refuse(delivery, result.Reason ?? result.Status.Label());
                    break;
            }
        }
    }

    /// <summary>The attempt's time is over; its answer may still come, and <see cref="Complete"/> is called then.</summary>
    internal void AnswerIsLate(PendingPush delivery, in DeliveryResult soFar)
    {
        if (delivery.Withdrawal is null)
        {
            using (state.Enter())
            {
                NoteUnanswered(delivery, soFar);
            }
        }
    }

    /// <summary>The device has no such address any more. Without the device itself, nobody can come for the rest.</summary>
    internal void AddressGone(PendingPush delivery, bool isDeviceGone)
    {
        using (state.Enter())
        {
            delivery.IsInLane = false;
            if (!delivery.IsSettled)
            {
                Refuse(delivery, AddressGoneReason, isDeviceGone);
            }
        }
    }

    /// <summary>Gives the push to its lane, now or when that has room. Under the gate.</summary>
    internal void Send(PendingPush delivery)
    {
        if (delivery.IsSettled)
        {
            return;
        }

        if (delivery.Withdrawal is null && state.IsExpired(delivery.Event) && !delivery.Event.IsNowOrNever)
        {
            settlement.End(delivery);
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
            settlement.NoLongerWaitsElsewhere(delivery);
            state.Wheel.Cancel(delivery);
        }
        else if (delivery.Withdrawal is null && delivery.Event.IsNowOrNever)
        {
            settlement.End(delivery);
        }
        else
        {
            // After a 202 nothing is shed, only delayed.
            state.Wheel.Schedule(delivery, FullLaneDelay);
        }
    }

    private void RetryLater(PendingPush delivery, in DeliveryResult result)
    {
        var rest = delivery.Event.ExpiresAt - state.Now;
        var wait = RetryWait.After(delivery, result, rest);
        DateTimeOffset? next = wait < rest ? state.Now + wait : null;
        _hub.Notes.Attempt(delivery, result, next, state.Now);
        if (next is not null)
        {
            state.Wheel.Schedule(delivery, wait);
        }
        else
        {
            if (result.Status == DeliveryStatus.Misconfigured)
            {
                delivery.Item!.Ending = DeliveryState.Failed;
            }

            delivery.Item!.EndingReason ??= result.Reason ?? result.Status.Label();
            settlement.Rest(delivery);
        }
    }

    /// <summary>Refused for good. Under the gate. A frame on a live session may still be acknowledged; else the ledger has its end, and the mailbox may keep the event.</summary>
    internal void Refuse(PendingPush delivery, string reason, bool isDeviceGone = false)
    {
        var item = delivery.Item!;
        item.Ending = DeliveryState.Failed;
        item.EndingReason = reason;
        if (IsOnLiveSession(delivery))
        {
            settlement.Rest(delivery);
        }
        else
        {
            settlement.Settle(delivery, DeliveryState.Failed, reason, isDeviceGone: isDeviceGone);
        }
    }

    private bool IsOnLiveSession(PendingPush delivery) =>
        state.Users.TryGetValue(delivery.User, out var user) && user.IsOnLive(delivery.Item!, delivery.Device.Id);

    // What an attempt's last word says of whether it is one of them.
    private void NoteEnd(PendingPush delivery, in DeliveryResult result)
    {
        if (result.IsUnknown)
        {
            NoteUnanswered(delivery, result);
            delivery.Setbacks!.IsLate = false;
        }
        else if (delivery.Setbacks is { IsLate: true } setbacks)
        {
            setbacks.IsLate = false;
            setbacks.Unanswered--;
            if (setbacks.Unanswered == 0)
            {
                delivery.Item!.MayBeShown = false;
                delivery.Item.EndingReason = null;
            }
        }
    }

    // Also when it was acknowledged elsewhere meanwhile: who takes the event back has to know that a phone may show it.
    private void NoteUnanswered(PendingPush delivery, in DeliveryResult result)
    {
        var setbacks = delivery.Setbacks ??= new PushSetbacks();
        if (setbacks.IsLate)
        {
            // Its line is written. When its connection ended since, the answer that was waited for cannot come.
            setbacks.NextAttemptAt = result.IsCutOff ? NextAfterUnanswered(delivery, setbacks, result) : setbacks.NextAttemptAt;
            return;
        }

        setbacks.IsLate = true;
        setbacks.Unanswered++;
        setbacks.NextAttemptAt = NextAfterUnanswered(delivery, setbacks, result);
        var reason = result.Reason ?? result.Status.Label();
        delivery.Item!.MayBeShown = true;
        delivery.Item.EndingReason ??= reason;
        _hub.Notes.Tried(delivery, MilestoneKind.Unanswered, reason, setbacks.NextAttemptAt, state.Now);
    }

    private DateTimeOffset? NextAfterUnanswered(PendingPush delivery, PushSetbacks setbacks, in DeliveryResult result) => delivery.IsSettled
        ? null
        : setbacks.Next(delivery.Event, result.IsCutOff, state.Now, state.Now + RetryWait.Spread(PushSetbacks.Pause, delivery.Event.ExpiresAt - state.Now), delivery.IsTooLate(_hub.Time));

    private void RetryUnanswered(PendingPush delivery, in DeliveryResult result)
    {
        if (delivery.Setbacks!.NextAttemptAt is { } next)
        {
            state.Wheel.Schedule(delivery, next > state.Now ? next - state.Now : TimeSpan.Zero);
        }
        else
        {
            Refuse(delivery, result.Reason ?? result.Status.Label());
        }
    }
}
