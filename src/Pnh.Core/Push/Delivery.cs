using Pnh.Core.Events;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Push;

/// <summary>
/// The push of one event to one device, as lanes and channels see it: nothing of it changes while a send is under way. What the user's shard knows of it
/// besides is a <c>PendingPush</c>. On the wheel it waits for its next attempt.
/// </summary>
public class Delivery : WheelEntry
{
    /// <summary>A dial takes up to 3.5 s: who needs one is still in time.</summary>
    public static readonly TimeSpan NowOrNever = TimeSpan.FromSeconds(5);

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

    /// <summary>True once nothing shall be sent any more: a lane and its sender skip what was acknowledged or withdrawn while it waited. Safe to read anywhere.</summary>
    public bool IsSettled => Volatile.Read(ref _isSettled);

    /// <summary>
    /// True when its time is over. A TTL of 0 means now or never, and now ends <see cref="NowOrNever"/> after it entered its lane: behind a provider that is down
    /// it would ring minutes late. What clears an event is sent after the event's end too. Safe to read anywhere.
    /// </summary>
    public bool IsTooLate(TimeProvider time) =>
        Withdrawal is null && (Event.ExpiresAt > Event.AcceptedAt
            ? Event.ExpiresAt <= time.GetUtcNow()
            : time.GetElapsedTime(QueuedTimestamp) > NowOrNever);

    /// <summary>When the delivery entered its lane; before that, never.</summary>
    internal long QueuedTimestamp { get; set; } = long.MaxValue;

    /// <summary>From now on the push goes there. For the lane, between two attempts.</summary>
    internal void MoveTo(PushAddress address) => _address = address;

    /// <summary>Nothing more is sent of it.</summary>
    internal void Stop() => Volatile.Write(ref _isSettled, true);

    private PushAddress? _address;
    private bool _isSettled;
}
