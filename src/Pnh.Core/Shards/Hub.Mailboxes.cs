using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>Mailboxes from outside: bodies for replays, the inbox, and taking events back.</summary>
public sealed partial class Hub
{
    /// <summary>Most items of one page of an inbox.</summary>
    public const int InboxItems = 100;

    private static readonly TimeSpan LoadRetry = TimeSpan.FromSeconds(1);

    /// <summary>
    /// What waits for a device, oldest first, at most <see cref="InboxItems"/>. <paramref name="after"/>: a <see cref="InboxPage.Next"/>; null = from
    /// the oldest. Throws <see cref="FormatException"/> when it is no cursor, <see cref="StoreUnavailableException"/> when bodies cannot be read.
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

    /// <summary>
    /// Takes an event back everywhere: stops what waits, clears what was shown. Durable before it completes, and at most once.
    /// Throws <see cref="StoreUnavailableException"/>; then it may be tried again.
    /// </summary>
    public ValueTask<WithdrawStatus> WithdrawAsync(string app, string id, string reason, CancellationToken cancellationToken) =>
        WithdrawAsync(new Withdrawal(app, id, reason), reason, user: null, exceptDevice: null, cancellationToken);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer) => _ = AnswerAsync(session, eventId, reason, answer);

    private async Task AnswerAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        try
        {
            var key = new UserKey(session.App, session.User);
            if (!ShardOf(session).Ack(key, session.Device, eventId) && !await WasForAsync(key, eventId).ConfigureAwait(false))
            {
                return; // never sent to this user: nothing to end, and nothing to tell
            }

            var noted = answer is null ? reason : $"{reason}: {answer}";
            await WithdrawAsync(new Withdrawal(session.App, eventId, reason), noted, session.User, session.Device, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            NoteStoreFault(fault.Message);
        }
        catch (Exception bug)
        {
            Log.AnswerBroke(_log, eventId, bug);
        }
    }

    private async ValueTask<bool> WasForAsync(UserKey user, string id)
    {
        var history = await _context.Journal.ReadAsync(user.App, id, CancellationToken.None).ConfigureAwait(false);
        return history?.Milestones.Any(m => m.Device is not null && string.Equals(m.User, user.User, StringComparison.Ordinal)) == true;
    }

    private async ValueTask<WithdrawStatus> WithdrawAsync(
        Withdrawal withdrawal, string noted, string? user, string? exceptDevice, CancellationToken cancellationToken)
    {
        if (_dispatching.TryGetValue((withdrawal.App, withdrawal.Event), out var progress))
        {
            // Everything it starts shall be in its history.
            await progress.Dispatched.WaitAsync(cancellationToken).ConfigureAwait(false);
        }

        var result = await _context.Journal.WithdrawAsync(
            withdrawal.App, withdrawal.Event, user, noted, _time.GetUtcNow(), cancellationToken).ConfigureAwait(false);
        if (result.History is { } history && _loader.Read(history.Event, []) is { } accepted)
        {
            foreach (var (shownTo, devices) in new ShownEvent(history, user).Users)
            {
                var key = new UserKey(withdrawal.App, shownTo);
                var snapshot = await _devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
                ShardOf(key).Withdraw(key, accepted, withdrawal, devices, snapshot, exceptDevice);
            }
        }

        return result.Status;
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
            Log.LoadFailed(_log, fault.Message, fault is StoreUnavailableException ? null : fault);
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
