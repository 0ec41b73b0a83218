using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Shards;

namespace Pnh.Core.Deliveries;

/// <summary>
/// One event to one device, by frame, push or both. A channel sees the public half, which does not change while a send is under way; the internal half belongs
/// to the user's shard and is touched under its lock only.
/// </summary>
public sealed class Delivery : WheelEntry
{
    /// <summary>The event, shared by all its deliveries.</summary>
    public required Event Event { get; init; }

    /// <summary>Not null: this is no delivery of the event but one that clears it from the screen. Sent once, after the event's end too.</summary>
    public Withdrawal? Withdrawal { get; init; }

    /// <summary>Whose device.</summary>
    public required UserKey User { get; init; }

    /// <summary>The device as it was when the plan was made.</summary>
    public required Device Device { get; init; }

    /// <summary>The push address to use; null = no push is planned. The lane may bring it up to date before an attempt, never during one.</summary>
    public PushAddress? Address
    {
        get => _address;
        init => _address = value;
    }

    /// <summary>The session that was given the frame last, beside or before a push; null = none yet. Not for channels.</summary>
    internal LiveSession? Session { get; set; }

    /// <summary>True once its end is decided: a lane skips what was acknowledged or withdrawn while it waited. Safe to read anywhere.</summary>
    public bool IsSettled => Volatile.Read(ref _state) != (int)DeliveryState.Pending;

    /// <summary>Where the delivery stands.</summary>
    internal DeliveryState State
    {
        get => (DeliveryState)Volatile.Read(ref _state);
        set => Volatile.Write(ref _state, (int)value);
    }

    /// <summary>The event's deliveries together: tells when the last one is settled.</summary>
    internal EventProgress Progress { get; init; } = null!;

    /// <summary>The lane of the push; null = no push is planned.</summary>
    internal DeliveryLane? Lane { get; set; }

    /// <summary>When the planned push goes out.</summary>
    internal PushTiming Push { get; set; }

    /// <summary>What the delivery does when its time on the wheel has come.</summary>
    internal WheelAction OnDue { get; set; }

    /// <summary>False for a socket whose device is not registered: nobody waits for it once the session is gone for good.</summary>
    internal bool IsRegistered { get; init; }

    /// <summary>True when the event's <c>channels</c> let it out on a socket, now or on a later session.</summary>
    internal bool TakesFrames { get; init; }

    /// <summary>How it ends when nobody acknowledges it in time: expired, unless its push was held back or refused.</summary>
    internal DeliveryState Ending { get; set; } = DeliveryState.Expired;

    /// <summary>Why it ends so; null = its time is over, no more.</summary>
    internal string? EndingReason { get; set; }

    /// <summary>True when how it ends is in the counters already: a push held back counts when that is decided, its delivery may end hours later.</summary>
    internal bool IsCounted { get; set; }

    /// <summary>True once its push was due, so that a TTL that ends before its attempt is a deadline that we missed.</summary>
    internal bool WaitsForHub { get; set; }

    /// <summary>Attempts at the provider so far: decides the wait before the next.</summary>
    internal int Attempts { get; set; }

    /// <summary>When the frame was last given to a session, for the ack latency; null = never.</summary>
    internal long? FrameTimestamp { get; set; }

    /// <summary>When the delivery entered its lane, for the queue's age.</summary>
    internal long QueuedTimestamp { get; set; }

    /// <summary>From now on the push goes there. For the lane, between two attempts.</summary>
    internal void MoveTo(PushAddress address) => _address = address;

    private PushAddress? _address;
    private int _state;
}

/// <summary>What a due delivery wants.</summary>
internal enum WheelAction
{
    /// <summary>Its time is over.</summary>
    End,

    /// <summary>Nobody acknowledged, or the next attempt is due.</summary>
    SendPush,
}
