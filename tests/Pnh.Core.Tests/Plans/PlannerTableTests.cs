using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Plans;

/// <summary>The decision table of the folder's README, a row per cell.</summary>
public sealed class PlannerTableTests
{
    // device: a = active session, b = background session, - = none, each with + = push address or not; e = another device is active.
    [Theory]
    [InlineData("a+", EventClass.Call, "socket push:UnlessAcked:0.5 mailbox active-session")]
    [InlineData("a+", EventClass.Message, "socket push:UnlessAcked:3 mailbox active-session")]
    [InlineData("a+", EventClass.Bulk, "socket push:UnlessAcked:30 mailbox active-session")]
    [InlineData("a+", EventClass.Transient, "socket active-session")]
    [InlineData("a", EventClass.Call, "socket mailbox active-session")]
    [InlineData("a", EventClass.Message, "socket mailbox active-session")]
    [InlineData("b+", EventClass.Call, "socket push:Now:0 mailbox background-session")]
    [InlineData("b+", EventClass.Message, "socket push:Now:0 mailbox background-session")]
    [InlineData("b+", EventClass.Bulk, "socket push:Now:0 mailbox background-session")]
    [InlineData("b+", EventClass.Transient, "socket background-session")]
    [InlineData("b", EventClass.Message, "socket mailbox background-session")]
    [InlineData("-+", EventClass.Call, "push:Now:0 mailbox no-session")]
    [InlineData("-+", EventClass.Message, "push:Now:0 mailbox no-session")]
    [InlineData("-+", EventClass.Bulk, "push:Now:0 mailbox no-session")]
    [InlineData("-+", EventClass.Transient, "transient-no-session")]
    [InlineData("-+e", EventClass.Call, "push:Now:0 mailbox no-session")]
    [InlineData("-+e", EventClass.Message, "push:UnlessAckedElsewhere:2 mailbox active-elsewhere")]
    [InlineData("-+e", EventClass.Bulk, "push:Now:0 mailbox no-session")]
    [InlineData("b+e", EventClass.Message, "socket push:Now:0 mailbox background-session")]
    [InlineData("-", EventClass.Call, "mailbox no-address")]
    [InlineData("-", EventClass.Message, "mailbox no-address")]
    [InlineData("-", EventClass.Bulk, "mailbox no-address")]
    [InlineData("-", EventClass.Transient, "transient-no-session")]
    public void Plan_Cell_IsAsInTheTable(string device, EventClass @class, string expected) =>
        Assert.Equal(expected, Describe(Scene(device, PlanScene.NewEvent(@class)).Plan()[0]));

    [Theory]
    [InlineData("a+", EventClass.Message, "quiet", "socket push:AfterQuiet:1800 mailbox active-session held:quiet-hours")]
    [InlineData("b+", EventClass.Bulk, "quiet", "socket push:AfterQuiet:1800 mailbox background-session held:quiet-hours")]
    [InlineData("-+", EventClass.Message, "quiet", "push:AfterQuiet:1800 mailbox quiet-hours held:quiet-hours")]
    [InlineData("-+e", EventClass.Message, "quiet", "push:AfterQuiet:1800 mailbox quiet-hours held:quiet-hours")]
    [InlineData("-+", EventClass.Message, "quiet-drop", "mailbox quiet-hours held:quiet-hours")]
    [InlineData("a+", EventClass.Message, "quiet-drop", "socket mailbox active-session held:quiet-hours")]
    [InlineData("-+", EventClass.Message, "dnd-drop", "mailbox do-not-disturb held:do-not-disturb")]
    [InlineData("-+", EventClass.Message, "quiet-until-its-end", "mailbox quiet-hours held:quiet-hours")]
    [InlineData("-", EventClass.Message, "quiet", "mailbox no-address")]
    [InlineData("-+", EventClass.Call, "quiet", "push:Now:0 mailbox no-session")]
    [InlineData("a+", EventClass.Call, "quiet", "socket push:UnlessAcked:0.5 mailbox active-session")]
    [InlineData("a+", EventClass.Call, "dnd", "socket push:AfterQuiet:60 mailbox active-session held:do-not-disturb")]
    [InlineData("-+", EventClass.Call, "dnd", "push:AfterQuiet:60 mailbox do-not-disturb held:do-not-disturb")]
    [InlineData("-+", EventClass.Message, "dnd", "push:AfterQuiet:60 mailbox do-not-disturb held:do-not-disturb")]
    [InlineData("-+", EventClass.Message, "dnd-over", "push:Now:0 mailbox no-session")]
    [InlineData("a", EventClass.Transient, "dnd", "socket active-session")]
    [InlineData("a+", EventClass.Message, "muted-class", "muted-class")]
    [InlineData("a+", EventClass.Transient, "muted-class", "muted-class")]
    [InlineData("-", EventClass.Call, "muted-class", "muted-class")]
    public void Plan_Settings_HoldBack(string device, EventClass @class, string setting, string expected)
    {
        var settings = setting switch
        {
            "quiet" => new UserSettings { QuietHours = new(new TimeOnly(11, 0), new TimeOnly(12, 30), "UTC") },
            "quiet-until-its-end" => new UserSettings { QuietHours = new(new TimeOnly(11, 0), new TimeOnly(13, 0), "UTC") },
            "quiet-drop" => new UserSettings { Mode = QuietMode.Drop, QuietHours = new(new TimeOnly(11, 0), new TimeOnly(12, 30), "UTC") },
            "dnd-drop" => new UserSettings { Mode = QuietMode.Drop, DoNotDisturbUntil = PlanScene.Noon.AddMinutes(1) },
            "dnd" => new UserSettings { DoNotDisturbUntil = PlanScene.Noon.AddMinutes(1) },
            "dnd-over" => new UserSettings { DoNotDisturbUntil = PlanScene.Noon },
            _ => new UserSettings { MutedClasses = [@class.Label()] },
        };
        Assert.Equal(expected, Describe(Scene(device, PlanScene.NewEvent(@class), settings).Plan()[0]));
    }

    [Fact]
    public void Plan_MutedTopic_OnlyThatTopic()
    {
        var settings = new UserSettings { MutedTopics = ["news"] };
        Assert.Equal("muted-topic", Describe(Scene("a+", PlanScene.NewEvent(EventClass.Call, EventTarget.ToTopic("news")), settings).Plan()[0]));
        Assert.False(Scene("a+", PlanScene.NewEvent(EventClass.Call, EventTarget.ToTopic("other")), settings).Plan()[0].IsSuppressed);
        Assert.False(Scene("a+", PlanScene.NewEvent(EventClass.Call, EventTarget.ToUser("news")), settings).Plan()[0].IsSuppressed);
    }

    [Theory]
    [InlineData("ada", "", "", "except-user")]
    [InlineData("", "d1", "", "except-device")]
    [InlineData("", "", "s-d1", "except-session")]
    [InlineData("eve", "d9", "s-d9", null)]
    public void Plan_Except_LeavesOut(string user, string device, string session, string? reason)
    {
        var accepted = PlanScene.NewEvent(EventClass.Call, except: new([user], [device], [session]));
        var plan = Scene("a+", accepted).Plan()[0];
        Assert.Equal(reason is not null, plan.IsSuppressed);
        Assert.Equal(reason ?? "active-session", plan.Reason);
    }

    [Theory]
    [InlineData("a+", "websocket", "socket mailbox active-session held:channel-not-allowed")]
    [InlineData("a+", "fcm", "push:Now:0 no-session")]
    [InlineData("a+", "apns", "channel-not-allowed held:channel-not-allowed")]
    [InlineData("a", "fcm", "channel-not-allowed")]
    [InlineData("-+", "websocket", "mailbox channel-not-allowed held:channel-not-allowed")]
    [InlineData("-", "websocket", "mailbox no-address")]
    [InlineData("-", "fcm", "channel-not-allowed")]
    public void Plan_Channels_Filter(string device, string channel, string expected) =>
        Assert.Equal(expected, Describe(Scene(device, PlanScene.NewEvent(EventClass.Message, channels: [channel])).Plan()[0]));

    [Fact]
    public void Plan_TransientWithoutWebsocket_IsNotAllowed() =>
        Assert.Equal("channel-not-allowed", Describe(Scene("a+", PlanScene.NewEvent(EventClass.Transient, channels: ["fcm"])).Plan()[0]));

    [Fact]
    public void Plan_NoProvider_IsSaid()
    {
        var device = PlanScene.NewDevice("d1", "fcm/orphan");
        var scene = new PlanScene(PlanScene.NewEvent(EventClass.Message), new([device], UserSettings.Default), [], PlanScene.Noon);
        Assert.Equal("mailbox no-provider held:no-provider", Describe(scene.Plan()[0]));
        var only = scene with { Event = PlanScene.NewEvent(EventClass.Message, channels: ["fcm"]) };
        Assert.Equal("no-provider held:no-provider", Describe(only.Plan()[0]));
        var open = scene with { Sessions = [PlanScene.NewSession("d1", SessionState.Active)] };
        Assert.Equal("socket mailbox active-session held:no-provider", Describe(open.Plan()[0]));
    }

    [Fact]
    public void Plan_TwoAddresses_TakesTheFirstWithAProvider()
    {
        var device = PlanScene.NewDevice("d1", "fcm", "apns/orphan");
        var scene = new PlanScene(PlanScene.NewEvent(EventClass.Call), new([device], UserSettings.Default), [], PlanScene.Noon);
        var plan = Assert.Single(scene.Plan());
        Assert.Equal(("fcm", "d1-fcm", "demo"), (plan.Channel!.Name, plan.Address!.Value, plan.Account));
    }

    [Theory]
    [InlineData(SessionState.Active, EventClass.Message, "socket active-session")]
    [InlineData(SessionState.Background, EventClass.Call, "socket background-session")]
    [InlineData(SessionState.Active, EventClass.Transient, "socket active-session")]
    public void Plan_UnregisteredDevice_SocketOnly(SessionState state, EventClass @class, string expected)
    {
        var scene = new PlanScene(PlanScene.NewEvent(@class), UserSnapshot.Empty, [PlanScene.NewSession("tab", state)], PlanScene.Noon);
        var plan = Assert.Single(scene.Plan());
        Assert.Equal(expected, Describe(plan));
        Assert.Equal(("tab", Platform.Web, false), (plan.Device.Id, plan.Device.Platform, plan.IsRegistered));
    }

    [Fact]
    public void Plan_ToOneDevice_OnlyThatOne()
    {
        var sessions = new[] { PlanScene.NewSession("tab", SessionState.Active) };
        var snapshot = new UserSnapshot([PlanScene.NewDevice("d1", "fcm"), PlanScene.NewDevice("d2", "fcm")], UserSettings.Default);
        var scene = new PlanScene(
            PlanScene.NewEvent(EventClass.Message, EventTarget.ToDevice(PlanScene.User, "d2")), snapshot, sessions, PlanScene.Noon);

        // The tab is active but gets nothing, so nobody could acknowledge in the push's stead: no waiting.
        Assert.Equal("d2 push:Now:0 mailbox no-session", $"{scene.Plan()[0].Device.Id} {Describe(Assert.Single(scene.Plan()))}");
        var tab = scene with { Event = PlanScene.NewEvent(EventClass.Message, EventTarget.ToDevice(PlanScene.User, "tab")) };
        Assert.Equal("tab", Assert.Single(tab.Plan()).Device.Id);
        var none = scene with { Event = PlanScene.NewEvent(EventClass.Message, EventTarget.ToDevice(PlanScene.User, "gone")) };
        Assert.Empty(none.Plan());
    }

    [Fact]
    public void Plan_OnlyTheSendersTabIsActive_DelaysNoPush()
    {
        var accepted = PlanScene.NewEvent(EventClass.Message, except: new([], [], ["s-other"]));
        Assert.Equal("push:Now:0 mailbox no-session", Describe(Scene("-+e", accepted).Plan()[0]));
    }

    [Fact]
    public void Plan_NobodyThere_IsEmpty() =>
        Assert.Empty(new PlanScene(PlanScene.NewEvent(EventClass.Call), UserSnapshot.Empty, [], PlanScene.Noon).Plan());

    [Fact]
    public void Plan_OwnAckDeadline_Replaces()
    {
        var accepted = PlanScene.NewEvent(EventClass.Call, ack: TimeSpan.FromSeconds(7));
        Assert.Equal(TimeSpan.FromSeconds(7), Scene("a+", accepted).Plan()[0].PushDelay);
    }

    private static PlanScene Scene(string shape, Event accepted, UserSettings? settings = null)
    {
        var device = shape.Contains('+') ? PlanScene.NewDevice("d1", "fcm") : PlanScene.NewDevice("d1");
        List<LiveSession> sessions = [];
        if (shape[0] != '-')
        {
            sessions.Add(PlanScene.NewSession("d1", shape[0] == 'a' ? SessionState.Active : SessionState.Background));
        }

        if (shape.Contains('e'))
        {
            sessions.Add(PlanScene.NewSession("other", SessionState.Active));
        }

        return new PlanScene(accepted, new([device], settings ?? UserSettings.Default), sessions, PlanScene.Noon);
    }

    private static string Describe(DevicePlan plan)
    {
        Assert.Equal(plan.Push == PushTiming.Never, plan.Channel is null && plan.Address is null && plan.Account is null);
        List<string> words = [];
        words.AddRange(plan.Socket is null ? [] : ["socket"]);
        words.AddRange(plan.Push == PushTiming.Never ? [] : [FormattableString.Invariant($"push:{plan.Push}:{(plan.Quiet?.Left ?? plan.PushDelay).TotalSeconds}")]);
        words.AddRange(plan.Mailbox ? ["mailbox"] : []);
        Assert.Equal(words.Count == 0, plan.IsSuppressed);
        words.Add(plan.Reason);
        words.AddRange(plan.PushHeld is null ? [] : [$"held:{plan.PushHeld}"]);
        return string.Join(' ', words);
    }
}
