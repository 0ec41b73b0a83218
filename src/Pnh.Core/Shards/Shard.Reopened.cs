using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>Sessions that another node holds, after the way to them broke or this process was started.</summary>
internal sealed partial class Shard
{
    // Until the previous process's deliveries are read: what sessions hold of them. Null = none, and from then on.
    private Dictionary<SessionKey, HashSet<string>>? _held;

    /// <summary>
    /// Takes the session as its node says that it is. What it holds counts as given to it; what it was given besides is lost, and given again. False when a newer session of the device is there.
    /// </summary>
    /// <param name="reopened">The session.</param>
    /// <param name="isRecovered">False while the deliveries of the previous process are still read: what the session holds of them is kept in mind until then.</param>
    /// <param name="replaced">An older session of the device, as subscriber; null = none, or it was in no topic.</param>
    internal bool TryReopen(SessionReopened reopened, bool isRecovered, out Subscriber? replaced)
    {
        replaced = null;
        var opened = reopened.Opened;
        var session = new LiveSession(opened.Key, opened.State, opened.Link, opened.ConnectedAt) { IsDetached = reopened.IsDetached };
        LiveSession? older;
        using (Enter())
        {
            var user = _state.GetOrAddUser(KeyOf(opened.Key));
            var index = user.FindSession(opened.Key.Device);
            if (index >= 0 && user.Sessions[index].CameAfter(session, _hub.Time.GetUtcNow()))
            {
                return false;
            }

            older = Place(user, index, ref session);
            if (reopened is { IsDetached: false, Holds.Count: 0 })
            {
                // Another one still acknowledges what it holds.
                _state.Missed.Tell(session);
            }

            TakeOver(user, session, reopened.Holds, isRecovered);
        }

        replaced = CloseReplaced(older, session);
        return true;
    }

    /// <summary>The session, with a client or without; null = it is not known.</summary>
    internal LiveSession? Find(SessionKey key)
    {
        using (Enter())
        {
            return TryFind(key, out var user, out var index) ? user.Sessions[index] : null;
        }
    }

    /// <summary>All that the previous process left has been read: nothing is kept in mind any more.</summary>
    internal void EndHeld()
    {
        using (Enter())
        {
            _held = null;
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
            _state.Missed.Replace(older.Key, session.Key);
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

    private void TakeOver(UserState user, LiveSession session, IReadOnlyCollection<string> holds, bool isRecovered)
    {
        HashSet<string>? held = holds.Count == 0 ? null : new(holds, StringComparer.Ordinal);
        if (Mail.FindAndRead(user, session.Key.Device) is { } mailbox)
        {
            mailbox.EndLinger();
            for (var item = mailbox.First; item is not null; item = item.Next)
            {
                if (held?.Remove(item.Id) == true)
                {
                    _replay.MarkHeld(item, session);
                }
                else if (item.IsOn(session))
                {
                    item.Session = null;
                }
            }

            mailbox.Held = mailbox.IsReading ? held : null;
            if (session.IsDetached)
            {
                mailbox.IsBehind = true;
            }
            else
            {
                _replay.Begin(user, mailbox, session);
            }
        }

        if (!isRecovered && held is not null)
        {
            (_held ??= [])[session.Key] = held;
        }
    }

    // A delivery of the previous process that the device's session has, with its client or without: as if its frame had been sent now.
    private bool TryTakeHeld(UserState user, Mailbox mailbox, MailboxItem item)
    {
        if (_held is null || user.FindSession(mailbox.Device) is not (>= 0 and var index))
        {
            return false;
        }

        var session = user.Sessions[index];
        if (!_held.TryGetValue(session.Key, out var held) || !held.Remove(item.Id))
        {
            return false;
        }

        _replay.MarkHeld(item, session);
        return true;
    }
}
