using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What a shard keeps of a user while there is something to keep: sessions, and a mailbox per device that has one.</summary>
internal sealed class UserState(UserKey key)
{
    // Most users have one device on a socket: a dictionary would be half of what an idle session costs.
    private Mailbox? _first;
    private Dictionary<string, Mailbox>? _more;

    internal UserKey Key { get; } = key;

    /// <summary>Sessions, live and detached, at most one per device.</summary>
    internal SessionList Sessions { get; } = new();

    /// <summary>Items whose push waits only for somebody to acknowledge elsewhere, or for quiet hours to end.</summary>
    internal int WaitElsewhere { get; set; }

    /// <summary>The user's settings as they are now, for his sessions in topics; null = not read yet.</summary>
    internal UserSettings? Settings { get; set; }

    /// <summary>How many reads of the user's topics are under way.</summary>
    internal int MembershipReads { get; set; }

    /// <summary>What changed of them since the first of those reads began, in order; null = nothing.</summary>
    internal List<(string Topic, bool IsMember)>? MembershipChanges { get; set; }

    internal bool IsIdle => Sessions.Count == 0 && _first is null && _more is null or { Count: 0 };

    /// <summary>The mailboxes; changes while it is walked are not seen, and a removed one may still be given.</summary>
    internal Mailbox[] Mailboxes => _more is null
        ? _first is null ? [] : [_first]
        : _first is null ? [.. _more.Values] : [_first, .. _more.Values];

    internal Mailbox? FindMailbox(string device)
    {
        if (_first is not null && string.Equals(_first.Device, device, StringComparison.Ordinal))
        {
            return _first;
        }

        return _more?.GetValueOrDefault(device);
    }

    internal Mailbox GetOrAddMailbox(string device)
    {
        if (FindMailbox(device) is { } known)
        {
            return known;
        }

        var made = new Mailbox(this, device);
        if (_first is null)
        {
            _first = made;
        }
        else
        {
            (_more ??= new Dictionary<string, Mailbox>(StringComparer.Ordinal)).Add(device, made);
        }

        return made;
    }

    internal void Remove(Mailbox mailbox)
    {
        if (ReferenceEquals(_first, mailbox))
        {
            _first = null;
        }
        else if (ReferenceEquals(_more?.GetValueOrDefault(mailbox.Device), mailbox))
        {
            _more!.Remove(mailbox.Device);
        }
    }

    internal int FindSession(string device)
    {
        for (var i = 0; i < Sessions.Count; i++)
        {
            if (string.Equals(Sessions[i].Key.Device, device, StringComparison.Ordinal))
            {
                return i;
            }
        }

        return -1;
    }

    /// <summary>The device's session with a connection; null = none.</summary>
    internal LiveSession? FindLive(string device) =>
        FindSession(device) is >= 0 and var index && !Sessions[index].IsDetached ? Sessions[index] : null;

    /// <summary>True when the device's session with a connection was given the item's frame.</summary>
    internal bool IsOnLive(MailboxItem item, string device) => FindLive(device) is { } live && item.IsOn(live);
}
