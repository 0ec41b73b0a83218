using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>How long a push waits before its next attempt. Pure but for chance.</summary>
internal static class RetryWait
{
    /// <summary>After an answer that says that it was not carried out, or that nobody was asked.</summary>
    /// <param name="delivery">Whose next attempt.</param>
    /// <param name="result">The answer.</param>
    /// <param name="rest">What is left of its time.</param>
    internal static TimeSpan After(PendingPush delivery, in DeliveryResult result, TimeSpan rest)
    {
        var wait = OwnAfter(delivery, result, rest);
        return delivery.Setbacks is { Unanswered: > 0 } && !result.IsUnasked && !PushSetbacks.HasNoTimeForAPause(delivery.Event) && wait < PushSetbacks.Pause ? PushSetbacks.Pause : wait;
    }

    /// <summary>Never earlier than given, up to a quarter later: those who were told the same time do not come back together. Within the TTL if given was.</summary>
    internal static TimeSpan Spread(TimeSpan given, TimeSpan rest)
    {
        var (quarter, left) = (given / 4, rest - given);
        var room = left <= TimeSpan.Zero ? TimeSpan.Zero : quarter < left ? quarter : left;
        return given + (room * Random.Shared.NextDouble());
    }

    private static TimeSpan OwnAfter(PendingPush delivery, in DeliveryResult result, TimeSpan rest)
    {
        // A provider that says "after 0 s" means soon, not at once and again: that would be a busy loop.
        if (result.RetryAfter is not { } given || given <= TimeSpan.Zero)
        {
            return Backoff(delivery.Attempts);
        }

        // A held delivery gets the same few seconds, however long the outage lasts.
        return result.IsHeld && Backoff(delivery.Attempts) is var own && own > given
            ? own
            : Spread(given, rest);
    }

    // 1, 2, 4, 8, 16 s, each spread over half to one and a half of it, so that a healed provider is not met by everybody at once. No longer ones: everything
    // waiting has to be through a minute after the provider is back, and may be turned away twice until then, by an open breaker and by its probe.
    private static TimeSpan Backoff(int attempts) =>
        TimeSpan.FromSeconds((1 << Math.Clamp(attempts - 1, 0, 4)) * (0.5 + Random.Shared.NextDouble()));
}
