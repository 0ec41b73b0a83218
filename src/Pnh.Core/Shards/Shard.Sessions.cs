using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>The sessions' half of a shard.</summary>
internal sealed partial class Shard
{
    // How long the deliveries of a closed, unregistered session wait for it to come back.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(60);

    // Replayed frames that may be unacknowledged at once, whatever a session has room for: half of the 256 that ours keep.
    private const int ReplayWindow = 128;

    /// <summary>Takes a new session in, closes the device's older one, and sends what waits for the device, oldest first, as fast as it acknowledges.</summary>
    internal void Open(SessionOpened opened)
    {
        var session = new LiveSession(opened.Key, opened.State, opened.Link, opened.ConnectedAt);
        LiveSession? older = null;
        lock (_gate)
        {
            var key = KeyOf(opened.Key);
            var user = GetOrAddUser(key);
            if (user.FindSession(opened.Key.Device) is >= 0 and var index)
            {
                older = user.Sessions[index];
                user.Sessions[index] = session;
                _hub.Metrics.SessionsChanged(older.State, -1);
            }
            else
            {
                user.Sessions.Add(session);
            }

            _hub.Metrics.SessionsChanged(session.State, +1);
            EndLinger(user, opened.Key.Device);
            Replay(user, session);
        }

        if (older is not null && older.Key != opened.Key)
        {
            older.Link.Close(older.Key.Session, SessionClose.Replaced);
        }
    }

    /// <summary>Forgets the session, unless a newer one took its place.</summary>
    internal void Close(SessionKey closed)
    {
        lock (_gate)
        {
            if (!TryFind(closed, out var user, out var index))
            {
                return;
            }

            _hub.Metrics.SessionsChanged(user.Sessions[index].State, -1);
            user.Sessions.RemoveAt(index);
            user.SetBehind(closed.Device, false);
            foreach (var delivery in user.Pending)
            {
                // Nobody can reach an unregistered device any more: its deliveries end when it does not come back soon.
                if (!delivery.IsRegistered && IsFor(delivery, closed.Device))
                {
                    Schedule(delivery, WheelAction.End, Shorter(Linger, delivery.Event.ExpiresAt - _hub.Time.GetUtcNow()));
                }
            }

            RemoveIfIdle(KeyOf(closed), user);
        }
    }

    /// <summary>Front or background.</summary>
    internal void ChangeState(SessionKey session, SessionState state)
    {
        lock (_gate)
        {
            if (TryFind(session, out var user, out var index) && user.Sessions[index].State != state)
            {
                _hub.Metrics.SessionsChanged(user.Sessions[index].State, -1);
                _hub.Metrics.SessionsChanged(state, +1);
                user.Sessions[index] = user.Sessions[index] with { State = state };
            }
        }
    }

    /// <summary>Ends the device's delivery of the event, and the pushes that waited only for somebody to acknowledge.</summary>
    internal void Ack(SessionKey session, string eventId)
    {
        lock (_gate)
        {
            if (!_users.TryGetValue(KeyOf(session), out var user))
            {
                return;
            }

            if (user.FindPending(session.Device, eventId) is { } acked)
            {
                Acknowledge(user, acked);
            }

            // Also after an ack of what has ended already: it made room all the same.
            ReplayRest(user, session.Device);
        }
    }

    private void Acknowledge(UserState user, Delivery acked)
    {
        if (acked.FrameTimestamp is { } framed)
        {
            _hub.Metrics.Acked(acked.Event.Class, _hub.Time.GetElapsedTime(framed));
        }

        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, acked.Event.Class, DeliveryStatus.Acked);
        if (acked.Push == PushTiming.UnlessAcked && acked.Attempts > 0)
        {
            _hub.Metrics.DeadlineMissed(acked.Event.Class);
        }

        Settle(acked, DeliveryState.Acked, null);
        for (var i = user.Pending.Count - 1; i >= 0; i--)
        {
            var other = user.Pending[i];
            if (ReferenceEquals(other.Progress, acked.Progress) && other is { Push: PushTiming.UnlessAckedElsewhere, Attempts: 0 })
            {
                HoldBack(other);
            }
        }
    }

    // Sends what waits for the session's device, oldest first, until a window is unacknowledged; the rest follows the acks.
    private void Replay(UserState user, LiveSession session)
    {
        var unacked = 0;
        foreach (var delivery in user.Pending)
        {
            if (!delivery.TakesFrames || !IsFor(delivery, session.Key.Device) || IsExpired(delivery))
            {
                continue;
            }

            if (delivery.Session?.Key != session.Key && (unacked == ReplayWindow || !SendFrame(delivery, session, isReplay: true)))
            {
                user.SetBehind(session.Key.Device, true);
                return;
            }

            unacked++;
        }

        user.SetBehind(session.Key.Device, false);
    }

    private void ReplayRest(UserState user, string device)
    {
        if (user.IsBehind(device) && user.FindSession(device) is >= 0 and var index)
        {
            Replay(user, user.Sessions[index]);
        }
    }

    // Older events of the device still wait for their replay: a newer one queues behind them, but for a call.
    private static bool IsBehind(UserState user, Delivery delivery) =>
        delivery.Event.Class != EventClass.Call && user.IsBehind(delivery.Device.Id);

    private void EndLinger(UserState user, string device)
    {
        foreach (var delivery in user.Pending)
        {
            if (!delivery.IsRegistered && IsFor(delivery, device))
            {
                ScheduleEnd(delivery);
            }
        }
    }

    private static bool IsFor(Delivery delivery, string device) =>
        string.Equals(delivery.Device.Id, device, StringComparison.Ordinal);

    /// <summary>The user's sessions now.</summary>
    internal LiveSession[] Sessions(UserKey key)
    {
        lock (_gate)
        {
            return _users.TryGetValue(key, out var user) ? [.. user.Sessions] : [];
        }
    }

    private bool TryFind(SessionKey session, out UserState user, out int index)
    {
        index = _users.TryGetValue(KeyOf(session), out user!) ? user.FindSession(session.Device) : -1;
        return index >= 0 && user.Sessions[index].Key == session;
    }

    private static UserKey KeyOf(SessionKey session) => new(session.App, session.User);

    private static TimeSpan Shorter(TimeSpan a, TimeSpan b) => a < b ? a : b;
}
