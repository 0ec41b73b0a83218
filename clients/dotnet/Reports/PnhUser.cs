using System.Text.Json.Nodes;

namespace Pnh.Client.Reports;

/// <summary>What the hub knows of a user.</summary>
/// <param name="User">The user's id.</param>
/// <param name="Devices">Registered ones; none also when the hub has never heard of the user.</param>
/// <param name="Settings">Quiet hours and what is muted, as the API gives them.</param>
public sealed record PnhUser(string User, IReadOnlyList<PnhRegisteredDevice> Devices, JsonObject Settings);

/// <summary>A registered device. Addresses are as the API gives them; null = it has none of that channel.</summary>
/// <param name="Device">Its id.</param>
/// <param name="Platform"><c>ios</c>, <c>android</c>, <c>web</c> or <c>desktop</c>.</param>
/// <param name="RegisteredAt">When it was registered last.</param>
/// <param name="Apns">Of Apple's service.</param>
/// <param name="Fcm">Of Firebase.</param>
/// <param name="Webpush">Of a browser's push service.</param>
/// <param name="Locale">Its language. Null = not told.</param>
/// <param name="AppVersion">Of the app. Null = not told.</param>
public sealed record PnhRegisteredDevice(
    string Device, string Platform, DateTimeOffset RegisteredAt, JsonObject? Apns = null, JsonObject? Fcm = null, JsonObject? Webpush = null, string? Locale = null, string? AppVersion = null);

/// <summary>Where a user is at this moment.</summary>
/// <param name="User">The user's id.</param>
/// <param name="Online">True when there is a session.</param>
/// <param name="Active">True when an app is in front.</param>
/// <param name="Sessions">All of the user's.</param>
public sealed record PnhPresence(string User, bool Online, bool Active, IReadOnlyList<PnhPresentSession> Sessions);

/// <summary>An open session.</summary>
/// <param name="Session">Its id.</param>
/// <param name="Device">Its device.</param>
/// <param name="State"><c>active</c> or <c>background</c>.</param>
/// <param name="Since">When it was opened.</param>
public sealed record PnhPresentSession(string Session, string Device, string State, DateTimeOffset Since);

/// <summary>An event of a user, with the user's share of its timeline.</summary>
/// <param name="Id">The event's id.</param>
/// <param name="Class"><c>call</c>, <c>message</c> or <c>bulk</c>.</param>
/// <param name="AcceptedAt">When the hub took it.</param>
/// <param name="ExpiresAt">When it is no longer of use.</param>
/// <param name="Milestones">Of the event and the user, and of no device.</param>
/// <param name="Deliveries">One for each device of the user.</param>
/// <param name="Outcome">Why nothing was planned for the user. Null = something was.</param>
public sealed record PnhUserEvent(
    string Id, string Class, DateTimeOffset AcceptedAt, DateTimeOffset ExpiresAt, IReadOnlyList<PnhMilestone> Milestones, IReadOnlyList<PnhDelivery> Deliveries, string? Outcome = null);

/// <summary>Which events of a user are asked for. Null = any.</summary>
public sealed record PnhUserEventFilter
{
    /// <summary>Those with a delivery to this device.</summary>
    public string? Device { get; init; }

    /// <summary>Those with a delivery in this state; with a device, both of one delivery.</summary>
    public string? State { get; init; }

    /// <summary>Those that were taken at that time or later.</summary>
    public DateTimeOffset? Since { get; init; }
}

/// <summary>A page of them.</summary>
internal sealed record UserEventPage(IReadOnlyList<PnhUserEvent> Events, string? Next);
