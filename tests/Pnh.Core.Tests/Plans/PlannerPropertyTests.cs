using System.Reflection;
using FsCheck;
using FsCheck.Fluent;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Plans;

/// <summary>What holds of every plan, over random users, devices, settings, sessions and events.</summary>
public sealed class PlannerPropertyTests
{
    private static readonly string[] DeviceIds = ["d1", "d2", "d3", "tab1", "tab2"];
    private static readonly HashSet<string> Reasons = [.. typeof(PlanReasons)
        .GetFields(BindingFlags.Public | BindingFlags.Static).Select(f => (string)f.GetRawConstantValue()!)];

    private static readonly Gen<PlanScene> Scenes =
        from @class in Gen.Elements(EventClass.Call, EventClass.Message, EventClass.Bulk, EventClass.Transient)
        from to in Gen.Elements(
            EventTarget.ToUser(PlanScene.User), EventTarget.ToUsers(["eve", PlanScene.User]), EventTarget.ToTopic("news"),
            EventTarget.ToDevice(PlanScene.User, "d1"), EventTarget.ToDevice(PlanScene.User, "tab1"))
        from except in Sometimes(
            from users in Gen.SubListOf(PlanScene.User, "eve")
            from devices in Gen.SubListOf("d1", "tab1", "x")
            from sessions in Gen.SubListOf("s-d2", "s-tab2", "y")
            select new Exclusions([.. users], [.. devices], [.. sessions]))
        from channels in Sometimes(Gen.SubListOf("websocket", "fcm", "apns"))
        from ack in Gen.Elements<TimeSpan?>(null, null, TimeSpan.Zero, TimeSpan.FromSeconds(9))
        from registered in Gen.SubListOf("d1", "d2", "d3")
        from devices in Gen.CollectToList(registered, id =>
            from addresses in Gen.SubListOf("fcm", "apns", "apns/orphan", "fcm/orphan")
            select PlanScene.NewDevice(id, [.. addresses]))
        from open in Gen.SubListOf(DeviceIds)
        from sessions in Gen.CollectToList(open, id =>
            from state in Gen.Elements(SessionState.Active, SessionState.Background)
            from detached in Gen.Elements(false, false, true)
            select PlanScene.NewSession(id, state) with { IsDetached = detached })
        from mutedClasses in Sometimes(Gen.SubListOf("call", "message", "bulk", "transient"))
        from mutedTopics in Gen.SubListOf("news", "other")
        from quiet in Gen.Elements(null, null, new QuietHours(new(11, 0), new(13, 0), "UTC"), new QuietHours(new(22, 0), new(7, 0), "UTC"))
        from dnd in Gen.Elements<DateTimeOffset?>(null, null, PlanScene.Noon.AddHours(1), PlanScene.Noon.AddHours(-1))
        select new PlanScene(
            PlanScene.NewEvent(@class, to, except, channels is null ? null : [.. channels], ack),
            new UserSnapshot(devices, new UserSettings
            {
                MutedClasses = mutedClasses is null ? [] : [.. mutedClasses],
                MutedTopics = [.. mutedTopics],
                QuietHours = quiet,
                DoNotDisturbUntil = dnd,
            }),
            sessions,
            PlanScene.Noon);

    [Fact]
    public void Plan_EveryDevice_HasOnePlanAtMost() => Check(scene =>
    {
        var known = scene.Snapshot.Devices.Select(d => d.Id).Union(scene.Sessions.Select(s => s.Key.Device));
        var aimedAt = known.Where(d => scene.Event.To.Device is null || scene.Event.To.Device == d);
        return scene.Plan().Select(p => p.Device.Id).Order(StringComparer.Ordinal).SequenceEqual(aimedAt.Order(StringComparer.Ordinal));
    });

    // One socket at most and one push at most is the plan's shape; what is left: both belong to this very device, and differ in channel.
    [Fact]
    public void Plan_NeverTwiceOnOneChannelOfADevice() => Check(scene => scene.Plan().All(p =>
        (p.Socket is null || p.Socket.Key.Device == p.Device.Id)
        && (p.Address is null || (p.Device.Addresses.Contains(p.Address) && p.Address.Channel == p.Channel!.Name && p.Channel.Name != "websocket"))));

    [Fact]
    public void Plan_Muted_MeansMuted() => Check(scene =>
    {
        var settings = scene.Snapshot.Settings;
        var isMuted = settings.MutedClasses.Contains(scene.Event.Class.Label())
            || (scene.Event.To.Topic is { } topic && settings.MutedTopics.Contains(topic));
        return !isMuted || scene.Plan().All(IsNothing);
    });

    [Fact]
    public void Plan_Except_IsHonoured() => Check(scene => scene.Event.Except is not { } except || scene.Plan().All(p =>
        !(except.Users.Contains(PlanScene.User)
            || except.Devices.Contains(p.Device.Id)
            || scene.Sessions.Any(s => s.Key.Device == p.Device.Id && except.Sessions.Contains(s.Key.Session)))
        || IsNothing(p)));

    [Fact]
    public void Plan_Channels_AreHonoured() => Check(scene => scene.Event.Channels is not { } channels || scene.Plan().All(p =>
        ((p.Socket is null && !p.Mailbox) || channels.Contains("websocket")) && (p.Channel is null || channels.Contains(p.Channel.Name))));

    [Fact]
    public void Plan_Call_IsNeverDelayed() => Check(scene => scene.Event.Class != EventClass.Call || scene.Plan().All(p =>
    {
        var isActive = scene.Sessions.Any(s => s.Key.Device == p.Device.Id && s is { State: SessionState.Active, IsDetached: false });
        var within = scene.Event.AckWithin ?? PlanScene.Classes[EventClass.Call].AckWithin;
        return p.Push switch
        {
            PushTiming.Never => true,
            PushTiming.Now => p.PushDelay == TimeSpan.Zero,
            PushTiming.UnlessAcked => isActive && p.Socket is not null && p.PushDelay == within,
            _ => false,
        };
    }));

    [Fact]
    public void Plan_ActiveOrBackgroundSession_GetsTheFrameAtOnce() => Check(scene => scene.Plan().All(p =>
        p.Socket is not null || p.IsSuppressed || scene.Event.Channels?.Contains("websocket") == false
        || !scene.Sessions.Any(s => s.Key.Device == p.Device.Id && !s.IsDetached)));

    [Fact]
    public void Plan_DetachedSession_GetsNoFrameAndWaits() => Check(scene => scene.Plan().All(p =>
        p.Socket is not { IsDetached: true }
        && (p.IsSuppressed || scene.Event.Class == EventClass.Transient || scene.Event.Channels?.Contains("websocket") == false
            || !scene.Sessions.Any(s => s.Key.Device == p.Device.Id && s.IsDetached) || p.Mailbox)));

    [Fact]
    public void Plan_Transient_IsNeverPushedNorKept() => Check(scene =>
        scene.Event.Class != EventClass.Transient || scene.Plan().All(p => p.Push == PushTiming.Never && !p.Mailbox));

    [Fact]
    public void Plan_PushThatWaitsForAnother_HasAnotherThatCanAcknowledge() => Check(scene =>
    {
        var plans = scene.Plan();
        return plans.All(p => p.Push != PushTiming.UnlessAckedElsewhere
            || plans.Any(o => o.Device.Id != p.Device.Id && o.Socket is { State: SessionState.Active }));
    });

    [Fact]
    public void Plan_HeldPush_IsNotPlanned() => Check(scene => scene.Plan().All(p => p.PushHeld is null || (p.Quiet is null ? p.Push == PushTiming.Never : p.Push == PushTiming.AfterQuiet && p.Quiet.Left > TimeSpan.Zero)));

    [Fact]
    public void Plan_DoNotDisturb_NoPush() => Check(scene =>
        !(scene.Snapshot.Settings.DoNotDisturbUntil > scene.Now) || scene.Plan().All(p => p.Push is PushTiming.Never or PushTiming.AfterQuiet));

    [Fact]
    public void Plan_EveryReason_IsAKnownOne() => Check(scene => scene.Plan().All(p =>
        Reasons.Contains(p.Reason) && (p.PushHeld is null || Reasons.Contains(p.PushHeld))));

    [Fact]
    public void Plan_Twice_IsTheSame() => Check(scene => scene.Plan().SequenceEqual(scene.Plan()));

    [Fact]
    public void Plan_OtherOrderOfSessions_ChangesNothing() => Check(scene =>
    {
        var turned = scene with { Sessions = [.. scene.Sessions.Reverse()] };
        return scene.Plan().OrderBy(p => p.Device.Id, StringComparer.Ordinal)
            .SequenceEqual(turned.Plan().OrderBy(p => p.Device.Id, StringComparer.Ordinal), new ByContent());
    });

    [Fact]
    public void Plan_Reasons_AllOccurOrBelongElsewhere()
    {
        // Guards the generator: a property over scenes that never reach a branch says nothing.
        var seen = Scenes.Sample(4_000).SelectMany(s => s.Plan()).SelectMany(p => new[] { p.Reason, p.PushHeld }).OfType<string>().ToHashSet();
        Assert.Equal([PlanReasons.AckedElsewhere, PlanReasons.DeviceGone, PlanReasons.JoinedTopic, PlanReasons.NoDevices], Reasons.Except(seen).Order(StringComparer.Ordinal));
    }

    private static bool IsNothing(DevicePlan plan) =>
        plan is { IsSuppressed: true, Socket: null, Push: PushTiming.Never, Mailbox: false, Reason.Length: > 0 };

    private static void Check(Func<PlanScene, bool> holds) =>
        FsCheck.Check.One(Config.QuickThrowOnFailure.WithMaxTest(1_000), Prop.ForAll(Scenes.ToArbitrary(), holds));

    private static Gen<T?> Sometimes<T>(Gen<T> some)
        where T : class =>
        Gen.Frequency((2, Gen.Constant<T?>(null)), (1, some.Select(T? (s) => s)));

    // An unregistered device is made up for each plan: equal, not the same.
    private sealed class ByContent : IEqualityComparer<DevicePlan>
    {
        public bool Equals(DevicePlan x, DevicePlan y) =>
            (x.Device.Id, x.Reason, x.Socket, x.Push, x.PushDelay, x.Address, x.Mailbox, x.PushHeld)
            == (y.Device.Id, y.Reason, y.Socket, y.Push, y.PushDelay, y.Address, y.Mailbox, y.PushHeld);

        public int GetHashCode(DevicePlan plan) => plan.Device.Id.GetHashCode(StringComparison.Ordinal);
    }
}
