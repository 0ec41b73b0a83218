using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>What waits for a device, for an app that asks instead of keeping a session. Thread-safe.</summary>
public sealed class Inbox
{
    /// <summary>Most items of one page.</summary>
    public const int MostItems = 100;

    private readonly ShardMap _shards;
    private readonly EventLoader _loader;
    private readonly MailReader _mail;

    internal Inbox(ShardMap shards, EventLoader loader, MailReader mail) => (_shards, _loader, _mail) = (shards, loader, mail);

    /// <summary>
    /// What waits for a device, oldest first, at most <see cref="MostItems"/>. <paramref name="after"/>: an <see cref="InboxPage.Next"/>; null = from
    /// the oldest. What cannot be read for good fails, as in a replay. Throws <see cref="FormatException"/> when it is no cursor, <see cref="StoreUnavailableException"/> when bodies cannot be read.
    /// </summary>
    public async ValueTask<InboxPage> ReadAsync(UserKey user, string device, string? after, CancellationToken cancellationToken)
    {
        var shard = _shards.Of(user);
        await _mail.ReadAsync(shard, user, device, cancellationToken).ConfigureAwait(false);
        var entries = shard.Inbox.Read(user, device, InboxCursor.Parse(after), MostItems);
        var events = new List<Event>(entries.Count);
        foreach (var entry in entries)
        {
            if ((entry.Event ?? await _loader.LoadAsync(user.App, entry.Place.Id!, cancellationToken).ConfigureAwait(false)) is { } accepted)
            {
                events.Add(accepted);
            }
            else
            {
                // Else each poll would meet it again, until its time is over.
                shard.Inbox.Unreadable(user, device, entry.Item);
            }
        }

        return new InboxPage(events, entries.Count == MostItems ? entries[^1].Place.ToString() : null);
    }

    /// <summary>The device has these events: like acks on a socket. Returns how many of them waited; unknown ids count as none.</summary>
    public async ValueTask<int> AckAsync(UserKey user, string device, IReadOnlyList<string> eventIds, CancellationToken cancellationToken)
    {
        var shard = _shards.Of(user);
        await _mail.ReadAsync(shard, user, device, cancellationToken).ConfigureAwait(false);
        var acked = 0;
        foreach (var id in eventIds)
        {
            acked += shard.Frames.Ack(user, device, id) ? 1 : 0;
        }

        return acked;
    }
}

/// <summary>What waits for a device, oldest first.</summary>
/// <param name="Items">Events that the device has not acknowledged, unexpired.</param>
/// <param name="Next">Where to go on; null = that was all for now.</param>
public sealed record InboxPage(IReadOnlyList<Event> Items, string? Next);
