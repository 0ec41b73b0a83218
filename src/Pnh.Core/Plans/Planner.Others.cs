using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Core.Plans;

/// <summary>Plans beside the table: sessions in a topic, and pushes that clear.</summary>
public sealed partial class Planner
{
    /// <summary>The plan for a session that joined the event's topic: its socket, no push, no mailbox beyond the session.</summary>
    public static DevicePlan PlanJoined(Event accepted, LiveSession session)
    {
        var device = new Device { Id = session.Key.Device, Platform = Platform.Web, RegisteredAt = session.Since };
        var reason = Contains(accepted.Except?.Users, session.Key.User) ? PlanReasons.ExceptUser : FindExclusion(accepted, device, session);
        if (reason is not null || !Allows(accepted, ChannelNames.WebSocket))
        {
            return new DevicePlan(device, reason ?? PlanReasons.ChannelNotAllowed);
        }

        return new DevicePlan(device, PlanReasons.JoinedTopic)
        {
            Socket = session.IsDetached ? null : session,
            Mailbox = session.IsDetached && accepted.IsDurable,
        };
    }

    /// <summary>
    /// Where a push that clears the event on the device goes, on the given channel; null when there is no such address or account. A ring cannot
    /// be cleared where it came in (a VoIP push must ring), so the address is that of a plain message.
    /// </summary>
    public (IPushChannel Channel, PushAddress Address, string Account)? FindClear(Event accepted, Device device, string channel)
    {
        var plain = new Event { App = accepted.App, Id = accepted.Id, To = accepted.To, AcceptedAt = accepted.AcceptedAt, ExpiresAt = accepted.ExpiresAt };
        foreach (var each in _channels)
        {
            if (each.Name == channel && each.SelectAddress(device, plain) is { } address && each.FindAccount(accepted.App, address) is { } account)
            {
                return (each, address, account);
            }
        }

        return null;
    }
}
