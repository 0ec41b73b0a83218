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
        LiveSession? older = null;
        using (Enter())
        {
            var user = GetOrAddUser(KeyOf(opened.Key));
            if (user.FindSession(opened.Key.Device) is >= 0 and var index)
            {
                older = user.Sessions[index];
                if (older.Key != session.Key && older.Since > session.Since)
                {
                    return false;
                }

                session = older.Key == session.Key ? session with { Subscriber = older.Subscriber } : session;
                Count(older, -1);
                Replace(user, index, session);
            }
            else
            {
                user.Sessions.Add(session);
            }

            Count(session, +1);
            TakeOver(user, session, reopened.Holds, isRecovered);
        }

        if (older is not null && older.Key != opened.Key)
        {
            older.Link.Close(older.Key.Session, SessionClose.Replaced);
            replaced = older.Subscriber;
        }

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

    private void TakeOver(UserState user, LiveSession session, IReadOnlyCollection<string> holds, bool isRecovered)
    {
        HashSet<string>? held = holds.Count == 0 ? null : new(holds, StringComparer.Ordinal);
        if (user.FindMailbox(session.Key.Device) is { } mailbox)
        {
            EndLinger(mailbox);
            for (var item = mailbox.First; item is not null; item = item.Next)
            {
                if (held?.Remove(item.Id) == true)
                {
                    MarkHeld(item, session);
                }
                else if (IsOn(item, session))
                {
                    item.Session = null;
                }
            }

            if (session.IsDetached)
            {
                mailbox.IsBehind = true;
            }
            else
            {
                Replay(user, mailbox, session);
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

        MarkHeld(item, session);
        return true;
    }

    private void MarkHeld(MailboxItem item, LiveSession session)
    {
        item.Session = session.Key.Session;
        if (item.FrameTimestamp == 0)
        {
            item.FrameTimestamp = _hub.Time.GetTimestamp();
        }

        var grace = _now + AckGrace;
        item.EndsAt = grace > item.EndsAt ? grace : item.EndsAt;
    }
}
