using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>One delivery's way from its plan to its end.</summary>
internal sealed partial class Shard
{
    private static readonly TimeSpan FullLaneDelay = TimeSpan.FromSeconds(1);

    private const string AddressGoneReason = "address-gone";

    // A frame that left in time may be acknowledged after the TTL: a slow phone answers within seconds.
    private static readonly TimeSpan AckGrace = TimeSpan.FromSeconds(5);

    private void Begin(EventProgress progress, UserKey key, UserState user, in DevicePlan plan)
    {
        progress.Add();
        var delivery = new Delivery
        {
            Event = progress.Event,
            User = key,
            Device = plan.Device,
            Address = plan.Address,
            Progress = progress,
            Push = plan.Push,
            IsRegistered = plan.IsRegistered,
            TakesFrames = plan.Mailbox || plan.Socket is not null,
            Ending = EndingOf(plan.PushHeld),
            EndingReason = plan.PushHeld,
            Lane = plan.Channel is null ? null : _hub.Lanes.Get(plan.Channel, plan.Account!, progress.Event.Class),
        };
        user.Pending.Add(delivery);
        if (IsExpired(delivery) && !IsNowOrNever(delivery.Event))
        {
            // The journal or the expansion of a topic took longer than it may live.
            delivery.WaitsForHub = true;
            End(delivery);
            return;
        }

        var isBehind = plan.Socket is not null && IsBehind(user, delivery);
        if (isBehind)
        {
            // What is ahead may have ended without an ack meanwhile; then there is room now.
            ReplayRest(user, delivery.Device.Id);
        }

        var sent = delivery.Session is not null || (plan.Socket is not null && !isBehind && SendFrame(delivery, plan.Socket));
        if (IsPushedAtOnce(delivery, sent, isBehind))
        {
            Enqueue(delivery);
        }
        else if (plan.Push != PushTiming.Never && !IsNowOrNever(delivery.Event))
        {
            Schedule(delivery, WheelAction.SendPush, plan.PushDelay);
        }
        else if (!sent && !isBehind && delivery.Ending == DeliveryState.Failed)
        {
            RefuseUnprovided(delivery);
        }
        else
        {
            ScheduleEnd(delivery);
        }
    }

    // A TTL of 0 means now or never: one attempt on each channel that can be tried at once, and none later. A frame that only queues behind
    // others still has the time for its ack; one that the session refused will not be acknowledged.
    private static bool IsPushedAtOnce(Delivery delivery, bool sent, bool isBehind) => delivery.Push switch
    {
        PushTiming.Now => true,
        PushTiming.UnlessAcked => !sent && (!isBehind || IsNowOrNever(delivery.Event)),
        PushTiming.UnlessAckedElsewhere => IsNowOrNever(delivery.Event),
        _ => false,
    };

    private void SendTransient(Event accepted, in DevicePlan plan)
    {
        var session = plan.Socket!;
        if (session.Link.TrySend(session.Key.Session, accepted))
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.Sent);
            _hub.Metrics.RequestServed();
        }
        else
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.NotConnected);
        }
    }

    private bool SendFrame(Delivery delivery, LiveSession session, bool isReplay = false)
    {
        var (link, id) = (session.Link, session.Key.Session);
        if (isReplay)
        {
            if (!link.TryReplay(id, delivery.Event))
            {
                return false;
            }
        }
        else if (!link.TrySend(id, delivery.Event))
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, delivery.Event.Class, DeliveryStatus.NotConnected);
            return false;
        }

        delivery.Session = session;
        delivery.FrameTimestamp = _hub.Time.GetTimestamp();
        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, delivery.Event.Class, DeliveryStatus.Sent);
        return true;
    }

    private void SendPush(Delivery delivery)
    {
        if (IsExpired(delivery))
        {
            End(delivery);
        }
        else
        {
            Enqueue(delivery);
        }
    }

    private void Enqueue(Delivery delivery)
    {
        // A TTL of 0 gets the one attempt that it asks for, so nobody is late with the next.
        delivery.WaitsForHub = !IsNowOrNever(delivery.Event);
        if (delivery.Lane!.TryEnqueue(delivery))
        {
            delivery.Attempts++;
        }
        else
        {
            // After a 202 nothing is shed, only delayed.
            Schedule(delivery, WheelAction.SendPush, FullLaneDelay);
        }
    }

    private void RetryLater(Delivery delivery, in DeliveryResult result)
    {
        var rest = delivery.Event.ExpiresAt - _hub.Time.GetUtcNow();
        var wait = WaitAfter(delivery, result, rest);
        if (wait < rest)
        {
            Schedule(delivery, WheelAction.SendPush, wait);
        }
        else
        {
            delivery.EndingReason ??= result.Reason ?? result.Status.Label();
            ScheduleEnd(delivery);
        }
    }

    private static TimeSpan WaitAfter(Delivery delivery, in DeliveryResult result, TimeSpan rest)
    {
        // A provider that says "after 0 s" means soon, not at once and again: that would be a busy loop.
        if (result.RetryAfter is not { } given || given <= TimeSpan.Zero)
        {
            return Backoff(delivery.Attempts);
        }

        // The breaker tells everybody the same few seconds, however long the outage lasts.
        return result is { Status: DeliveryStatus.Unavailable, Reason: DeliveryResult.BreakerOpen } && Backoff(delivery.Attempts) is var own && own > given
            ? own
            : Spread(given, rest);
    }

    // Never earlier than given, up to a quarter later: those who were told the same time do not come back together. Within the TTL if given was.
    private static TimeSpan Spread(TimeSpan given, TimeSpan rest)
    {
        var room = given < rest ? Shorter(given / 4, rest - given) : TimeSpan.Zero;
        return given + (room * Random.Shared.NextDouble());
    }

    // 1, 2, 4 … 64 s, each spread over half to one and a half of it, so that a healed provider is not met by everybody at once.
    private static TimeSpan Backoff(int attempts) =>
        TimeSpan.FromSeconds((1 << Math.Clamp(attempts - 1, 0, 6)) * (0.5 + Random.Shared.NextDouble()));

    // Refused for good. A frame on a live session may still be acknowledged, and the mailbox waits for the next one; else it is over.
    private void Refuse(Delivery delivery, string reason, bool isDeviceGone = false)
    {
        delivery.Push = PushTiming.Never;
        delivery.Ending = DeliveryState.Failed;
        delivery.EndingReason = reason;
        if (IsOnLiveSession(delivery) || (HasMailbox(delivery) && !isDeviceGone))
        {
            ScheduleEnd(delivery);
        }
        else
        {
            End(delivery);
        }
    }

    // No provider serves the address: counted now, so that somebody acts; what has a mailbox still waits for the device's next session.
    private void RefuseUnprovided(Delivery delivery)
    {
        if (HasMailbox(delivery))
        {
            delivery.IsCounted = true;
            _hub.Counted(DeliveryState.Failed, PlanReasons.NoProvider, ChannelNames.None, delivery.Event.Class);
        }

        Refuse(delivery, PlanReasons.NoProvider);
    }

    // Seen on another device: not pushed any more, but this one still gets it with its next session.
    private void HoldBack(Delivery delivery)
    {
        if (!HasMailbox(delivery))
        {
            Settle(delivery, DeliveryState.Suppressed, PlanReasons.AckedElsewhere);
            return;
        }

        delivery.Push = PushTiming.Never;
        delivery.Ending = DeliveryState.Suppressed;
        delivery.EndingReason = PlanReasons.AckedElsewhere;
        delivery.IsCounted = true;
        _hub.Counted(DeliveryState.Suppressed, delivery.EndingReason, delivery.Lane!.Channel, delivery.Event.Class);
        ScheduleEnd(delivery);
    }

    private static bool HasMailbox(Delivery delivery) => delivery is { IsRegistered: true, TakesFrames: true };

    private void Schedule(Delivery delivery, WheelAction action, TimeSpan delay)
    {
        delivery.OnDue = action;
        _wheel.Schedule(delivery, delay);
    }

    private void ScheduleEnd(Delivery delivery)
    {
        var rest = delivery.Event.ExpiresAt - _hub.Time.GetUtcNow();
        Schedule(delivery, WheelAction.End, delivery.FrameTimestamp is not null && rest < AckGrace ? AckGrace : rest);
    }

    private bool IsOnLiveSession(Delivery delivery) =>
        delivery.Session is { } session && TryFind(session.Key, out _, out _);

    private bool IsExpired(Delivery delivery) => delivery.Event.ExpiresAt <= _hub.Time.GetUtcNow();

    private static bool IsNowOrNever(Event accepted) => accepted.ExpiresAt <= accepted.AcceptedAt;

    private static DeliveryState EndingOf(string? pushHeld) => pushHeld switch
    {
        null => DeliveryState.Expired,
        PlanReasons.NoProvider => DeliveryState.Failed,
        _ => DeliveryState.Suppressed,
    };

    private void Suppress(Event accepted, UserKey key, in DevicePlan plan)
    {
        // No way at all for want of a provider is a failure, not somebody's wish.
        var state = plan.PushHeld == PlanReasons.NoProvider ? DeliveryState.Failed : DeliveryState.Suppressed;
        _hub.Counted(state, plan.Reason, ChannelNames.None, accepted.Class);
        if (accepted.IsDurable)
        {
            _hub.Journal.Note(new(accepted.App, accepted.Id, accepted.Class, Journal.MilestoneKind.Settled, _hub.Time.GetUtcNow())
            {
                User = key.User,
                Device = plan.Device.Id,
                State = state.Label(),
                Reason = plan.Reason,
            });
        }
    }

    private void End(Delivery delivery) => Settle(delivery, delivery.Ending, delivery.EndingReason);

    private void Settle(Delivery delivery, DeliveryState state, string? reason)
    {
        if (delivery.IsSettled)
        {
            return;
        }

        delivery.State = state;
        _wheel.Cancel(delivery);
        if (_users.TryGetValue(delivery.User, out var user))
        {
            user.Pending.Remove(delivery);
            RemoveIfIdle(delivery.User, user);
        }

        _hub.Settled(delivery, state, reason);
    }
}
