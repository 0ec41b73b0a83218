using Pnh.Core.Lanes;
using Pnh.Core.Progress;
using Pnh.Core.Push;

namespace Pnh.Core.Shards;

/// <summary>A delivery as the user's shard knows it. What is said here belongs to that shard, and is touched under its gate only.</summary>
internal sealed class PendingPush : Delivery
{
    /// <summary>Where its user lives: the way back from its lane.</summary>
    internal required Shard Shard { get; init; }

    /// <summary>Its place in the mailbox, which holds its state; null for one that clears.</summary>
    internal MailboxItem? Item { get; init; }

    /// <summary>Of one that clears: the event that it keeps open, so that a restart takes it up again; null = the event had ended before.</summary>
    internal EventProgress? Holds { get; init; }

    /// <summary>The lane of the push.</summary>
    internal required DeliveryLane Lane { get; init; }

    /// <summary>When the planned push goes out.</summary>
    internal PushTiming Push { get; init; }

    /// <summary>
    /// True when it goes out at once. A TTL of 0 means now or never: one attempt on each channel that can be tried at once, and none later. A frame that only queues behind others still has the
    /// time for its ack; one that the session refused will not be acknowledged.
    /// </summary>
    internal bool IsDueAtOnce(bool isFramed, bool isBehind) => Push switch
    {
        PushTiming.Now => true,
        PushTiming.UnlessAcked => !isFramed && (!isBehind || Event.IsNowOrNever),
        PushTiming.UnlessAckedElsewhere => Event.IsNowOrNever,
        _ => false,
    };

    /// <summary>True from entering the lane until its answer: its time then ends there.</summary>
    internal bool IsInLane { get; set; }

    /// <summary>True while it waits only for somebody to acknowledge on another device.</summary>
    internal bool WaitsElsewhere { get; set; }

    /// <summary>Attempts at the provider so far: decides the wait before the next.</summary>
    internal int Attempts { get; set; }

    /// <summary>What stood in its way so far; null = nothing, as with nearly all.</summary>
    internal PushSetbacks? Setbacks { get; set; }

    /// <summary>Of a clear: at how many of the attempts the provider was asked: <see cref="DeliveryResult.IsUnasked"/>.</summary>
    internal int Asked { get; set; }
}
