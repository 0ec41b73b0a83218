using System.Globalization;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What an inbox shows of a mailbox. Members take the shard's gate.</summary>
internal sealed class ShardInbox(ShardState state, Settlement settlement, SessionReplay replay)
{
    /// <summary>Unexpired items of the device's mailbox after a place, oldest first, with their event when it is in memory.</summary>
    internal List<InboxEntry> Read(UserKey key, string device, InboxCursor after, int limit)
    {
        var found = new List<InboxEntry>();
        using (state.Enter())
        {
            var mailbox = state.Users.TryGetValue(key, out var user) ? user.FindMailbox(device) : null;
            for (var item = mailbox?.First; item is not null; item = item.Next)
            {
                var place = new InboxCursor(item.Order.UtcTicks, item.Id);
                if (item.TakesFrames && item.ExpiresAt > state.Now && place.IsAfter(after))
                {
                    found.Add(new InboxEntry(place, item, item.Push?.Event ?? item.Loaded));
                }
            }
        }

        // By place, not as they came in: events of one instant come in any order, and a page must not end between them and lose the rest.
        found.Sort(static (a, b) => a.Place.CompareTo(b.Place));
        return found.Count > limit ? found[..limit] : found;
    }

    /// <summary>
    /// Ends an item whose body cannot be read any more, unless it was acknowledged or has ended meanwhile. One that a session was given in time is left to
    /// that one's ack.
    /// </summary>
    internal void Unreadable(UserKey key, string device, MailboxItem item)
    {
        using (state.Enter())
        {
            if (!state.Users.TryGetValue(key, out var user) || user.FindMailbox(device) is not { } mailbox || !ReferenceEquals(mailbox.Find(item.Id), item)
                || (user.FindSession(device) is >= 0 and var index && item.IsOn(user.Sessions[index])))
            {
                return;
            }

            settlement.DropUnreadable(mailbox, item);
            replay.GoOn(user, mailbox);
            settlement.RemoveIfEmpty(mailbox);
        }
    }
}

/// <summary>An item and its event; null = to be read from the journal.</summary>
internal readonly record struct InboxEntry(InboxCursor Place, MailboxItem Item, Event? Event);

/// <summary>A place in an inbox: when the event was accepted, and its id among those of the same instant. Its text is opaque to clients.</summary>
internal readonly record struct InboxCursor(long Ticks, string? Id)
{
    internal bool IsAfter(InboxCursor other) => CompareTo(other) > 0;

    internal int CompareTo(InboxCursor other) => Ticks != other.Ticks ? Ticks.CompareTo(other.Ticks) : string.CompareOrdinal(Id, other.Id);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Ticks:x}.{Id}");

    /// <summary>Null text is the beginning. Throws <see cref="FormatException"/> for anything that <see cref="ToString"/> did not make.</summary>
    internal static InboxCursor Parse(string? text)
    {
        if (text is null)
        {
            return default;
        }

        var dot = text.IndexOf('.', StringComparison.Ordinal);
        return dot > 0 && long.TryParse(text.AsSpan(0, dot), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var ticks)
            ? new InboxCursor(ticks, text[(dot + 1)..])
            : throw new FormatException("Not a cursor of an inbox.");
    }
}
