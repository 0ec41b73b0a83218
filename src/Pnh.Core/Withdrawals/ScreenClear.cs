using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.Withdrawals;

/// <summary>
/// Clears an event from the screens of its users, one after the other. A user who cannot be read holds up the rest, for as long as a clear is worth it; it goes on where it stopped.
/// For one thread at a time.
/// </summary>
/// <param name="context">What shards share.</param>
/// <param name="shards">Where users live.</param>
/// <param name="reads">Devices.</param>
/// <param name="accepted">The event.</param>
/// <param name="screens">Where it may be seen, with what takes it back there.</param>
/// <param name="exceptDevice">Where it was answered: that one is left alone; null = none.</param>
/// <param name="held">The event is kept open until all is said; null = it had ended.</param>
internal sealed class ScreenClear(
    ShardContext context, ShardMap shards, PatientReads reads, Event accepted,
    IReadOnlyList<(Withdrawal Withdrawal, string User, Dictionary<string, ShownEvent.Shown> Devices)> screens, string? exceptDevice, EventProgress? held)
{
    private int _next;

    /// <summary>Goes on; false = the registry cannot be read now, so it has to be called again.</summary>
    internal async ValueTask<bool> TryAsync()
    {
        for (; _next < screens.Count; _next++)
        {
            var (withdrawal, user, devices) = screens[_next];
            var key = new UserKey(accepted.App, user);
            if (await reads.TryUserAsync(key).ConfigureAwait(false) is { } snapshot)
            {
                shards.Of(key).Withdrawals.Clear(key, accepted, withdrawal, devices, snapshot, exceptDevice, held);
            }
            else if (context.Time.GetUtcNow() >= withdrawal.At + ShardWithdrawals.ClearWithin)
            {
                shards.Of(key).Withdrawals.GiveUp(key, accepted, devices, exceptDevice, ShardContext.StoreUnavailable);
            }
            else
            {
                return false;
            }
        }

        if (held is not null)
        {
            context.Close(held);
        }

        return true;
    }
}
