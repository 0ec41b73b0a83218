using Pnh.Core.Devices;
using Pnh.Core.Journal;

namespace Pnh.Core.Shards;

/// <summary>Mailboxes from outside: the inbox, and taking events back.</summary>
public sealed partial class Hub
{
    /// <summary>Most items of one page of an inbox.</summary>
    public const int InboxItems = 100;

    /// <summary>
    /// What waits for a device, oldest first, at most <see cref="InboxItems"/>. <paramref name="after"/>: a <see cref="InboxPage.Next"/>; null = from
    /// the oldest. Throws <see cref="FormatException"/> when it is no cursor, <see cref="StoreUnavailableException"/> when bodies cannot be read.
    /// </summary>
    public ValueTask<InboxPage> ReadInboxAsync(UserKey user, string device, string? after, CancellationToken cancellationToken) =>
        throw new NotImplementedException();

    /// <summary>The device has these events: like acks on a socket. Returns how many of them waited; unknown ids count as none.</summary>
    public int AckInbox(UserKey user, string device, IReadOnlyList<string> eventIds) => throw new NotImplementedException();

    /// <summary>
    /// Takes an event back everywhere: stops what waits, clears what was shown. Durable before it completes, and at most once.
    /// Throws <see cref="StoreUnavailableException"/>; then it may be tried again.
    /// </summary>
    public ValueTask<WithdrawStatus> WithdrawAsync(string app, string id, string reason, CancellationToken cancellationToken) =>
        throw new NotImplementedException();
}
