using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>The sessions' half of a shard.</summary>
internal sealed partial class Shard
{
    // How long the deliveries of a closed, unregistered session wait for it to come back.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(60);

    internal const string DeviceGone = PlanReasons.DeviceGone;

    /// <summary>
    /// Takes a new session in, closes the device's older one, and sends what waits for the device, oldest first, as fast as it acknowledges. Closes the new one when the connection of the present
    /// one came later. False when the user has so many with a connection, and none of this device. <paramref name="replaced"/> is the older one as subscriber; null = it was in no topic.
    /// </summary>
    internal bool TryOpen(SessionOpened opened, int most, out Subscriber? replaced)
    {
        replaced = null;
        var newer = new LiveSession(opened.Key, opened.State, opened.Link, opened.ConnectedAt);
        LiveSession? older;
        using (Enter())
        {
            var user = _state.GetOrAddUser(KeyOf(opened.Key));
            var index = user.FindSession(opened.Key.Device);
            if (index < 0 && user.Sessions.Count >= most && user.Sessions.Count(static each => !each.IsDetached) >= most)
            {
                return false;
            }

            if (index >= 0 && user.Sessions[index] is var present && present.Key != newer.Key && present.Outdates(newer.Since, _hub.Time.GetUtcNow()))
            {
                (older, newer) = (newer, present);
            }
            else
            {
                older = Place(user, index, ref newer);
                _state.Missed.Tell(newer);
                if (Mail.FindAndRead(user, opened.Key.Device) is { } mailbox)
                {
                    mailbox.EndLinger();
                    _replay.Begin(user, mailbox, newer);
                }
            }
        }

        replaced = CloseReplaced(older, newer);
        return true;
    }

    /// <summary>The session lost its connection and may be resumed.</summary>
    internal void Detach(SessionKey detached)
    {
        using (Enter())
        {
            if (TryFind(detached, out var user, out var index) && !user.Sessions[index].IsDetached)
            {
                Count(user.Sessions[index], -1);
                Replace(user, index, user.Sessions[index] with { IsDetached = true });
            }
        }
    }

    /// <summary>It has a connection again, which came then (null = its node does not say), and gets what came meanwhile; false when it is not known any more.</summary>
    internal bool Resume(SessionKey resumed, SessionState state, DateTimeOffset? connectedAt)
    {
        using (Enter())
        {
            if (!TryFind(resumed, out var user, out var index))
            {
                return false;
            }

            var before = user.Sessions[index];
            if (!before.IsDetached)
            {
                // Its old connection still hung: taken over without a loss.
                Count(before, -1);
            }

            var session = before with { IsDetached = false, State = state, Since = connectedAt ?? before.Since };
            Replace(user, index, session);
            Count(session, +1);
            _state.Missed.Tell(session);
            if (user.FindMailbox(resumed.Device) is { } mailbox)
            {
                _replay.Begin(user, mailbox, session);
            }

            return true;
        }
    }

    /// <summary>Forgets the session, unless a newer one took its place. Itself as subscriber; null = it joined nothing, or was not known.</summary>
    internal Subscriber? Close(SessionKey closed)
    {
        using (Enter())
        {
            if (!TryFind(closed, out var user, out var index))
            {
                return null;
            }

            var session = user.Sessions[index];
            Count(session, -1);
            End(session);
            _state.Missed.End(closed);
            user.Sessions.RemoveAt(index);
            if (user.FindMailbox(closed.Device) is { } mailbox)
            {
                mailbox.IsBehind = false;
                // One that was not resumed has lingered already, but for the last ones before the process ends.
                BeginLinger(mailbox, session.IsDetached && !_hub.IsStopping ? TimeSpan.Zero : Linger);
                _settlement.RemoveIfEmpty(mailbox);
            }

            _state.RemoveIfIdle(user.Key);
            return session.Subscriber;
        }
    }

    /// <summary>Front or background.</summary>
    internal void ChangeState(SessionKey session, SessionState state)
    {
        using (Enter())
        {
            if (TryFind(session, out var user, out var index) && user.Sessions[index].State != state)
            {
                Count(user.Sessions[index], -1);
                Replace(user, index, user.Sessions[index] with { State = state });
                Count(user.Sessions[index], +1);
            }
        }
    }

    /// <summary>The session as topics know it; null when it is not the device's any more, with a connection or without.</summary>
    internal Subscriber? GetOrAddSubscriber(SessionKey key)
    {
        using (Enter())
        {
            return TryFind(key, out var user, out var index) ? SubscriberOf(user, index) : null;
        }
    }

    /// <summary>The same of a session of the user's. Under the gate.</summary>
    internal Subscriber SubscriberOf(UserState user, int index)
    {
        var session = user.Sessions[index];
        return session.Subscriber ??= new ShardSubscriber(session.Key, user, this) { Session = session };
    }

    /// <summary>The user's sessions: those with a connection, or also those that wait for a resume.</summary>
    internal LiveSession[] Sessions(UserKey key, bool isConnected)
    {
        using (Enter())
        {
            return _state.Users.TryGetValue(key, out var user) ? [.. user.Sessions.Where(session => !isConnected || !session.IsDetached)] : [];
        }
    }

    /// <summary>Does this under the gate, if anything is kept of the user.</summary>
    internal void Under(UserKey key, Action<UserState> action)
    {
        using (Enter())
        {
            if (_state.Users.TryGetValue(key, out var user))
            {
                action(user);
            }
        }
    }

    /// <summary>Does this under the gate, though nothing may be kept of the user any more.</summary>
    internal void Under(UserState user, Action<UserState> action)
    {
        using (Enter())
        {
            action(user);
        }
    }

    private static void Replace(UserState user, int index, LiveSession session)
    {
        if (!ReferenceEquals(user.Sessions[index].Subscriber, session.Subscriber))
        {
            End(user.Sessions[index]);
        }

        user.Sessions[index] = session;
        session.Subscriber?.Session = session;
    }

    private static void End(LiveSession session) => session.Subscriber?.Session = null;

    // Nobody can reach an unregistered device any more: its deliveries end when it does not come back soon.
    private void BeginLinger(Mailbox mailbox, TimeSpan linger)
    {
        var end = _state.Now + linger;
        for (var item = mailbox.First; item is not null; item = item.Next)
        {
            item.Loaded = null;
            _settlement.Wait(mailbox, item);
            if (!item.IsRegistered && item.EndsAt > end)
            {
                item.EndsAt = end;
                (item.Ending, item.EndingReason) = item.EndingReason is null ? (DeliveryState.Failed, DeviceGone) : (item.Ending, item.EndingReason);
                _settlement.ScheduleEnd(mailbox, item);
            }
        }
    }

    private void Count(LiveSession session, int delta)
    {
        if (!session.IsDetached)
        {
            _hub.Metrics.SessionsChanged(session.State, delta);
        }
    }

    private bool TryFind(SessionKey session, out UserState user, out int index)
    {
        index = _state.Users.TryGetValue(KeyOf(session), out user!) ? user.FindSession(session.Device) : -1;
        return index >= 0 && user.Sessions[index].Key == session;
    }

    private static UserKey KeyOf(SessionKey session) => new(session.App, session.User);
}
