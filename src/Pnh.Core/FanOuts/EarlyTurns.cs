using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.FanOuts;

/// <summary>
/// Members who have a session do not wait for a million others: all of their devices are planned before the pages of the fan-out begin. Those who cannot be read now are left
/// to their pages. Thread-safe.
/// </summary>
/// <param name="devices">The registry: what it has in memory needs no wait.</param>
/// <param name="reads">Reads of the rest.</param>
/// <param name="turns">Gives way to others.</param>
/// <param name="flush">Completes when the journal has what was noted.</param>
internal sealed class EarlyTurns(IDeviceStore devices, PatientReads reads, Turns turns, Func<ValueTask> flush)
{
    private const int Block = 32;
    private const int MostUnread = 256;

    // A member with a session leaves three notes, and the journal has room for 262,144.
    private const int FlushEvery = 16_384;

    /// <summary>Completes when all of them had their turn. <paramref name="earlier"/>: what of the same line has not ended, in order.</summary>
    internal async ValueTask BeginAsync(FanOut fanOut, IReadOnlyList<FanOut> earlier)
    {
        var members = fanOut.Sessions.Members;
        var unread = new List<Subscriber>();
        for (var from = 0; from < members.Length; from += Block)
        {
            if (from > 0)
            {
                await turns.NextAsync();
            }

            BeginKnown(fanOut, members.AsSpan(from, Math.Min(Block, members.Length - from)), earlier, unread);
            if (unread.Count >= MostUnread)
            {
                await BeginUnreadAsync(fanOut, unread, earlier).ConfigureAwait(false);
            }

            if (from % FlushEvery == FlushEvery - Block)
            {
                await flush().ConfigureAwait(false);
            }
        }

        await BeginUnreadAsync(fanOut, unread, earlier).ConfigureAwait(false);
    }

    private void BeginKnown(FanOut fanOut, ReadOnlySpan<Subscriber> members, IReadOnlyList<FanOut> earlier, List<Subscriber> unread)
    {
        Subscriber.Prefetch(members, isDurable: true);
        foreach (var member in members)
        {
            var key = new UserKey(member.Key.App, member.Key.User);
            if (devices.TryGetUser(key, out var snapshot))
            {
                fanOut.Begin(((ShardSubscriber)member).Shard, key, snapshot, earlier);
            }
            else
            {
                unread.Add(member);
            }
        }
    }

    private async ValueTask BeginUnreadAsync(FanOut fanOut, List<Subscriber> unread, IReadOnlyList<FanOut> earlier)
    {
        if (unread.Count == 0)
        {
            return;
        }

        var snapshots = await reads.TryUsersAsync(fanOut.Event.App, unread.ConvertAll(static member => member.Key.User), areHere: true).ConfigureAwait(false);
        for (var i = 0; i < unread.Count; i++)
        {
            var key = unread[i].Key;
            if (snapshots is null)
            {
                fanOut.Leave(key.User);
            }
            else
            {
                fanOut.Begin(((ShardSubscriber)unread[i]).Shard, new UserKey(key.App, key.User), snapshots[i], earlier);
            }
        }

        unread.Clear();
    }
}
