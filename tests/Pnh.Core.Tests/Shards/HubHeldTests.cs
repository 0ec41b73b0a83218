using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>Pushes that quiet hours hold: once, when the hours end, if they are still wanted then.</summary>
public sealed class HubHeldTests
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    // The clock begins at midnight.
    private static readonly UserSettings Night = new() { QuietHours = new QuietHours(new TimeOnly(22, 0), new TimeOnly(7, 0), "UTC") };

    [Fact]
    public async Task Push_InQuietHours_GoesOnceWhenTheyEnd()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync();
        var held = hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Held);
        Assert.Equal(("quiet-hours", "fcm", hub.Now + (7 * Hour)), (held.Reason, held.Channel, held.NextAttemptAt!.Value));
        Assert.Equal((1L, 0L), (hub.Metrics.Ledger.Of("demo").ReadHeldBack(EventClass.Message), hub.Metrics.Ledger.Of("demo").Read(EventClass.Message).InFlight));
        hub.AssertLedger();

        await hub.PassAsync((7 * Hour) - TimeSpan.FromSeconds(1), Hour);
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(1.1);
        Assert.Equal([id], hub.Pushed);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(0, hub.Metrics.Ledger.Of("demo").ReadHeldBack(EventClass.Message));
        await hub.AssertAllEndAsync(id);
        Assert.Single(hub.Pushed);
    }

    [Fact]
    public async Task Push_UnderDoNotDisturb_WaitsForThatMoment()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", new UserSettings { DoNotDisturbUntil = hub.Now + (Hour / 2) }, hub.Phone("phone"));
        var id = await hub.SendAsync();
        await hub.PassAsync(TimeSpan.FromMinutes(29), TimeSpan.FromMinutes(1));
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(61);
        Assert.Equal([id], hub.Pushed);
    }

    [Theory]
    [InlineData("\"ttl\":3600")]
    [InlineData("\"ttl\":0")]
    public async Task Push_ThatCannotWait_IsSuppressedAtOnce(string members)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync(members);
        Assert.Equal("suppressed:quiet-hours", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
        Assert.Empty(hub.Pushed);
    }

    [Fact]
    public async Task Push_ModeDrop_IsSuppressedAtOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night with { Mode = QuietMode.Drop }, hub.Phone("phone"));
        var id = await hub.SendAsync();
        Assert.Equal("suppressed:quiet-hours", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
        Assert.Empty(hub.Pushed);
    }

    [Fact]
    public async Task Held_Acknowledged_IsNotPushed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var bySocket = await hub.SendAsync();
        var byInbox = await hub.SendAsync();
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([bySocket, byInbox], link.Ids);
        await hub.AckAsync(key, bySocket);
        Assert.Equal(1, await hub.Hub.Inbox.AckAsync(new UserKey("demo", "ada"), "phone", [byInbox], CancellationToken.None));
        Assert.Equal(("acked", "acked"), (hub.Journal.EndOf(bySocket, "phone"), hub.Journal.EndOf(byInbox, "phone")));
        await hub.AssertAllEndAsync(bySocket, byInbox);
        Assert.Empty(hub.Pushed);
    }

    [Theory]
    [InlineData(SessionState.Active, "suppressed:acked-elsewhere", 0)]
    [InlineData(SessionState.Background, "accepted", 1)]
    public async Task Held_AcknowledgedOnAnotherDevice_OnlyInFrontEndsIt(SessionState state, string end, int pushes)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"), hub.NewDevice("laptop"));
        var (_, key) = await hub.OpenAsync("laptop", state);
        var id = await hub.SendAsync();
        await hub.AckAsync(key, id);
        await hub.PassAsync(8 * Hour, Hour);
        Assert.Equal((end, pushes), (hub.Journal.EndOf(id, "phone"), hub.Pushed.Count));
        hub.AssertLedger();
    }

    [Fact]
    public async Task Held_TakenBackOrReplaced_IsNotPushed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var withdrawn = await hub.SendAsync();
        var older = await hub.SendAsync("\"collapseKey\":\"score\"");
        var newer = await hub.SendAsync("\"collapseKey\":\"score\"");
        await hub.Hub.WithdrawAsync("demo", withdrawn, "withdrawn", null, CancellationToken.None);
        Assert.Equal(("withdrawn:withdrawn", "suppressed:collapsed"), (hub.Journal.EndOf(withdrawn, "phone"), hub.Journal.EndOf(older, "phone")));
        await hub.PassAsync(8 * Hour, Hour);
        Assert.Equal([newer], hub.Pushed);
        await hub.AssertAllEndAsync(withdrawn, older, newer);
    }

    [Fact]
    public async Task Settings_Changed_CountFromThenOn()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync();

        // Another zone: 7:00 in Kolkata is 1:30 in UTC.
        hub.Store.Put("ada", Night with { QuietHours = Night.QuietHours! with { TimeZone = "Asia/Kolkata" } }, hub.Phone("phone"));
        await hub.RestAsync();
        Assert.Equal([7, 1.5], hub.Journal.Milestones.Where(m => m.Kind == MilestoneKind.Held).Select(m => (m.NextAttemptAt!.Value - hub.Clock.Start).TotalHours));
        await hub.PassAsync(Hour, Hour);
        Assert.Empty(hub.Pushed);

        // What says the same is not told again, and none is left: at once.
        hub.Store.Put("ada", Night with { QuietHours = Night.QuietHours! with { TimeZone = "Asia/Kolkata" }, MutedTopics = ["x"] }, hub.Phone("phone"));
        await hub.RestAsync();
        Assert.Equal(2, hub.Journal.Milestones.Count(m => m.Kind == MilestoneKind.Held));
        hub.Store.Put("ada", UserSettings.Default, hub.Phone("phone"));
        await hub.RestAsync();
        Assert.Equal([id], hub.Pushed);
        await hub.AssertAllEndAsync(id);
        Assert.Single(hub.Pushed);
    }

    [Fact]
    public async Task Settings_Changed_HoldsForLongerThanItLives_IsSuppressed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync("\"ttl\":28800");
        hub.Store.Put("ada", new UserSettings { DoNotDisturbUntil = hub.Now.AddDays(2) }, hub.Phone("phone"));
        await hub.RestAsync();
        Assert.Equal("suppressed:do-not-disturb", hub.Journal.EndOf(id, "phone"));
        var muted = await hub.SendAsync("\"ttl\":259200");
        hub.Store.Put("ada", new UserSettings { MutedClasses = ["message"] }, hub.Phone("phone"));
        await hub.RestAsync();
        Assert.Equal("suppressed:muted-class", hub.Journal.EndOf(muted, "phone"));
        Assert.Empty(hub.Pushed);
        hub.AssertLedger();
    }

    [Theory]
    [InlineData(false, "failed:device-gone")]
    [InlineData(true, null)]
    public async Task Device_ChangedMeanwhile_IsServedAsItIsThen(bool isLeft, string? end)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"), hub.Phone("tablet"));
        var id = await hub.SendAsync();
        hub.Store.Put("ada", Night, isLeft ? [hub.NewDevice("phone"), hub.Phone("tablet")] : new[] { hub.Phone("tablet") });
        await hub.PassAsync(8 * Hour, Hour);
        Assert.Equal((end, "accepted"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));
        Assert.Single(hub.Pushed);
        hub.AssertLedger();
    }

    [Theory]
    [InlineData(1, 0)] // the night goes on
    [InlineData(8, 1)] // it ended while the hub was away
    public async Task Restart_HoldsOn_OrPushesOnce(int hoursAway, int pushed)
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", Night, old.Phone("phone"));
        var id = await old.SendAsync();
        old.Clock.Advance(hoursAway * Hour);
        await using var hub = await old.CrashAsync();
        Assert.Equal(pushed, hub.Pushed.Count);
        Assert.Equal(1, hub.Journal.Milestones.Count(m => m.Kind == MilestoneKind.Held));
        hub.AssertLedger();
        await hub.PassAsync(8 * Hour, Hour);
        await using var last = await hub.CrashAsync();
        Assert.Equal([id], last.Pushed);
        await last.AssertAllEndAsync(id);
        Assert.Equal([id], last.Pushed);
    }

    [Fact]
    public async Task Clock_Set_HoursEndByTheMachines()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync();

        // The timer is where it was; the wall is not.
        hub.Clock.Advance(8 * Hour);
        hub.Hub.ClockSet();
        await hub.RestAsync();
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task Journal_Unreadable_WaitsForIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync();
        hub.Store.IsCold = true;
        hub.Store.Unreadable.Add("ada");
        hub.Clock.Advance((7 * Hour) + TimeSpan.FromSeconds(1));
        hub.Hub.Advance();
        await TestKit.Waiting.UntilAsync(() => hub.Store.FailedReads > 0, "a read that fails");
        Assert.Empty(hub.Pushed);
        hub.Store.Unreadable.Clear();
        await TestKit.Waiting.UntilAsync(
            () =>
            {
                hub.Clock.Advance(TimeSpan.FromSeconds(1));
                return hub.Pushed.Count > 0;
            },
            "the push");
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task Settings_ChangedWhileItIsPlannedAnew_CountToo()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", Night, hub.Phone("phone"));
        var id = await hub.SendAsync();
        hub.Store.WasRead = () =>
        {
            hub.Store.WasRead = null;
            hub.Store.Put("ada", UserSettings.Default, hub.Phone("phone"));
        };
        hub.Hub.ClockSet();
        await hub.RestAsync();
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task Due_LaneFullUntilItsEnd_IsADeadlineMissed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", new UserSettings { DoNotDisturbUntil = hub.Now.AddSeconds(10) }, hub.Phone("phone"));
        var id = await hub.SendAsync("\"ttl\":20");
        using var gate = new SemaphoreSlim(0);
        hub.Fcm.Answer = async (_, token) =>
        {
            await gate.WaitAsync(token);
            return DeliveryResult.Of(DeliveryStatus.Accepted);
        };
        hub.Store.Put("eve", hub.Phone("eves"));
        for (var i = 0; i < HeldPushes.MostWaiting + 10; i++)
        {
            Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent(to: """{"user":"eve"}"""))).Status);
        }

        for (var second = 0; second < 21; second++)
        {
            hub.Clock.Advance(TimeSpan.FromSeconds(1));
            hub.Hub.Advance();
        }

        Assert.Equal("expired", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(0, hub.Metrics.Ledger.Of("demo").ReadHeldBack(EventClass.Message));
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed);
        gate.Release(1_000);
    }

    [Fact]
    public async Task DueTogether_GoAsTheLaneEmpties_ANewerOneDoesNotWaitForThem()
    {
        const int Held = 2_000;
        await using var hub = new HubUnderTest();
        for (var i = 0; i < Held; i++)
        {
            hub.Store.Put($"u{i}", Night, hub.Phone($"phone-{i}"));
            await hub.SendAsync(to: $$"""{"user":"u{{i}}"}""");
        }

        Assert.Equal(Held, hub.Metrics.Ledger.Of("demo").ReadHeldBack(EventClass.Message));
        using var gate = new SemaphoreSlim(0);
        hub.Fcm.Answer = async (_, token) =>
        {
            await gate.WaitAsync(token);
            return DeliveryResult.Of(DeliveryStatus.Accepted);
        };
        hub.Clock.Advance((7 * Hour) + TimeSpan.FromSeconds(1));
        hub.Hub.Advance();
        await TestKit.Waiting.UntilAsync(() => Released() > HeldPushes.MostWaiting, "the lane to fill");
        hub.Store.Put("eve", hub.Phone("eves"));
        var accepted = hub.NewEvent(to: """{"user":"eve"}""");
        Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(accepted)).Status);
        Assert.InRange(Released(), HeldPushes.MostWaiting, HeldPushes.MostWaiting + 8);

        // Each answer lets the next in; the newer one is among the first.
        gate.Release(Held + 1);
        await TestKit.Waiting.UntilAsync(
            () =>
            {
                hub.Clock.Advance(TimeSpan.FromMilliseconds(20));
                return hub.Pushed.Count > Held;
            },
            "all of them");
        Assert.InRange(hub.Pushed.ToList().IndexOf(accepted.Id), 0, 200);
        Assert.Equal(Held + 1, hub.Pushed.Distinct().Count());
        await hub.RestAsync();
        hub.AssertLedger();

        long Released() => Held - hub.Metrics.Ledger.Of("demo").ReadHeldBack(EventClass.Message);
    }
}
