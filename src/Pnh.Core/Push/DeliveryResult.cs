namespace Pnh.Core.Push;

/// <summary>What a channel says of one attempt. Labels of <c>pnh_deliveries_total{status}</c>; numbers are pinned by a test.</summary>
public enum DeliveryStatus
{
    /// <summary>The frame is in the session's queue; the client's ack settles it.</summary>
    Sent = 0,

    /// <summary>The provider took it. Not "shown on the screen".</summary>
    Accepted = 1,

    /// <summary>The provider says that the address is gone; remove it unless confirmed after <see cref="DeliveryResult.DeadSince"/>.</summary>
    AddressDead = 2,

    /// <summary>Permanent refusal of this payload or address; our bug or the publisher's.</summary>
    Rejected = 3,

    /// <summary>This device gets too many; try again after <see cref="DeliveryResult.RetryAfter"/>.</summary>
    Throttled = 4,

    /// <summary>Provider or network is down for now; try again after <see cref="DeliveryResult.RetryAfter"/>.</summary>
    Unavailable = 5,

    /// <summary>Credentials or topic are wrong: nothing of this account can be sent until someone acts. With <see cref="DeliveryResult.RetryAfter"/>, that is waited for.</summary>
    Misconfigured = 6,

    /// <summary>No live session for the device here.</summary>
    NotConnected = 7,

    /// <summary>The TTL ended before it could be sent, or it was settled while it waited; nothing was sent.</summary>
    Expired = 8,

    /// <summary>The client acknowledged the frame.</summary>
    Acked = 9,

    /// <summary>The plan held it back.</summary>
    Suppressed = 10,

    /// <summary>The provider was asked as often as it may be, and no answer said what became of it.</summary>
    Unconfirmed = 11,
}

/// <summary>The result of one attempt, as a value.</summary>
public readonly record struct DeliveryResult
{
    /// <summary>What happened.</summary>
    public required DeliveryStatus Status { get; init; }

    /// <summary>The provider's own word (<c>BadDeviceToken</c>, <c>UNREGISTERED</c>) or ours in kebab-case; null = nothing to add. Unknown words are kept.</summary>
    public string? Reason { get; init; }

    /// <summary>The provider's id for it (apns-id, in Apple's development environment with its apns-unique-id behind a space; FCM message name); null = none.</summary>
    public string? ProviderId { get; init; }

    /// <summary>How long to wait before another attempt; null = the hub's own schedule, and of <see cref="DeliveryStatus.Misconfigured"/>: never.</summary>
    public TimeSpan? RetryAfter { get; init; }

    /// <summary>The provider was not asked, because it failed, or refused us, just now: no word about this delivery.</summary>
    public bool IsHeld { get; init; }

    /// <summary>
    /// No request of this delivery reached the provider, whatever was in its way: a pace, a dial, a credential, the registry. True of all that is held; what is
    /// not held besides is tried again at its usual times and noted each time.
    /// </summary>
    public bool IsUnasked
    {
        get => (field || IsHeld) && !WasAsked;
        init;
    }

    /// <summary>An earlier request of the same attempt did reach it, whatever became of the last one.</summary>
    public bool WasAsked { get; init; }

    /// <summary>
    /// The request was written and no answer came: the provider may have carried it out, and another attempt may show it twice. With
    /// <see cref="DeliveryStatus.Unavailable"/> only.
    /// </summary>
    public bool IsUnknown { get; init; }

    /// <summary>The connection ended under the request, so that no answer can come any more. With <see cref="IsUnknown"/> only.</summary>
    public bool IsCutOff { get; init; }

    /// <summary>
    /// The attempt's time is over and its request is still under way: completes with what becomes of it, within half a minute, sooner when the send's token is
    /// cancelled. Null = this result is the last word.
    /// </summary>
    public Task<DeliveryResult>? Late { get; init; }

    /// <summary>With <see cref="DeliveryStatus.AddressDead"/>: a wrong topic, environment or project of the account gets this word for every good address too.</summary>
    public bool MayBeAccounts { get; init; }

    /// <summary>Since when the provider knows the address to be dead; null = unknown, then a registration after the request keeps the address.</summary>
    public DateTimeOffset? DeadSince { get; init; }

    /// <summary>A result with nothing but a status and a reason.</summary>
    public static DeliveryResult Of(DeliveryStatus status, string? reason = null) => new() { Status = status, Reason = reason };
}

/// <summary>Names of <see cref="DeliveryStatus"/> as metric labels.</summary>
public static class DeliveryStatusNames
{
    /// <summary>How many there are: size of a table indexed by status.</summary>
    public const int Count = 12;

    /// <summary>Snake-case label; throws on a value outside the enum.</summary>
    public static string Label(this DeliveryStatus status) => status switch
    {
        DeliveryStatus.Sent => "sent",
        DeliveryStatus.Accepted => "accepted",
        DeliveryStatus.AddressDead => "address_dead",
        DeliveryStatus.Rejected => "rejected",
        DeliveryStatus.Throttled => "throttled",
        DeliveryStatus.Unavailable => "unavailable",
        DeliveryStatus.Misconfigured => "misconfigured",
        DeliveryStatus.NotConnected => "not_connected",
        DeliveryStatus.Expired => "expired",
        DeliveryStatus.Acked => "acked",
        DeliveryStatus.Suppressed => "suppressed",
        DeliveryStatus.Unconfirmed => "unconfirmed",
        _ => throw new ArgumentOutOfRangeException(nameof(status), status, null),
    };
}
