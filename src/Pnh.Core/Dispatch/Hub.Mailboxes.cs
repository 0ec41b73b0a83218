using Pnh.Core.Events;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Mailboxes from outside: bodies for replays, and the inbox.</summary>
public sealed partial class Hub
{
    /// <summary>Most items of one page of an inbox.</summary>
    public const int InboxItems = 100;

    private static readonly TimeSpan LoadRetry = TimeSpan.FromSeconds(1);

    /// <summary>
    /// What waits for a device, oldest first, at most <see cref="InboxItems"/>. <paramref name="after"/>: a <see cref="InboxPage.Next"/>; null = from
    /// the oldest. What cannot be read for good fails, as in a replay. Throws <see cref="FormatException"/> when it is no cursor, <see cref="StoreUnavailableException"/> when bodies cannot be read.
    /// </summary>
    public async ValueTask<InboxPage> ReadInboxAsync(UserKey user, string device, string? after, CancellationToken cancellationToken)
    {
        var entries = ShardOf(user).ReadMailbox(user, device, InboxCursor.Parse(after), InboxItems);
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
                ShardOf(user).Unreadable(user, device, entry.Item);
            }
        }

        return new InboxPage(events, entries.Count == InboxItems ? entries[^1].Place.ToString() : null);
    }

    /// <summary>The device has these events: like acks on a socket. Returns how many of them waited; unknown ids count as none.</summary>
    public int AckInbox(UserKey user, string device, IReadOnlyList<string> eventIds)
    {
        var acked = 0;
        foreach (var id in eventIds)
        {
            acked += ShardOf(user).Ack(user, device, id) ? 1 : 0;
        }

        return acked;
    }

    // From under a shard's gate: reads off it, and comes back to it.
    private void Load(UserKey user, string device, IReadOnlyList<MailboxItem> items)
    {
        Interlocked.Increment(ref _loading);
        ThreadPool.UnsafeQueueUserWorkItem(
            static load => _ = load.Hub.LoadAsync(load.User, load.Device, load.Items), (Hub: this, User: user, Device: device, Items: items), preferLocal: false);
    }

    private async Task LoadAsync(UserKey user, string device, IReadOnlyList<MailboxItem> items)
    {
        var isUnreadable = false;
        try
        {
            var loaded = new List<(MailboxItem Item, Event? Event)>(items.Count);
            foreach (var item in items)
            {
                loaded.Add((item, await _loader.LoadAsync(user.App, item.Id, _stopping.Token).ConfigureAwait(false)));
            }

            ShardOf(user).Loaded(user, device, loaded);
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
        catch (Exception fault)
        {
            Log.LoadFailed(_paced, user.App, fault.Message, fault is StoreUnavailableException ? null : fault);
            isUnreadable = true;
        }
        finally
        {
            Interlocked.Decrement(ref _loading);
        }

        if (isUnreadable)
        {
            await RetryLoadAsync(user, device).ConfigureAwait(false);
        }
    }

    private async Task RetryLoadAsync(UserKey user, string device)
    {
        try
        {
            await Task.Delay(LoadRetry, _time, _stopping.Token).ConfigureAwait(false);
            ShardOf(user).LoadAgain(user, device);
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
    }
}
