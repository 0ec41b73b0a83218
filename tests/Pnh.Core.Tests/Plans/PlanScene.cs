using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Plans;

/// <summary>One user as the planner sees it. Immutable; printed by FsCheck when a property fails.</summary>
public sealed record PlanScene(Event Event, UserSnapshot Snapshot, IReadOnlyList<LiveSession> Sessions, DateTimeOffset Now)
{
    public const string User = "ada";
    public static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    /// <summary>All times of the default policies, told apart.</summary>
    public static readonly ClassPolicies Classes = ClassPolicies.Default;

    public static readonly Planner Planner = new(
        Classes, [new FakeChannel("websocket", TimeProvider.System), new FakeChannel("fcm", TimeProvider.System), new FakeChannel("apns", TimeProvider.System)]);

    public List<DevicePlan> Plan() => PlanAs(User);

    public List<DevicePlan> PlanAs(string user)
    {
        var plans = new List<DevicePlan>();
        Planner.Plan(Event, user, Snapshot, Sessions, Now, plans);
        return plans;
    }

    public static Event NewEvent(
        EventClass @class, EventTarget? to = null, Exclusions? except = null, IReadOnlyList<string>? channels = null, TimeSpan? ack = null,
        TimeSpan? ttl = null) => new()
        {
            App = "demo",
            Id = "e1",
            To = to ?? EventTarget.ToUser(User),
            Class = @class,
            AcceptedAt = Noon,
            ExpiresAt = Noon + (ttl ?? TimeSpan.FromHours(1)),
            Except = except,
            Channels = channels,
            AckWithin = ack,
        };

    public static Device NewDevice(string id, params string[] addresses) => new()
    {
        Id = id,
        Platform = Platform.Android,
        RegisteredAt = Noon.AddDays(-1),
        // "fcm" or "fcm/orphan": an address that no provider serves.
        Addresses = [.. addresses.Select(a => new PushAddress(a.Split('/')[0], a.Contains('/') ? "orphan" : "token", $"{id}-{a}", "", Noon.AddDays(-1)))],
    };

    public static LiveSession NewSession(string device, SessionState state, string? session = null) =>
        new(new SessionKey("demo", User, device, session ?? $"s-{device}"), state, new FakeLink(), Noon.AddMinutes(-5));

    public override string ToString() =>
        $"{Event.Class} to {Event.To.Kind} {Event.To.Device ?? Event.To.Topic} channels [{string.Join(',', Event.Channels ?? ["*"])}]"
        + $" except u[{Join(Event.Except?.Users)}] d[{Join(Event.Except?.Devices)}] s[{Join(Event.Except?.Sessions)}]"
        + $" muted c[{Join(Snapshot.Settings.MutedClasses)}] t[{Join(Snapshot.Settings.MutedTopics)}]"
        + $" quiet {Snapshot.Settings.QuietHours} dnd {Snapshot.Settings.DoNotDisturbUntil} at {Now:t}"
        + $" devices [{string.Join("; ", Snapshot.Devices.Select(d => $"{d.Id}: {Join([.. d.Addresses.Select(a => a.Value)])}"))}]"
        + $" sessions [{string.Join("; ", Sessions.Select(s => $"{s.Key.Device} {s.State}"))}]";

    private static string Join(IReadOnlyList<string>? list) => string.Join(',', list ?? []);
}
