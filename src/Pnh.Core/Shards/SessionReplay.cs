using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Frames: to a session at once, or as a replay of what waits, oldest first, as fast as it acknowledges. Touched under the shard's gate only.</summary>
internal sealed class SessionReplay(ShardState state, Settlement settlement)
{
    // Replayed frames that may be unacknowledged at once, whatever a session has room for: half of the 256 that ours keep.
    private const int Window = 128;

    // Bodies read back at once: 32 of 64 kB are 2 MB.
    private const int LoadItems = 32;

    // A frame that left in time may be acknowledged after the TTL: a slow phone answers within seconds.
    private static readonly TimeSpan AckGrace = TimeSpan.FromSeconds(5);

    private readonly ShardContext _hub = state.Hub;

    /// <summary>Gives the frame to the session; false = it is gone, or has no room.</summary>
    internal bool TrySend(UserKey key, MailboxItem item, Event accepted, LiveSession session, bool isReplay = false)
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
        _hub.Notes.Framed(item.Progress, key, session.Key.Device, state.Now);
        return true;
    }

    /// <summary>The session has the frame already: as if it had been sent now.</summary>
    internal void MarkHeld(MailboxItem item, LiveSession session)
    {
        item.Session = session.Key.Session;
        if (item.FrameTimestamp == 0)
        {
            item.FrameTimestamp = _hub.Time.GetTimestamp();
        }

        GiveGrace(item);
    }

    /// <summary>Sends what waits for the session's device, oldest first, until a window is unacknowledged; the rest follows the acks.</summary>
    internal void Begin(UserState user, Mailbox mailbox, LiveSession session)
    {
        if (mailbox.IsReading)
        {
            // What rests is older: it goes first.
            mailbox.IsBehind = true;
            return;
        }

        var unacked = 0;
        for (var item = mailbox.First; item is not null; item = item.Next)
        {
            if (!item.TakesFrames || (item.ExpiresAt <= state.Now && !item.IsOn(session)))
            {
                continue;
            }

            if (!item.IsOn(session) && (unacked == Window || !TryReplay(user, mailbox, item, session)))
            {
                mailbox.IsBehind = true;
                return;
            }

            unacked++;
        }

        mailbox.IsBehind = false;
    }

    /// <summary>Goes on with what waits, where there is any and a session is here.</summary>
    internal void GoOn(UserState user, Mailbox? mailbox)
    {
        if (mailbox is { IsBehind: true } && user.FindLive(mailbox.Device) is { } session)
        {
            Begin(user, mailbox, session);
        }
    }

    /// <summary>Bodies were read back (null = cannot be read any more); the replay goes on.</summary>
    internal void Loaded(UserState user, Mailbox mailbox, IReadOnlyList<(MailboxItem Item, Event? Event)> loaded)
    {
        mailbox.IsLoading = false;
        foreach (var (item, body) in loaded)
        {
            if (!ReferenceEquals(mailbox.Find(item.Id), item))
            {
                continue; // acknowledged or ended meanwhile
            }

            if (body is null)
            {
                settlement.DropUnreadable(mailbox, item);
            }
            else if (user.FindLive(mailbox.Device) is not null)
            {
                item.Loaded = body; // else the next session reads it again: memory is for those who are here
            }
        }

        GoOn(user, mailbox);
    }

    // What was sent may be acknowledged for a while, whatever its event's deadline is.
    private void GiveGrace(MailboxItem item)
    {
        var grace = state.Now + AckGrace;
        item.EndsAt = grace > item.EndsAt ? grace : item.EndsAt;
    }

    private bool TryReplay(UserState user, Mailbox mailbox, MailboxItem item, LiveSession session)
    {
        if ((item.Push?.Event ?? item.Loaded) is not { } accepted)
        {
            Load(user, mailbox, item, session);
            return false;
        }

        if (!TrySend(user.Key, item, accepted, session, isReplay: true))
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

        _hub.Load(state.Shard, user.Key, mailbox.Device, items);
    }
}
