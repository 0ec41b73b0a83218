using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Plans;

/// <summary>Whether, when and where a push goes.</summary>
public sealed partial class Planner
{
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

    private DevicePlan PlanPush(Event accepted, DevicePlan plan, Device? device, LiveSession? socket, in UserFacts facts)
    {
        // Nobody registered an address of a device that is only a session.
        var candidate = device is null ? default : FindPush(accepted, device);
        var held = candidate.Address is null ? candidate.Refused
            : facts.Quiet is { Hold: null } quiet ? quiet.Reason
            : candidate.Account is null ? PlanReasons.NoProvider : null;
        if (held is not null)
        {
            return plan with { Reason = socket is null ? held : plan.Reason, PushHeld = held };
        }

        if (candidate.Address is null)
        {
            // Without the websocket there is no mailbox either: it is the event's channels that leave no way.
            return plan.IsSuppressed ? plan with { Reason = PlanReasons.ChannelNotAllowed } : plan;
        }

        plan = plan with { Channel = candidate.Channel, Address = candidate.Address, Account = candidate.Account };
        if (facts.Quiet is { Hold: { } hold })
        {
            return plan with { Push = PushTiming.AfterQuiet, Quiet = hold, PushHeld = hold.Reason, Reason = socket is null ? hold.Reason : plan.Reason };
        }

        var policy = _classes[accepted.Class];
        if (socket is { State: SessionState.Active })
        {
            return plan with { Push = PushTiming.UnlessAcked, PushDelay = Within(accepted, accepted.AckWithin ?? policy.AckWithin, facts.Now) };
        }

        if (socket is null && policy.PushAfter > TimeSpan.Zero && facts.Receivers > 0)
        {
            return plan with
            {
                Push = PushTiming.UnlessAckedElsewhere,
                PushDelay = Within(accepted, policy.PushAfter, facts.Now),
                Reason = PlanReasons.ActiveElsewhere,
            };
        }

        return plan with { Push = PushTiming.Now, Reason = socket is null ? PlanReasons.NoSession : plan.Reason };
    }

    // A push that would wait for longer than the event lives were none: then it has the second half of what is left.
    private static TimeSpan Within(Event accepted, TimeSpan wait, DateTimeOffset now)
    {
        var half = (accepted.ExpiresAt - now) / 2;
        return wait < half ? wait : half > TimeSpan.Zero ? half : TimeSpan.Zero;
    }

    /// <summary>The first allowed channel with an address and an account; else the first with an address; else why there is none.</summary>
    private (IPushChannel? Channel, PushAddress? Address, string? Account, string? Refused) FindPush(Event accepted, Device device)
    {
        (IPushChannel? Channel, PushAddress? Address, string? Account, string? Refused) found = default;
        foreach (var channel in _channels)
        {
            if (channel.SelectAddress(device, accepted) is not { } address)
            {
                continue;
            }

            if (!Allows(accepted, channel.Name))
            {
                found.Refused = PlanReasons.ChannelNotAllowed;
                continue;
            }

            if (channel.FindAccount(accepted.App, address) is { } account)
            {
                return (channel, address, account, null);
            }

            found.Channel ??= channel;
            found.Address ??= address;
        }

        return found;
    }

    // Null = pushes go.
    private static (string Reason, QuietHold? Hold)? FindQuiet(Event accepted, UserSettings settings, DateTimeOffset now, DateTimeOffset wall)
    {
        if (!settings.MayBeQuiet || settings.QuietUntil(accepted.Class == EventClass.Call, wall) is var until && until == wall)
        {
            return null;
        }

        // What ends before they do, and what means now or never, waits for nothing.
        var reason = settings.DoNotDisturbUntil > wall ? PlanReasons.DoNotDisturb : PlanReasons.QuietHours;
        var left = until - wall;
        return (reason, settings.Mode == QuietMode.Hold && accepted.ExpiresAt - now > left && accepted.ExpiresAt > accepted.AcceptedAt ? new QuietHold(reason, until, left) : null);
    }
}
