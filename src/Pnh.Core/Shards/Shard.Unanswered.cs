using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>
/// Attempts whose end nobody knows: the provider may have shown the push. Each further one may show it again, so they are few and far between, and when none
/// is left the delivery is neither accepted nor failed, but unconfirmed.
/// </summary>
internal sealed partial class Shard
{
    // Of an attempt of the previous process: what was in its way is in the line of that attempt.
    private const string UnansweredReason = "unanswered";

    /// <summary>The attempt's time is over; its answer may still come, and <see cref="Complete"/> is called then.</summary>
    internal void AnswerIsLate(PendingPush delivery, in DeliveryResult soFar)
    {
        using (Enter())
        {
            if (delivery.Withdrawal is null)
            {
                NoteUnanswered(delivery, soFar);
            }
        }
    }

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
        _hub.Notes.Tried(delivery, MilestoneKind.Unanswered, reason, setbacks.NextAttemptAt, _state.Now);
    }

    private DateTimeOffset? NextAfterUnanswered(PendingPush delivery, PushSetbacks setbacks, in DeliveryResult result) => delivery.IsSettled
        ? null
        : setbacks.Next(delivery.Event, result.IsCutOff, _state.Now, _state.Now + RetryWait.Spread(PushSetbacks.Pause, delivery.Event.ExpiresAt - _state.Now), delivery.IsTooLate(_hub.Time));

    private void RetryUnanswered(PendingPush delivery, in DeliveryResult result)
    {
        if (delivery.Setbacks!.NextAttemptAt is { } next)
        {
            _state.Wheel.Schedule(delivery, next > _state.Now ? next - _state.Now : TimeSpan.Zero);
        }
        else
        {
            Refuse(delivery, result.Reason ?? result.Status.Label());
        }
    }
}
