using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Plans;

/// <summary>
/// Decides, per device, how an event gets there: devices x settings x session state x class (the table in this folder's README). A pure
/// function of its arguments: no clock, no I/O, no state. Thread-safe.
/// </summary>
public sealed partial class Planner
{
    private readonly ClassPolicies _classes;
    private readonly IPushChannel[] _channels;

    /// <summary>With the classes' times and all channels; push channels are tried in the order of their names.</summary>
    public Planner(ClassPolicies classes, IEnumerable<IPushChannel> channels)
    {
        _classes = classes;
        _channels = [.. channels.Where(c => c.Name != ChannelNames.WebSocket).OrderBy(c => c.Name, StringComparer.Ordinal)];
    }

    /// <summary>True when a frame that left so long after the event was accepted left later than its ack was due.</summary>
    public bool IsLate(EventClass @class, TimeSpan sinceAccepted) => _classes[@class].AckWithin is { Ticks: > 0 } within && sinceAccepted > within;

    /// <summary>
    /// Adds one plan per device of the user: registered devices oldest first, then sessions of unregistered devices. Adds nothing when
    /// the user has neither, or lacks the one device that the event is for.
    /// </summary>
    /// <param name="accepted">The event.</param>
    /// <param name="user">Whose devices.</param>
    /// <param name="snapshot">The user's devices and settings.</param>
    /// <param name="sessions">The user's live sessions, at most one per device.</param>
    /// <param name="now">The hub's time, by which events end.</param>
    /// <param name="plans">Receives the plans.</param>
    /// <param name="wall">The machine's time, for quiet hours; null = the same.</param>
    public void Plan(
        Event accepted, string user, UserSnapshot snapshot, IReadOnlyList<LiveSession> sessions, DateTimeOffset now, ICollection<DevicePlan> plans,
        DateTimeOffset? wall = null)
    {
        var facts = new UserFacts
        {
            Suppression = FindUserSuppression(accepted, user, snapshot.Settings),
            Quiet = FindQuiet(accepted, snapshot.Settings, now, wall ?? now),
            Receivers = CountReceivers(accepted, sessions),
            Now = now,
        };

        for (var i = 0; i < snapshot.Devices.Count; i++)
        {
            var device = snapshot.Devices[i];
            if (IsTargeted(accepted, device.Id))
            {
                plans.Add(PlanDevice(accepted, device, FindSession(sessions, device.Id), facts));
            }
        }

        for (var i = 0; i < sessions.Count; i++)
        {
            if (IsTargeted(accepted, sessions[i].Key.Device) && snapshot.Find(sessions[i].Key.Device) is null)
            {
                plans.Add(PlanDevice(accepted, null, sessions[i], facts));
            }
        }
    }

    /// <summary>The plan for a session that joined the event's topic: its socket, no push, no mailbox beyond the session.</summary>
    public static DevicePlan PlanJoined(Event accepted, LiveSession session)
    {
        if (FindJoinedHold(accepted, session.Key) is { } reason)
        {
            return new DevicePlan(session, reason);
        }

        return new DevicePlan(session, PlanReasons.JoinedTopic)
        {
            Socket = session.IsDetached ? null : session,
            Mailbox = session.IsDetached && accepted.IsDurable,
        };
    }

    /// <summary>Why a session that joined the event's topic gets nothing of it; null = it does.</summary>
    internal static string? FindJoinedHold(Event accepted, in SessionKey session)
    {
        if (accepted is { Except: null, Channels: null })
        {
            return null;
        }

        return Contains(accepted.Except?.Users, session.User) ? PlanReasons.ExceptUser
            : Contains(accepted.Except?.Devices, session.Device) ? PlanReasons.ExceptDevice
            : Contains(accepted.Except?.Sessions, session.Session) ? PlanReasons.ExceptSession
            : Allows(accepted, ChannelNames.WebSocket) ? null : PlanReasons.ChannelNotAllowed;
    }

    // Null = the device is not registered, and there is only its session.
    private DevicePlan PlanDevice(Event accepted, Device? device, LiveSession? session, in UserFacts facts)
    {
        var registered = device is not null;
        if ((facts.Suppression ?? FindExclusion(accepted, device?.Id ?? session!.Key.Device, session)) is { } reason)
        {
            return Base(device, session, reason);
        }

        var socket = session is { IsDetached: false } && Allows(accepted, ChannelNames.WebSocket) ? session : null;
        if (accepted.Class == EventClass.Transient)
        {
            return socket is not null
                ? Base(device, session, ReasonOf(socket)) with { Socket = socket }
                : Base(device, session, session is null or { IsDetached: true } ? PlanReasons.TransientNoSession : PlanReasons.ChannelNotAllowed);
        }

        var waiting = session is { IsDetached: true } && !registered ? PlanReasons.DetachedSession : PlanReasons.NoAddress;
        var plan = Base(device, session, socket is null ? waiting : ReasonOf(socket)) with
        {
            Socket = socket,
            Mailbox = (registered || session is { IsDetached: true }) && Allows(accepted, ChannelNames.WebSocket),
        };
        return PlanPush(accepted, plan, device, socket, facts);
    }

    private static DevicePlan Base(Device? device, LiveSession? session, string reason) =>
        device is null ? new DevicePlan(session!, reason) : new DevicePlan(device, reason) { IsRegistered = true };

    private static string? FindUserSuppression(Event accepted, string user, UserSettings settings)
    {
        if (Contains(accepted.Except?.Users, user))
        {
            return PlanReasons.ExceptUser;
        }

        if (Contains(settings.MutedClasses, accepted.Class.Label()))
        {
            return PlanReasons.MutedClass;
        }

        return accepted.To.Topic is { } topic && Contains(settings.MutedTopics, topic) ? PlanReasons.MutedTopic : null;
    }

    private static string? FindExclusion(Event accepted, string device, LiveSession? session)
    {
        if (Contains(accepted.Except?.Devices, device))
        {
            return PlanReasons.ExceptDevice;
        }

        return session is not null && Contains(accepted.Except?.Sessions, session.Key.Session) ? PlanReasons.ExceptSession : null;
    }

    private static string ReasonOf(LiveSession session) =>
        session.State == SessionState.Active ? PlanReasons.ActiveSession : PlanReasons.BackgroundSession;

    private static bool Allows(Event accepted, string channel) => accepted.Channels is null || Contains(accepted.Channels, channel);

    private static bool IsTargeted(Event accepted, string device) =>
        accepted.To.Device is null || string.Equals(accepted.To.Device, device, StringComparison.Ordinal);

    private static LiveSession? FindSession(IReadOnlyList<LiveSession> sessions, string device)
    {
        for (var i = 0; i < sessions.Count; i++)
        {
            if (string.Equals(sessions[i].Key.Device, device, StringComparison.Ordinal))
            {
                return sessions[i];
            }
        }

        return null;
    }

    // Active sessions that get a frame: only they can acknowledge in a push's stead. The device that asks has no socket, so it counts none of its own.
    private static int CountReceivers(Event accepted, IReadOnlyList<LiveSession> sessions)
    {
        var count = 0;
        for (var i = 0; i < sessions.Count && Allows(accepted, ChannelNames.WebSocket); i++)
        {
            var key = sessions[i].Key;
            if (sessions[i] is { State: SessionState.Active, IsDetached: false }
                && IsTargeted(accepted, key.Device)
                && !Contains(accepted.Except?.Devices, key.Device)
                && !Contains(accepted.Except?.Sessions, key.Session))
            {
                count++;
            }
        }

        return count;
    }

    private static bool Contains(IReadOnlyList<string>? list, string value)
    {
        for (var i = 0; list is not null && i < list.Count; i++)
        {
            if (string.Equals(list[i], value, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }

    private readonly struct UserFacts
    {
        public string? Suppression { get; init; }

        public (string Reason, QuietHold? Hold)? Quiet { get; init; }

        public int Receivers { get; init; }

        public DateTimeOffset Now { get; init; }
    }
}
