using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>
/// One event's place in one device's mailbox, and the ledger's state of its delivery: pending until it has its one terminal state. It stays after
/// that while the device may still come for it. Holds ids, not the event: a body that is needed again is read from the journal. Belongs to its
/// shard, touched under its gate only.
/// </summary>
internal sealed class MailboxItem(EventProgress progress)
{
    /// <summary>Bytes of heap that a place takes, its event's part and its mailbox's included: 425,000 were 200 MB.</summary>
    internal const int Bytes = 450;

    /// <summary>What is over as soon as that stays in memory: the ends of what rests are looked for some seconds late.</summary>
    internal static readonly TimeSpan Soon = TimeSpan.FromSeconds(15);

    private long _endsAt = progress.ExpiresAt.UtcTicks;
    private PendingPush? _push;
    private PushHold? _hold;

    /// <summary>As a device's plan has it.</summary>
    internal static MailboxItem Of(EventProgress progress, in DevicePlan plan, bool isNowOrNever) => new(progress)
    {
        IsRegistered = plan.IsRegistered,
        IsKept = plan is { Mailbox: true, IsRegistered: true } && !isNowOrNever,
        TakesFrames = plan.Mailbox || plan.Socket is not null,
        Ending = EndingOf(plan),
        EndingReason = plan.PushHeld,
    };

    internal string Id => Progress.Id;

    internal EventClass Class => Progress.Class;

    internal EventProgress Progress { get; } = progress;

    /// <summary>When the event was accepted.</summary>
    internal DateTimeOffset Order => Progress.AcceptedAt;

    /// <summary>From here on nothing of it is sent.</summary>
    internal DateTimeOffset ExpiresAt => Progress.ExpiresAt;

    /// <summary>When it leaves the mailbox at the latest: past its TTL a frame that left in time may still be acknowledged.</summary>
    internal DateTimeOffset EndsAt
    {
        get => new(_endsAt, TimeSpan.Zero);
        set => _endsAt = value.UtcTicks;
    }

    internal string? CollapseKey => Progress.CollapseKey;

    /// <summary>Where the ledger has it.</summary>
    internal DeliveryState State { get; set; }

    internal bool IsSettled => State != DeliveryState.Pending;

    /// <summary>True for a registered device that may get it by socket: it waits for the device's next session, also once it is settled.</summary>
    internal bool IsKept { get; init; }

    /// <summary>False for a socket whose device is not registered: nobody waits for it once the session is gone for good.</summary>
    internal bool IsRegistered { get; init; }

    /// <summary>True when the event's <c>channels</c> let it out on a socket, now or on a later session.</summary>
    internal bool TakesFrames { get; init; }

    /// <summary>How it ends when nobody acknowledges it in time: expired, unless its push was held back or refused.</summary>
    internal DeliveryState Ending { get; set; } = DeliveryState.Expired;

    /// <summary>Why it ends so; null = its time is over, no more.</summary>
    internal string? EndingReason { get; set; }

    /// <summary>True once an attempt of its push ended nobody knows how: then it neither failed nor expired for sure.</summary>
    internal bool MayBeShown { get; set; }

    /// <summary>True once the journal was told that it rests: it can leave memory without a word.</summary>
    internal bool IsRestNoted { get; set; }

    /// <summary>True once its push was due, so that a TTL that ends before its attempt is a deadline that we missed.</summary>
    internal bool WaitsForHub { get; set; }

    /// <summary>The id of the session that was given the frame last; null = none yet. Not the session: it may be gone long before the TTL is over.</summary>
    internal string? Session { get; set; }

    /// <summary>True when this session was given the frame last.</summary>
    internal bool IsOn(LiveSession session) => string.Equals(Session, session.Key.Session, StringComparison.Ordinal);

    /// <summary>When the frame was last given to a session, for the ack latency; 0 = never.</summary>
    internal long FrameTimestamp { get; set; }

    /// <summary>The push that is planned or under way; null = none (any more).</summary>
    internal PendingPush? Push
    {
        get => _push;
        set
        {
            Progress.Books.Holds(BytesOf(value) - BytesOf(_push));
            _push = value;
        }
    }

    /// <summary>The event, read back for a session or an inbox; null = not in memory.</summary>
    internal Event? Loaded { get; set; }

    /// <summary>What keeps its push back until quiet hours end; null = nothing. Never beside a <see cref="Push"/>.</summary>
    internal PushHold? Hold
    {
        get => _hold;
        set
        {
            var change = (value is null ? 0 : 1) - (_hold is null ? 0 : 1);
            Progress.Books.Holds(change * PushHold.Bytes);
            Progress.Books.HeldBack(Class, change);
            _hold = value;
        }
    }

    /// <summary>True when nothing of it is under way; without an end only where its time alone can end it.</summary>
    internal bool MayRest => this is { IsKept: true, Push: null, Hold: null }
        and ({ IsSettled: true } or { Ending: DeliveryState.Expired, EndingReason: null, MayBeShown: false, WaitsForHub: false });

    /// <summary>When its mailbox has to look at it.</summary>
    internal DateTimeOffset DueAt => _hold is { IsReleased: false } hold && hold.Until < EndsAt ? hold.Until : EndsAt;

    /// <summary>Planned anew: how it ends from now on.</summary>
    internal void EndAs(in DevicePlan plan) => (Ending, EndingReason) = (EndingOf(plan), plan.PushHeld);

    private static DeliveryState EndingOf(in DevicePlan plan) => plan.PushHeld is null ? DeliveryState.Expired : plan.HeldEnd;

    // A push holds its event, body and all; that of many users is held once for all of them.
    private static long BytesOf(PendingPush? push) => push is null ? 0 : push.Event.To.Users.Count == 1 ? push.Event.Body.Length + Bytes : Bytes;

    internal MailboxItem? Previous { get; set; }

    internal MailboxItem? Next { get; set; }
}
