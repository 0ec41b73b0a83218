using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Withdrawals;

/// <summary>Taking events back: durable first, then what waits stops, which needs no store, then what was shown is cleared. Thread-safe.</summary>
/// <param name="context">What shards share.</param>
/// <param name="shards">Where users live.</param>
/// <param name="dispatcher">A dispatch under way is waited for, and a fan-out stopped.</param>
/// <param name="reads">Devices that it was shown on.</param>
/// <param name="loader">Makes events again.</param>
/// <param name="faulted">Gets each fault of the journal.</param>
/// <param name="log">Gets bugs.</param>
internal sealed partial class TakeBack(
    ShardContext context, ShardMap shards, Dispatcher dispatcher, PatientReads reads, EventLoader loader, Action<string> faulted, ILogger log)
{
    /// <summary>Completes when it is durable and what waits has stopped. Throws <see cref="StoreUnavailableException"/>; then nothing has happened, and it may be tried again.</summary>
    /// <param name="withdrawal">What is taken back.</param>
    /// <param name="noted">The reason in the event's timeline.</param>
    /// <param name="user">From whom; null = from all.</param>
    /// <param name="exceptDevice">Where it was answered: that one is left alone; null = none.</param>
    /// <param name="cancellationToken">Ends the wait before it is durable.</param>
    internal async ValueTask<WithdrawStatus> RunAsync(Withdrawal withdrawal, string noted, string? user, string? exceptDevice, CancellationToken cancellationToken)
    {
        // Everything it starts shall be in its history.
        await dispatcher.DispatchedAsync(withdrawal.App, withdrawal.Event).WaitAsync(cancellationToken).ConfigureAwait(false);
        var isPushing = user is null || (new UserKey(withdrawal.App, user) is var key && shards.Of(key).Withdrawals.IsPushing(key, withdrawal.Event));
        var result = await NoteAsync(withdrawal, noted, user, cancellationToken).ConfigureAwait(false);
        if (result.History is { } history)
        {
            await StopAsync(withdrawal, history, user, exceptDevice, isPushing).ConfigureAwait(false);
        }

        return result.Status;
    }

    /// <summary>
    /// Goes on with what the previous process took back and had not cleared everywhere when it ended; <paramref name="held"/> is closed when that is done. Completes at once when the registry
    /// cannot be read: the rest goes on by itself. Throws nothing.
    /// </summary>
    internal async ValueTask ClearRestAsync(Event accepted, EventProgress held)
    {
        try
        {
            var history = await context.Journal.ReadAsync(accepted.App, accepted.Id, CancellationToken.None).ConfigureAwait(false);
            var screens = history is null ? [] : UnclearedEvent.Of(history, context.Time.GetUtcNow() - ShardWithdrawals.ClearWithin);
            await ClearAsync(accepted, new ScreenClear(context, shards, reads, accepted, [.. screens], exceptDevice: null, held)).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            faulted(fault.Message);
        }
        catch (Exception bug)
        {
            Log.ClearBroke(log, accepted.Id, accepted.App, bug);
        }
    }

    // A fan-out stands still until it stands, and goes on when it could not be written; for one user it only passes him by.
    private async ValueTask<WithdrawResult> NoteAsync(Withdrawal withdrawal, string noted, string? user, CancellationToken cancellationToken)
    {
        var fanOut = dispatcher.FanOuts.Find(withdrawal.App, withdrawal.Event);
        if (user is not null)
        {
            fanOut?.Skip(user);
        }

        if (fanOut is null || user is not null)
        {
            return await WriteAsync().ConfigureAwait(false);
        }

        await fanOut.HoldAsync(cancellationToken).ConfigureAwait(false);
        fanOut.Pause(isOn: true);
        try
        {
            var result = await WriteAsync().ConfigureAwait(false);
            dispatcher.FanOuts.Stop(fanOut);
            return result;
        }
        finally
        {
            fanOut.Pause(isOn: false);
            fanOut.Release();
        }

        ValueTask<WithdrawResult> WriteAsync() =>
            context.Journal.WithdrawAsync(withdrawal.App, withdrawal.Event, user, noted, context.Time.GetUtcNow(), cancellationToken);
    }

    // It stands from here on and nobody can ask again, so nothing here may throw or be cancelled: first all that waits is stopped, which needs no
    // store; then what was shown is cleared.
    private async ValueTask StopAsync(Withdrawal withdrawal, EventHistory history, string? user, string? exceptDevice, bool isPushing)
    {
        var resting = UnfinishedFold.Fold(history).Deliveries.Where(static one => one.IsResting)
            .ToLookup(static one => one.User, one => RestingDelivery.Of(history.Event, history.Milestones[0].Class, one), StringComparer.Ordinal);
        var sent = new List<(string User, string Device, string Channel)>();
        EventProgress? held = null;
        foreach (var each in new ShownEvent(history, user).Users)
        {
            var key = new UserKey(withdrawal.App, each.Key);
            shards.Of(key).Withdrawals.Stop(key, withdrawal, exceptDevice, resting[each.Key], sent, ref held);
        }

        try
        {
            // A provider may have accepted between the withdrawal's history and the stop.
            var shown = new ShownEvent((isPushing ? await ReadAgainAsync(history, user).ConfigureAwait(false) : null) ?? history, user);
            sent.ForEach(shown.Note);
            if (loader.Read(history.Event, []) is { } accepted)
            {
                await ClearAsync(accepted, new ScreenClear(
                    context, shards, reads, accepted, [.. shown.Users.Select(each => (withdrawal, each.Key, each.Value))], exceptDevice, held)).ConfigureAwait(false);
            }
            else if (held is not null)
            {
                context.Close(held);
            }
        }
        catch (Exception bug)
        {
            Log.ClearBroke(log, withdrawal.Event, withdrawal.App, bug);
        }
    }

    private async ValueTask ClearAsync(Event accepted, ScreenClear clear)
    {
        if (!await clear.TryAsync().ConfigureAwait(false))
        {
            _ = GoOnAsync(accepted, clear);
        }
    }

    // A hub that stops leaves the event open, so the next start goes on.
    private async Task GoOnAsync(Event accepted, ScreenClear clear)
    {
        try
        {
            await reads.GoOnAsync(clear.TryAsync).ConfigureAwait(false);
        }
        catch (Exception bug)
        {
            Log.ClearBroke(log, accepted.Id, accepted.App, bug);
        }
    }

    private async ValueTask<EventHistory?> ReadAgainAsync(EventHistory history, string? user)
    {
        try
        {
            return user is null
                ? await context.Journal.ReadAsync(history.Event.App, history.Event.Id, CancellationToken.None).ConfigureAwait(false)
                : await context.Journal.ReadAsync(history.Event.App, history.Event.Id, user, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            faulted(fault.Message);
            return null;
        }
    }

    private static partial class Log
    {
        [LoggerMessage(12, LogLevel.Error, "Event {Id} of app {App} was taken back, but not cleared everywhere; this is a bug.", EventName = "ClearBroke")]
        internal static partial void ClearBroke(ILogger logger, string id, string app, Exception bug);
    }
}
