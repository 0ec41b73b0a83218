using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>The sessions of a shard's users. Members take the shard's gate, but where said.</summary>
internal sealed partial class SessionBook(ShardState state, Settlement settlement, SessionReplay replay, RestingMail mail, HeldFrames held)
{
    private readonly ShardContext _hub = state.Hub;

    /// <summary>
    /// Takes a new session in, closes the device's older one, and sends what waits for the device, oldest first, as fast as it acknowledges. Closes the new one when the connection of the present
    /// one came later. False when the user has so many with a connection, and none of this device. <paramref name="replaced"/> is the older one as subscriber; null = it was in no topic.
    /// </summary>
    internal bool TryOpen(SessionOpened opened, int most, out Subscriber? replaced)
    {
        replaced = null;
        var newer = new LiveSession(opened.Key, opened.State, opened.Link, opened.ConnectedAt);
        LiveSession? older;
        using (state.Enter())
        {
            var user = state.GetOrAddUser(ShardState.KeyOf(opened.Key));
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
                state.Missed.Tell(newer);
                if (mail.FindAndRead(user, opened.Key.Device) is { } mailbox)
                {
                    mailbox.EndLinger();
                    replay.Begin(user, mailbox, newer);
                }
            }
        }

        replaced = CloseReplaced(older, newer);
        return true;
    }

    /// <summary>The session lost its connection and may be resumed.</summary>
    internal void Detach(SessionKey detached)
    {
        using (state.Enter())
        {
            if (state.TryFind(detached, out var user, out var index) && !user.Sessions[index].IsDetached)
            {
                Count(user.Sessions[index], -1);
                Replace(user, index, user.Sessions[index] with { IsDetached = true });
            }
        }
    }

    /// <summary>It has a connection again, which came then (null = its node does not say), and gets what came meanwhile; false when it is not known any more.</summary>
    internal bool Resume(SessionKey resumed, SessionState now, DateTimeOffset? connectedAt)
    {
        using (state.Enter())
        {
            if (!state.TryFind(resumed, out var user, out var index))
            {
                return false;
            }

            var before = user.Sessions[index];
            if (!before.IsDetached)
            {
                // Its old connection still hung: taken over without a loss.
                Count(before, -1);
            }

            var session = before with { IsDetached = false, State = now, Since = connectedAt ?? before.Since };
            Replace(user, index, session);
            Count(session, +1);
            state.Missed.Tell(session);
            if (user.FindMailbox(resumed.Device) is { } mailbox)
            {
                replay.Begin(user, mailbox, session);
            }

            return true;
        }
    }

    /// <summary>Forgets the session, unless a newer one took its place. Itself as subscriber; null = it joined nothing, or was not known.</summary>
    internal Subscriber? Close(SessionKey closed)
    {
        using (state.Enter())
        {
            if (!state.TryFind(closed, out var user, out var index))
            {
                return null;
            }

            var session = user.Sessions[index];
            Count(session, -1);
            End(session);
            state.Missed.End(closed);
            user.Sessions.RemoveAt(index);
            if (user.FindMailbox(closed.Device) is { } mailbox)
            {
                mailbox.IsBehind = false;
                // One that was not resumed has lingered already, but for the last ones before the process ends.
                BeginLinger(mailbox, session.IsDetached && !_hub.IsStopping ? TimeSpan.Zero : Mailbox.Linger);
                settlement.RemoveIfEmpty(mailbox);
            }

            state.RemoveIfIdle(user.Key);
            return session.Subscriber;
        }
    }

    /// <summary>Front or background.</summary>
    internal void ChangeState(SessionKey session, SessionState now)
    {
        using (state.Enter())
        {
            if (state.TryFind(session, out var user, out var index) && user.Sessions[index].State != now)
            {
                Count(user.Sessions[index], -1);
                Replace(user, index, user.Sessions[index] with { State = now });
                Count(user.Sessions[index], +1);
            }
        }
    }

    /// <summary>The session, with a client or without; null = it is not known.</summary>
    internal LiveSession? Find(SessionKey key)
    {
        using (state.Enter())
        {
            return state.TryFind(key, out var user, out var index) ? user.Sessions[index] : null;
        }
    }

    /// <summary>The session as topics know it; null when it is not the device's any more, with a connection or without.</summary>
    internal Subscriber? GetOrAddSubscriber(SessionKey key)
    {
        using (state.Enter())
        {
            return state.TryFind(key, out var user, out var index) ? SubscriberOf(user, index) : null;
        }
    }

    /// <summary>The same of a session of the user's. Under the gate.</summary>
    internal Subscriber SubscriberOf(UserState user, int index)
    {
        var session = user.Sessions[index];
        return session.Subscriber ??= new ShardSubscriber(session.Key, user, state.Shard) { Session = session };
    }

    /// <summary>The user's sessions: those with a connection, or also those that wait for a resume.</summary>
    internal LiveSession[] Of(UserKey key, bool isConnected)
    {
        using (state.Enter())
        {
            return state.Users.TryGetValue(key, out var user) ? [.. user.Sessions.Where(session => !isConnected || !session.IsDetached)] : [];
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
        var end = state.Now + linger;
        for (var item = mailbox.First; item is not null; item = item.Next)
        {
            item.Loaded = null;
            settlement.Wait(mailbox, item);
            if (!item.IsRegistered && item.EndsAt > end)
            {
                item.EndsAt = end;
                (item.Ending, item.EndingReason) = item.EndingReason is null ? (DeliveryState.Failed, PlanReasons.DeviceGone) : (item.Ending, item.EndingReason);
                settlement.ScheduleEnd(mailbox, item);
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

    // The device's session of now, in the place of its older one (-1 = it has none), which is given back. The same session again keeps its topics.
    private LiveSession? Place(UserState user, int index, ref LiveSession session)
    {
        LiveSession? older = null;
        if (index < 0)
        {
            user.Sessions.Add(session);
        }
        else
        {
            older = user.Sessions[index];
            session = older.Key == session.Key ? session with { Subscriber = older.Subscriber } : session;
            state.Missed.Replace(older.Key, session.Key);
            Count(older, -1);
            Replace(user, index, session);
        }

        Count(session, +1);
        return older;
    }

    // Outside of the lock. The older one as subscriber; null = it was in no topic, or is the same session.
    private static Subscriber? CloseReplaced(LiveSession? older, LiveSession newer)
    {
        if (older is null || older.Key == newer.Key)
        {
            return null;
        }

        older.Link.Close(older.Key.Session, SessionClose.Replaced);
        return older.Subscriber;
    }
}
