using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>
/// Once a second: what only waits for its device leaves memory, once the journal has it on stable storage; and what rested until its end is over. Thread-safe.
/// </summary>
/// <param name="shards">Where users live.</param>
/// <param name="journal">Where it rests.</param>
/// <param name="loader">Makes events again.</param>
/// <param name="most">How many may rest for one device; of more the oldest go.</param>
/// <param name="time">The clock.</param>
/// <param name="faulted">Gets each fault of the journal.</param>
/// <param name="log">Gets bugs.</param>
/// <param name="stopping">Ends it.</param>
internal sealed partial class MailRest(ShardMap shards, IEventJournal journal, EventLoader loader, int most, TimeProvider time, Action<string> faulted, ILogger log, CancellationToken stopping)
{
    private const int OverAtOnce = 1_000;

    // The journal has room for 262,144 notes, and drops what comes then.
    private const int NotedAtOnce = 16_384;
    private static readonly TimeSpan Every = TimeSpan.FromSeconds(1);
    private readonly HashSet<(string App, string Id)> _over = [];

    // What of the event is in memory has its end by then: an ack may come after its TTL, and a provider's answer.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);

    /// <summary>Until the hub stops.</summary>
    internal async Task RunAsync()
    {
        while (!stopping.IsCancellationRequested)
        {
            await Task.Delay(Every, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            try
            {
                await RestAsync().ConfigureAwait(false);
                await EndAsync().ConfigureAwait(false);
                shards.ForgetEnded();
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                // What is in memory is in the journal too.
            }
            catch (StoreUnavailableException fault)
            {
                faulted(fault.Message);
            }
            catch (Exception bug)
            {
                Log.RestBroke(log, bug);
            }
        }
    }

    /// <summary>What may leave memory does.</summary>
    internal async Task RestAsync()
    {
        while (await RestSomeAsync().ConfigureAwait(false) == NotedAtOnce)
        {
            // There is more.
        }
    }

    private async ValueTask<int> RestSomeAsync()
    {
        var noted = shards.NoteResting(NotedAtOnce);
        if (noted.Count == 0)
        {
            return 0;
        }

        try
        {
            await journal.FlushAsync(stopping).ConfigureAwait(false);
        }
        catch (Exception)
        {
            noted.ForEach(static each => each.Shard.Mail.RestLater(each.Mailbox, each.Item, isNoteLost: false));
            throw;
        }

        var areLost = false;
        foreach (var (shard, mailbox, item) in noted)
        {
            var user = mailbox.User.Key;
            if (journal.Rests(user.App, item.Id, user.User, mailbox.Device))
            {
                shard.Mail.Rest(mailbox, item);
            }
            else
            {
                areLost = true;
                shard.Mail.RestLater(mailbox, item, isNoteLost: true);
            }
        }

        foreach (var (user, device) in noted.Select(static each => (each.Mailbox.User.Key, each.Mailbox.Device)).Distinct())
        {
            await TrimAsync(user, device).ConfigureAwait(false);
        }

        return areLost ? 0 : noted.Count;
    }

    /// <summary>What is over ends.</summary>
    internal async Task EndAsync()
    {
        var isMore = true;
        while (isMore)
        {
            var over = await journal.ReadOverAsync(time.GetUtcNow() - Patience, OverAtOnce, stopping).ConfigureAwait(false);
            foreach (var unfinished in over)
            {
                End(unfinished);
                _over.Add((unfinished.Event.App, unfinished.Event.Id));
            }

            isMore = over.Count > 0;
        }

        // Only now: the end of a finished event's delivery is looked for no more, and those of one event come in several parts.
        while (_over.Count > 0)
        {
            var some = _over.Take(NotedAtOnce).ToList();
            some.ForEach(one => journal.Finish(one.App, one.Id));
            _over.ExceptWith(some);
            if (_over.Count > 0)
            {
                await journal.FlushAsync(stopping).ConfigureAwait(false);
            }
        }
    }

    private void End(UnfinishedEvent over)
    {
        var @class = ClassOf(over.Event);
        foreach (var delivery in over.Deliveries)
        {
            var isWithdrawn = over.Withdrawn.Any(from => from is null || from == delivery.User);
            var resting = RestingDelivery.Of(over.Event, @class, delivery);
            shards.Of(resting.User).Mail.EndResting(resting, isWithdrawn ? DeliveryState.Withdrawn : DeliveryState.Expired, reason: null);
        }
    }

    // One that cannot be read any more counts as most are.
    private EventClass ClassOf(StoredEvent stored) => loader.Read(stored, [])?.Class ?? EventClass.Message;

    // A fifth too many at once: each read is of all that rests for the device.
    private async ValueTask TrimAsync(UserKey user, string device)
    {
        if (journal.CountMail(user.App, user.User, device) <= most + (most / 5))
        {
            return;
        }

        var mail = await journal.ReadMailAsync(user.App, user.User, device, of: null, stopping).ConfigureAwait(false);
        var resting = mail.Select(one => new RestingDelivery(user, device, one.IsSettled, one.Event.Id, ClassOf(one.Event), one.Event.AcceptedAt));
        foreach (var each in resting.OrderBy(static one => one.Class switch { EventClass.Bulk => 0, EventClass.Message => 1, _ => 2 }).Take(mail.Count - most))
        {
            shards.Of(user).Mail.EndResting(each, DeliveryState.Failed, Settlement.Evicted);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(18, LogLevel.Error, "What waits for devices could not leave memory; this is a bug.", EventName = "RestBroke")]
        internal static partial void RestBroke(ILogger logger, Exception bug);
    }
}
