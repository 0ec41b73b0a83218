using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Plans;

/// <summary>What PNH will do for one device. Pure data; the same for explain and for real.</summary>
public readonly record struct DevicePlan
{
    private readonly Device? _registered;
    private readonly LiveSession? _unregistered;

    /// <summary>For a registered device.</summary>
    public DevicePlan(Device device, string reason) => (_registered, Reason) = (device, reason);

    /// <summary>For a session whose device is not registered, or which is served as a session alone.</summary>
    public DevicePlan(LiveSession session, string reason) => (_unregistered, Reason) = (session, reason);

    /// <summary>The device; for a session alone, one made up at each call: the hot path asks for <see cref="DeviceId"/>.</summary>
    public Device Device => _registered ?? new Device { Id = DeviceId, Platform = Platform.Web, RegisteredAt = _unregistered!.Since };

    /// <summary>The device's id.</summary>
    public string DeviceId => _registered?.Id ?? _unregistered!.Key.Device;

    /// <summary>Why, from <see cref="PlanReasons"/>.</summary>
    public string Reason { get; init; }

    /// <summary>The session whose socket gets a frame now; null = none.</summary>
    public LiveSession? Socket { get; init; }

    /// <summary>Whether and when the provider gets a push.</summary>
    public PushTiming Push { get; init; }

    /// <summary>How long the push waits for an ack; zero for <see cref="PushTiming.Now"/>.</summary>
    public TimeSpan PushDelay { get; init; }

    /// <summary>What the push waits for; null unless it is <see cref="PushTiming.AfterQuiet"/>.</summary>
    public QuietHold? Quiet { get; init; }

    /// <summary>The channel of the push; null unless a push is planned.</summary>
    public IPushChannel? Channel { get; init; }

    /// <summary>The address of the push; null unless a push is planned.</summary>
    public PushAddress? Address { get; init; }

    /// <summary>The provider account of the push; null unless a push is planned.</summary>
    public string? Account { get; init; }

    /// <summary>False for a socket whose device is not registered: there is nobody to wait for once it is gone.</summary>
    public bool IsRegistered { get; init; }

    /// <summary>
    /// True when it waits for the device's next session until its TTL ends, also after a push was accepted, held back or refused.
    /// </summary>
    public bool Mailbox { get; init; }

    /// <summary>Why no push is planned though one would be due (quiet hours, no provider, …), or why it waits (<see cref="Quiet"/>); null = nothing was held back.</summary>
    public string? PushHeld { get; init; }

    /// <summary>How a push that is held back ends: no way at all for want of a provider is a failure, not somebody's wish.</summary>
    internal DeliveryState HeldEnd => PushHeld == PlanReasons.NoProvider ? DeliveryState.Failed : DeliveryState.Suppressed;

    /// <summary>True when nothing at all will be sent.</summary>
    public bool IsSuppressed => Socket is null && Push == PushTiming.Never && !Mailbox;
}

/// <summary>What a push waits for that quiet hours or "do not disturb" keep back. Immutable.</summary>
/// <param name="Reason">Which of them, from <see cref="PlanReasons"/>.</param>
/// <param name="Until">When they end, by the machine's clock.</param>
/// <param name="Left">How long that is from the plan on.</param>
public sealed record QuietHold(string Reason, DateTimeOffset Until, TimeSpan Left);

/// <summary>The reasons of a plan, as they stand in explain and timeline.</summary>
public static class PlanReasons
{
    /// <summary>The app is in front on this device: socket first, push when it does not acknowledge.</summary>
    public const string ActiveSession = "active-session";

    /// <summary>The socket is open but nobody looks: push, socket too.</summary>
    public const string BackgroundSession = "background-session";

    /// <summary>No socket, a push address: push.</summary>
    public const string NoSession = "no-session";

    /// <summary>No socket here, but the user is active on another device: push later unless acknowledged there.</summary>
    public const string ActiveElsewhere = "active-elsewhere";

    /// <summary>Neither socket nor push address: waits for the next session.</summary>
    public const string NoAddress = "no-address";

    /// <summary>A push would be due, but no provider is configured for the address.</summary>
    public const string NoProvider = "no-provider";

    /// <summary>The session lost its connection and may come back: waits for that.</summary>
    public const string DetachedSession = "detached-session";

    /// <summary>The session joined the event's topic.</summary>
    public const string JoinedTopic = "joined-topic";

    /// <summary>Transient events go to live sessions only.</summary>
    public const string TransientNoSession = "transient-no-session";

    /// <summary>The user muted the class.</summary>
    public const string MutedClass = "muted-class";

    /// <summary>The user muted the topic.</summary>
    public const string MutedTopic = "muted-topic";

    /// <summary>The event leaves out the user.</summary>
    public const string ExceptUser = "except-user";

    /// <summary>The event leaves out the device.</summary>
    public const string ExceptDevice = "except-device";

    /// <summary>The event leaves out the device's session.</summary>
    public const string ExceptSession = "except-session";

    /// <summary>The event's <c>channels</c> leave no way to the device, or hold its push back.</summary>
    public const string ChannelNotAllowed = "channel-not-allowed";

    /// <summary>The user's quiet hours hold pushes back (not calls), until they end or for good.</summary>
    public const string QuietHours = "quiet-hours";

    /// <summary>The user asked not to be disturbed: no pushes, calls included, until then or for good.</summary>
    public const string DoNotDisturb = "do-not-disturb";

    /// <summary>Another device of the user acknowledged while the push waited: it was not sent.</summary>
    public const string AckedElsewhere = "acked-elsewhere";

    /// <summary>The device's session ended and did not come back, or its registration was removed: nobody is there any more. A delivery's end.</summary>
    public const string DeviceGone = "device-gone";

    /// <summary>The user is unknown or has neither devices nor sessions.</summary>
    public const string NoDevices = "no-devices";
}
