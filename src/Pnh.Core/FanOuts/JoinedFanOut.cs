using Pnh.Core.Events;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.FanOuts;

/// <summary>An event to the sessions that joined its topic, but for those of members: their devices have been planned. Thread-safe.</summary>
/// <param name="context">What shards share.</param>
/// <param name="turns">Gives way to others.</param>
internal sealed class JoinedFanOut(ShardContext context, Turns turns)
{
    /// <summary>So many sessions of other nodes cost what one of this node does: each is a number that is added to a list.</summary>
    internal const int CarriedAsOne = 64;

    /// <summary>A few sessions, at once.</summary>
    /// <param name="accepted">The event.</param>
    /// <param name="progress">Null for a transient one.</param>
    /// <param name="joined">The sessions.</param>
    /// <param name="members">The topic's members; null = it has none.</param>
    internal void Serve(Event accepted, EventProgress? progress, ReadOnlySpan<Subscriber> joined, TopicMembers? members)
    {
        if (joined.IsEmpty)
        {
            return;
        }

        CarriedSessions? carried = null;
        Serve(accepted, progress, joined, members, ref carried);
        context.SendCarried(accepted, carried);
    }

    /// <summary>The same for many: others come between.</summary>
    internal async ValueTask ServeAsync(Event accepted, EventProgress? progress, Subscriber[] joined, TopicMembers? members)
    {
        CarriedSessions? carried = null;
        try
        {
            var (begun, carriedBefore) = (0, 0);
            for (var from = 0; from < joined.Length; from += FanOutPages.YieldEvery)
            {
                var elsewhere = (carried?.Count ?? 0) - carriedBefore;
                if (from - begun - elsewhere + (elsewhere / CarriedAsOne) >= FanOutPages.YieldEvery)
                {
                    await turns.NextAsync();
                    (begun, carriedBefore) = (from, carriedBefore + elsewhere);
                }

                Serve(accepted, progress, joined.AsSpan(from, Math.Min(FanOutPages.YieldEvery, joined.Length - from)), members, ref carried);
            }
        }
        finally
        {
            context.SendCarried(accepted, carried);
        }
    }

    private void Serve(Event accepted, EventProgress? progress, ReadOnlySpan<Subscriber> joined, TopicMembers? members, ref CarriedSessions? carried)
    {
        Subscriber.Prefetch(joined, isDurable: progress is not null);
        if (progress is null)
        {
            context.SendTransient(accepted, joined, ref carried);
            return;
        }

        members = members is { Users.Count: > 0 } ? members : null;
        foreach (var subscriber in joined)
        {
            if (members?.Contains(subscriber.Key.User) != true)
            {
                var joiner = (ShardSubscriber)subscriber;
                joiner.Shard.DispatchJoined(progress, accepted, joiner);
            }
        }
    }
}
