using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Shards;
using Pnh.Core.Withdrawals;

namespace Pnh.Core.Hubs;

/// <summary>
/// What the previous process left: events of which something was under way are taken up, once, before the first new one. An event whose stored body cannot be read any more, or whose
/// dispatch breaks, is reported and left alone.
/// </summary>
/// <param name="context">What shards share.</param>
/// <param name="dispatcher">Plans what is taken up.</param>
/// <param name="takeBack">Goes on with what was taken back.</param>
/// <param name="loader">Makes events again.</param>
/// <param name="log">Hears how many there were, and which cannot be read.</param>
internal sealed partial class EventRecovery(ShardContext context, Dispatcher dispatcher, TakeBack takeBack, EventLoader loader, ILogger log)
{
    /// <summary>Completes when all of it is planned, or waits for the registry.</summary>
    internal async Task RunAsync(CancellationToken cancellationToken)
    {
        context.Metrics.Ledger.TakeUp(context.Journal.PendingMail);
        var (recovered, errors) = (0, new List<FieldError>());
        await foreach (var unfinished in context.Journal.RecoverAsync(cancellationToken).ConfigureAwait(false))
        {
            errors.Clear();
            if (loader.Read(unfinished.Event, errors) is { } accepted)
            {
                recovered += await TakeUpAsync(accepted, unfinished).ConfigureAwait(false) ? 1 : 0;
            }
            else
            {
                Log.Unreadable(log, unfinished.Event.Id, errors[0].Code);
            }
        }

        if (recovered > 0)
        {
            Log.Started(log, recovered);
        }
    }

    // False = it was over.
    private async ValueTask<bool> TakeUpAsync(Event accepted, UnfinishedEvent unfinished)
    {
        var (progress, restored) = (new EventProgress(accepted, context.Metrics.Ledger.Of(accepted.App)), new RestoredEvent(unfinished));
        progress.Restored();
        if (unfinished.Withdrawn.Count > 0)
        {
            progress.Add();
            await takeBack.ClearRestAsync(accepted, progress).ConfigureAwait(false);
        }

        if (unfinished.IsDispatched && accepted.ExpiresAt <= context.Time.GetUtcNow())
        {
            // Nothing of it is sent any more, but each delivery has an outcome. One whose dispatch was cut goes the long way: what had not begun
            // has to be planned to have one, and its timeline stays open until it is noted as dispatched.
            dispatcher.EndRestored(accepted, progress, restored);
            context.Close(progress);
            return false;
        }

        dispatcher.Begin(progress); // a caller that takes it back waits for it, as for a new one
        await dispatcher.RestoreAsync(accepted, progress, restored).ConfigureAwait(false);
        return true;
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "{Count} unfinished events of the previous process go on.", EventName = "Started")]
        internal static partial void Started(ILogger logger, int count);

        [LoggerMessage(2, LogLevel.Error, "The stored event {Id} cannot be read any more ({Code}); it is left in the journal.", EventName = "Unreadable")]
        internal static partial void Unreadable(ILogger logger, string id, string code);
    }
}
