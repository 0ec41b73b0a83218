using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Core.Shards;

/// <summary>
/// What waits for one device, oldest first. One timer for all of it: the earliest end. Finding by event id is O(1) from 32 items on. Belongs to
/// its shard, touched under its gate only.
/// </summary>
internal sealed class Mailbox : WheelEntry
{
    /// <summary>How long the deliveries of a closed, unregistered session wait for it to come back.</summary>
    internal static readonly TimeSpan Linger = TimeSpan.FromSeconds(60);

    // Below it a walk costs less than a dictionary entry: acks come for the oldest or the newest.
    private const int IndexedFrom = 32;
    private Dictionary<string, MailboxItem>? _index;

    internal Mailbox(UserState user, string device)
    {
        User = user;
        Device = device;
    }

    internal UserState User { get; }

    internal string Device { get; }

    internal MailboxItem? First { get; private set; }

    internal MailboxItem? Last { get; private set; }

    internal int Count { get; private set; }

    /// <summary>When its timer fires; <see cref="DateTimeOffset.MaxValue"/> = no timer.</summary>
    internal DateTimeOffset NextEnd { get; set; } = DateTimeOffset.MaxValue;

    /// <summary>True while the device's session has not been sent all that waits for it.</summary>
    internal bool IsBehind { get; set; }

    /// <summary>True while bodies are read from the journal for it.</summary>
    internal bool IsLoading { get; set; }

    /// <summary>True while what rests for the device is read. What comes meanwhile waits behind it.</summary>
    internal bool IsReading { get; set; }

    /// <summary>Events of what is read that the device's session has already; null = none.</summary>
    internal HashSet<string>? Held { get; set; }

    /// <summary>Events that were taken back while it is read; null = none.</summary>
    internal HashSet<string>? TakenBack { get; set; }

    internal void Add(MailboxItem item) => Add(item, Last);

    /// <summary>Adds one that rested: before others that were accepted later, or at the same time.</summary>
    internal void AddInOrder(MailboxItem item)
    {
        var before = Last;
        while (before is not null && (before.Order > item.Order || (before.Order == item.Order && !before.IsRestNoted)))
        {
            before = before.Previous;
        }

        Add(item, before);
    }

    private void Add(MailboxItem item, MailboxItem? before)
    {
        item.Previous = before;
        item.Next = before is null ? First : before.Next;
        _ = before is null ? First = item : before.Next = item;
        _ = item.Next is null ? Last = item : item.Next.Previous = item;
        Count++;
        item.Progress.Books.Holds(MailboxItem.Bytes);
        if (_index is not null)
        {
            _index[item.Id] = item;
        }
        else if (Count == IndexedFrom)
        {
            _index = new Dictionary<string, MailboxItem>(StringComparer.Ordinal);
            for (var each = First; each is not null; each = each.Next)
            {
                _index[each.Id] = each;
            }
        }
    }

    /// <summary>Adds a delivery that was planned just now, and books it.</summary>
    internal void AddPlanned(MailboxItem item)
    {
        item.Progress.Add();
        Add(item);
        item.Progress.Books.Planned(item.Class);
        item.Progress.Books.InFlight(item.Class, +1);
    }

    internal void Remove(MailboxItem item)
    {
        _ = item.Previous is null ? First = item.Next : item.Previous.Next = item.Next;
        _ = item.Next is null ? Last = item.Previous : item.Next.Previous = item.Previous;
        item.Previous = null;
        item.Next = null;
        item.Loaded = null;
        Count--;
        item.Progress.Books.Holds(-MailboxItem.Bytes);
        if (Count == 0)
        {
            _index = null;
        }
        else
        {
            _index?.Remove(item.Id);
        }
    }

    /// <summary>The event's place; null when it left or never was.</summary>
    internal MailboxItem? Find(string eventId)
    {
        if (_index is not null)
        {
            return _index.GetValueOrDefault(eventId);
        }

        var item = Last;
        while (item is not null && !string.Equals(item.Id, eventId, StringComparison.Ordinal))
        {
            item = item.Previous;
        }

        return item;
    }

    /// <summary>Its device, which is not registered, has a session again: what was to end with the former one lives on.</summary>
    internal void EndLinger()
    {
        for (var item = First; item is not null; item = item.Next)
        {
            if (!item.IsRegistered && item.EndsAt < item.ExpiresAt)
            {
                item.EndsAt = item.ExpiresAt;
            }

            if (item.EndingReason == PlanReasons.DeviceGone)
            {
                (item.Ending, item.EndingReason) = (DeliveryState.Expired, null);
            }
        }
    }

    /// <summary>True when a call that came before this one is still to be sent to the session.</summary>
    internal bool HasCallBefore(MailboxItem call, LiveSession session, DateTimeOffset now)
    {
        for (var item = First; item is not null && item != call; item = item.Next)
        {
            if (item is { Class: EventClass.Call, TakesFrames: true } && item.ExpiresAt > now && !item.IsOn(session))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>True when a newer event has its collapse key, which is to be put back where it was.</summary>
    internal bool IsReplaced(Event rested)
    {
        for (var item = rested.CollapseKey is null ? null : Last; item is not null; item = item.Previous)
        {
            if (item.Class == rested.Class && string.Equals(item.CollapseKey, rested.CollapseKey, StringComparison.Ordinal)
                && (item.Order > rested.AcceptedAt || (item.Order == rested.AcceptedAt && !item.IsRestNoted)))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>How many have no terminal state.</summary>
    internal int CountPending()
    {
        var count = 0;
        for (var item = First; item is not null; item = item.Next)
        {
            count += item.IsSettled ? 0 : 1;
        }

        return count;
    }

    /// <summary>The first to go when there are too many: the oldest bulk, else message, else call. Never null in one that is not empty.</summary>
    internal MailboxItem FindSuperfluous()
    {
        MailboxItem? message = null;
        for (var item = First; item is not null; item = item.Next)
        {
            if (item.Class == EventClass.Bulk)
            {
                return item;
            }

            message ??= item.Class == EventClass.Message ? item : null;
        }

        return message ?? First!;
    }
}
