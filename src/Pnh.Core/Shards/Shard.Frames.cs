using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Frames: to the session at once, or as a replay of what waits, oldest first, as fast as it acknowledges.</summary>
internal sealed partial class Shard
{
    // Replayed frames that may be unacknowledged at once, whatever a session has room for: half of the 256 that ours keep.
    private const int ReplayWindow = 128;

    // Bodies read back at once: 32 of 64 kB are 2 MB.
    private const int LoadItems = 32;

    // A frame that left in time may be acknowledged after the TTL: a slow phone answers within seconds.
    private static readonly TimeSpan AckGrace = TimeSpan.FromSeconds(5);

    /// <summary>Bodies that were read back for the device's session (null = cannot be read any more); the replay goes on.</summary>
    internal void Loaded(UserKey key, string device, IReadOnlyList<(MailboxItem Item, Event? Event)> loaded)
    {
        using (Enter())
        {
            if (!_users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox)
            {
                return;
            }

            mailbox.IsLoading = false;
            foreach (var (item, body) in loaded)
            {
                if (!ReferenceEquals(mailbox.Find(item.Id), item))
                {
                    continue; // acknowledged or ended meanwhile
                }

                if (body is null)
                {
                    DropUnreadable(mailbox, item);
                }
                else if (user.FindLive(device) is not null)
                {
                    item.Loaded = body; // else the next session reads it again: memory is for those who are here
                }
            }

            ReplayRest(user, mailbox);
            RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>Bodies could not be read a moment ago: tried again, since without a frame there is no ack that would ask.</summary>
    internal void LoadAgain(UserKey key, string device)
    {
        using (Enter())
        {
            if (_users.TryGetValue(key, out var user) && user.FindMailbox(device) is { } mailbox)
            {
                mailbox.IsLoading = false;
                ReplayRest(user, mailbox);
            }
        }
    }

    /// <summary>The session has room again for what waits.</summary>
    internal void GoOn(Sessions.SessionKey session)
    {
        using (Enter())
        {
            if (TryFind(session, out var user, out _))
            {
                ReplayRest(user, user.FindMailbox(session.Device));
            }
        }
    }

    /// <summary>A link could not queue what it took.</summary>
    internal void Refused(Sessions.SessionKey session, string eventId)
    {
        using (Enter())
        {
            if (!TryFind(session, out var user, out _) || user.FindMailbox(session.Device) is not { } mailbox || mailbox.Find(eventId) is not { } item)
            {
                return;
            }

            item.Session = null;
            mailbox.IsBehind = true;
            if (item.Push is { Push: PushTiming.UnlessAcked, Attempts: 0 } push)
            {
                SendPush(push);
            }
        }
    }

    private bool SendFrame(UserKey key, MailboxItem item, Event accepted, LiveSession session, bool isReplay = false)
    {
        var (link, id) = (session.Link, session.Key.Session);
        if (!(isReplay ? link.TryReplay(id, accepted) : link.TrySend(id, accepted)))
        {
            _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.NotConnected, isReplay ? 0 : 1);
            return false;
        }

        item.Session = id;
        item.FrameTimestamp = _hub.Time.GetTimestamp();
        if (!isReplay && accepted.AcceptedTimestamp != 0
            && _hub.Planner.IsLate(accepted.Class, _hub.Time.GetElapsedTime(accepted.AcceptedTimestamp, item.FrameTimestamp)))
        {
            // The hub's own time. How long the client then takes for its ack is in pnh_ack_seconds.
            _hub.Metrics.DeadlineMissed(accepted.Class);
        }

        GiveGrace(item);
        EventTraces.Framed(accepted, _hub.Time);
        _hub.Metrics.DeliveryCounted(ChannelNames.WebSocket, accepted.Class, DeliveryStatus.Sent);
        _hub.Notes.Framed(item.Progress, key, session.Key.Device, _now);
        return true;
    }

    // What was sent may be acknowledged for a while, whatever its event's deadline is.
    private void GiveGrace(MailboxItem item)
    {
        var grace = _now + AckGrace;
        item.EndsAt = grace > item.EndsAt ? grace : item.EndsAt;
    }

    // Sends what waits for the session's device, oldest first, until a window is unacknowledged; the rest follows the acks.
    private void Replay(UserState user, Mailbox mailbox, LiveSession session)
    {
        var unacked = 0;
        for (var item = mailbox.First; item is not null; item = item.Next)
        {
            if (!item.TakesFrames || (item.ExpiresAt <= _now && !item.IsOn(session)))
            {
                continue;
            }

            if (!item.IsOn(session) && (unacked == ReplayWindow || !TryReplay(user, mailbox, item, session)))
            {
                mailbox.IsBehind = true;
                return;
            }

            unacked++;
        }

        mailbox.IsBehind = false;
    }

    private bool TryReplay(UserState user, Mailbox mailbox, MailboxItem item, LiveSession session)
    {
        if ((item.Push?.Event ?? item.Loaded) is not { } accepted)
        {
            Load(user, mailbox, item, session);
            return false;
        }

        if (!SendFrame(user.Key, item, accepted, session, isReplay: true))
        {
            return false;
        }

        item.Loaded = null;
        return true;
    }

    private void Load(UserState user, Mailbox mailbox, MailboxItem first, LiveSession session)
    {
        if (mailbox.IsLoading)
        {
            return;
        }

        mailbox.IsLoading = true;
        var items = new List<MailboxItem>();
        for (var item = first; item is not null && items.Count < LoadItems; item = item.Next)
        {
            if (item is { TakesFrames: true, Loaded: null, Push: null } && !item.IsOn(session))
            {
                items.Add(item);
            }
        }

        _hub.Load(user.Key, mailbox.Device, items);
    }

    private void ReplayRest(UserState user, Mailbox? mailbox)
    {
        if (mailbox is { IsBehind: true } && user.FindLive(mailbox.Device) is { } session)
        {
            Replay(user, mailbox, session);
        }
    }

    private static bool IsOnLiveSession(UserState user, MailboxItem item, string device) =>
        user.FindLive(device) is { } live && item.IsOn(live);
}
