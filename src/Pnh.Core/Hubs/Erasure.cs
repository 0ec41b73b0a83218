using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>
/// Keeps client tokens of before out, takes everything from a user that waits, then everything that the registry has, then the sessions, and then what began meanwhile. May be cut at any place
/// and be asked again: what is done is done. Thread-safe.
/// </summary>
/// <param name="hub">Takes events back, closes sessions, and has the registry with the sessions that follow it.</param>
/// <param name="journal">Which events there are.</param>
/// <param name="erasures">The receipts.</param>
/// <param name="retention">How long the journal keeps what is over.</param>
/// <param name="time">An event whose TTL is over waits no more.</param>
public sealed class Erasure(Hub hub, IEventJournal journal, IErasureStore erasures, TimeSpan retention, TimeProvider time)
{
    private const int PageEvents = 100;

    /// <summary>Durable when it completes. Throws <see cref="StoreUnavailableException"/> when the registry or the journal takes nothing now; then it may be asked again.</summary>
    public async Task<ErasureReceipt> RunAsync(UserKey user, CancellationToken cancellationToken)
    {
        var started = await erasures.BeginAsync(user, cancellationToken).ConfigureAwait(false);

        // While the addresses are known: what is shown is cleared.
        var (withdrawn, hasHistory) = await WithdrawAllAsync(user, cancellationToken).ConfigureAwait(false);
        var removed = await hub.Memberships.DeleteUserAsync(user, cancellationToken).ConfigureAwait(false);
        var sessions = hub.Router.Kick(user);
        var (late, _) = await WithdrawAllAsync(user, cancellationToken).ConfigureAwait(false);

        // A segment is closed when it is as old as the retention, and goes when its youngest record is.
        DateTimeOffset? goneBy = hasHistory ? time.GetUtcNow() + (2 * retention) : null;
        return await erasures.EndAsync(started, new ErasedParts(removed.Devices, removed.Topics.Count, sessions, withdrawn + late, goneBy), cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<(int Withdrawn, bool HasHistory)> WithdrawAllAsync(UserKey user, CancellationToken cancellationToken)
    {
        var (withdrawn, any) = (0, false);
        string? next = null;
        do
        {
            var page = await journal.ReadUserAsync(user.App, user.User, next, PageEvents, cancellationToken).ConfigureAwait(false);
            foreach (var history in page.Events)
            {
                any = true;
                var (isOpen, isOver) = Look(history, time.GetUtcNow());
                if (isOpen)
                {
                    withdrawn += await hub.WithdrawAsync(user.App, history.Event.Id, Milestone.Erased, user.User, cancellationToken).ConfigureAwait(false) == WithdrawStatus.Withdrawn ? 1 : 0;
                }
                else if (!isOver && IsOfSeveral(history) && !history.Milestones.Any(static one => one.IsErasure))
                {
                    // The event may go on for others, also where the user had answered it. Noted alone: nothing waits, and nothing is shown that a newer event would not clear.
                    await journal.WithdrawAsync(user.App, history.Event.Id, user.User, Milestone.Erased, time.GetUtcNow(), cancellationToken).ConfigureAwait(false);
                }
            }

            next = page.Next;
        }
        while (next is not null);

        return (withdrawn, any);
    }

    // By its words: one event too many is noted, none is missed.
    private static bool IsOfSeveral(EventHistory history)
    {
        var body = history.Event.Body.Span;
        return body.IndexOf("\"users\""u8) >= 0 || body.IndexOf("\"topic\""u8) >= 0 || body.Contains((byte)'\\');
    }

    /// <summary>Whether a device of the user has it to come or can fetch it; and whether it is over for everybody.</summary>
    private static (bool IsOpen, bool IsOver) Look(EventHistory share, DateTimeOffset now)
    {
        var stood = UnfinishedFold.Fold(share);
        var isOver = now >= share.Event.ExpiresAt;
        return (!isOver && stood.Withdrawn.Count == 0 && stood.Deliveries.Any(static delivery => !delivery.IsSettled || delivery.IsKept), isOver);
    }
}
