using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>Taking events back: by the publisher, by an answer, by having been seen.</summary>
public sealed class HubWithdrawTests
{
    [Fact]
    public async Task Withdraw_StopsWhatWaitsAndClearsWhatWasShown()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.Phone("laptop"), hub.NewDevice("tablet"));
        var (link, _) = await hub.OpenAsync("laptop");
        var id = await hub.SendAsync("\"class\":\"call\",\"ttl\":600");
        Assert.Equal(["phone"], hub.Fcm.Sent.Select(s => s.Device));
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, id));
        await hub.PassAsync(10);

        // The phone has its notification cleared where it came from, the laptop its frame; no push follows the frame.
        Assert.Equal([$"{id}:withdrawn"], link.Withdrawn);
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        Assert.Equal(
            ("accepted", "withdrawn:withdrawn", "withdrawn:withdrawn"),
            (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "laptop"), hub.Journal.EndOf(id, "tablet")));
        Assert.Equal(["websocket", "fcm"], hub.Journal.Milestones.Where(m => m.Kind == MilestoneKind.Cleared).Select(m => m.Channel).OrderDescending());
        var (late, _) = await hub.OpenAsync("phone");
        Assert.Empty(late.Ids);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_PushWasUnderWayWhenTheSessionAcknowledged_ClearsItToo()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (delivery, _) => delivery.Withdrawal is null ? new(answer.Task) : new(DeliveryResult.Of(DeliveryStatus.Accepted));
        var (_, key) = await hub.OpenAsync("phone", SessionState.Background);
        var accepted = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the push");
        hub.Hub.Router.Acked(key, accepted.Id);
        Assert.Equal("acked", hub.Journal.EndOf(accepted.Id, "phone"));
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
        Assert.Equal(MilestoneKind.PushedLate, hub.Journal.KindsOf(accepted.Id, "phone")[^1]);
        hub.Hub.Router.Closed(key);

        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, accepted.Id));
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task Withdraw_Twice_ClearsOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, id));
        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync(hub, id));
        Assert.Equal(WithdrawStatus.Unknown, await WithdrawAsync(hub, "never-sent"));
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_WhileTheDispatchIsStuck_WaitsForIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Store.Put("eve", hub.Phone("pad"));
        hub.Store.Unreadable.Add("eve");
        var id = await hub.SendAsync(to: """{"users":["ada","eve"]}""");
        var withdrawing = WithdrawAsync(hub, id);
        Assert.False(withdrawing.IsCompleted);

        // Held until the late push is out: else it may be stopped before it leaves, which is as good.
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.WithdrawalSync = held.Task;
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 2, "the late push");
        held.SetResult();
        await hub.PassUntilAsync(() => withdrawing.IsCompleted, "the withdrawal");
        await hub.RestAsync();
        Assert.Equal(["pad", "pad:cleared", "phone", "phone:cleared"], Pushes(hub).Order());
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_RegistryUnreadable_StopsAtOnceAndClearsLater()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("tablet"));
        var id = await hub.SendAsync();
        hub.Store.Unreadable.Add("ada");
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, id));
        Assert.Equal("withdrawn:withdrawn", hub.Journal.EndOf(id, "tablet"));
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 2, "the clearing push");
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
    }

    [Fact]
    public async Task Withdraw_ProviderAcceptsMeanwhile_IsClearedToo()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new ValueTask<DeliveryResult>(answer.Task);
        var accepted = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the push");
        hub.Journal.Withdrawing = () =>
        {
            hub.Journal.Withdrawing = null;
            hub.Fcm.Always(DeliveryStatus.Accepted);
            answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        };
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, accepted.Id));
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
    }

    [Fact]
    public async Task Withdraw_PushUnderWay_IsClearedAndItsAnswerChangesNothing()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (delivery, _) => delivery.Withdrawal is null ? new(answer.Task) : new(DeliveryResult.Of(DeliveryStatus.Accepted));
        var accepted = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the push");
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, accepted.Id));
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        Assert.Equal("withdrawn:withdrawn", hub.Journal.EndOf(accepted.Id, "phone"));
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task Withdraw_ProviderDown_ClearIsTriedAFewTimes()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync("\"ttl\":30");
        hub.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(hub, id);
        await hub.PassAsync(300);
        Assert.Equal(5, Pushes(hub).Count(p => p == "phone:cleared"));
        Assert.Equal("told-so", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData(DeliveryStatus.Unavailable, 5)]
    [InlineData(DeliveryStatus.Misconfigured, 30)]
    public async Task Withdraw_HeldWithoutAskingTheProvider_ClearedOnceItIsAsked(DeliveryStatus status, int seconds)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        var held = 0;
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(++held <= 6
            ? new DeliveryResult { Status = status, Reason = "held", RetryAfter = TimeSpan.FromSeconds(seconds), IsHeld = true }
            : DeliveryResult.Of(DeliveryStatus.Accepted));
        await WithdrawAsync(hub, id);
        await hub.PassAsync(400);
        Assert.Equal(7, Pushes(hub).Count(p => p == "phone:cleared"));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_NoWayToTheProviderForNow_ClearedOnceItIsAsked()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        var tried = 0;
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(++tried <= 6
            ? new DeliveryResult { Status = DeliveryStatus.Unavailable, Reason = "connect-failed", IsUnasked = true }
            : DeliveryResult.Of(DeliveryStatus.Accepted));
        await WithdrawAsync(hub, id);
        await hub.PassAsync(400);
        Assert.Equal(7, Pushes(hub).Count(p => p == "phone:cleared"));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_RegistryUnreadableForAMinute_ClearedAfterIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        hub.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(hub, id);
        await hub.RestAsync();
        hub.Store.Unreadable.Add("ada");
        await hub.PassAsync(60);
        Assert.InRange(hub.Store.FailedReads, 5, 60);
        hub.Store.Unreadable.Clear();
        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.PassAsync(30);
        Assert.Equal(["phone", "phone:cleared", "phone:cleared"], Pushes(hub));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_AfterTheEndAndRegistryUnreadable_ClearedLater()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(60);
        hub.Store.Unreadable.Add("ada");
        await WithdrawAsync(hub, id);
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Pushed.Count == 2, "the clearing push");
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_RegistryUnreadableForAnHour_GivenUpAndSaysSo()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        var withdrawn = hub.Now;
        hub.Store.Unreadable.Add("ada");
        await WithdrawAsync(hub, id);
        await hub.PassAsync(TimeSpan.FromMinutes(59), TimeSpan.FromSeconds(30));
        Assert.DoesNotContain(hub.Journal.Milestones, m => m.Kind == MilestoneKind.Cleared);
        await hub.PassUntilAsync(() => hub.Journal.Milestones.Any(m => m.Kind == MilestoneKind.Cleared), "the end of the hour");
        var cleared = hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared);
        Assert.Equal(("phone", "fcm", "store-unavailable"), (cleared.Device, cleared.Channel, cleared.Reason));
        Assert.InRange(cleared.At - withdrawn, TimeSpan.FromHours(1), TimeSpan.FromMinutes(61));
        Assert.Equal(["phone"], Pushes(hub));
    }

    [Fact]
    public async Task Withdraw_HeldForLong_GivenUpAnHourAfterTheWithdrawal()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        var withdrawn = hub.Now;
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(
            new DeliveryResult { Status = DeliveryStatus.Misconfigured, Reason = "held", RetryAfter = TimeSpan.FromSeconds(30), IsHeld = true });
        await WithdrawAsync(hub, id);
        var step = TimeSpan.FromSeconds(5);
        await hub.PassAsync(TimeSpan.FromHours(2), step);
        Assert.Equal("held", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);

        // What is due within a step happens at its end.
        Assert.InRange(hub.Fcm.Sent[^1].At - withdrawn, TimeSpan.FromMinutes(59), TimeSpan.FromMinutes(60) + step);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_ProviderSaysTomorrow_LeavesNoTimer()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        hub.Fcm.Always(DeliveryStatus.Throttled, TimeSpan.FromDays(1));
        await WithdrawAsync(hub, id);
        await hub.RestAsync();
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Answered_EndsElsewhereOnlyAndOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        hub.Store.Put("eve", hub.NewDevice("pad"));
        var (laptop, key) = await hub.OpenAsync("laptop");
        var (tab, _) = await hub.OpenAsync("tab");
        var (pad, _) = await hub.OpenAsync("pad", user: "eve");
        var id = await hub.SendAsync("\"class\":\"call\"", """{"users":["ada","eve"]}""");
        hub.Hub.Router.Answered(key, id, "answered", "accept");
        hub.Hub.Router.Answered(key, id, "answered", "accept");
        await hub.RestAsync();
        Assert.Equal(
            ("acked", "accepted", "withdrawn:answered", null),
            (hub.Journal.EndOf(id, "laptop"), hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tab"), hub.Journal.EndOf(id, "pad")));
        Assert.Equal([$"{id}:answered"], tab.Withdrawn);
        Assert.Empty(laptop.Withdrawn);
        Assert.Empty(pad.Withdrawn);
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        var noted = hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Withdrawn);
        Assert.Equal(("ada", "answered: accept"), (noted.User, noted.Reason));

        // For everybody afterwards: who had it taken back is left alone.
        Assert.Equal(WithdrawStatus.Withdrawn, await WithdrawAsync(hub, id));
        await hub.RestAsync();
        Assert.Equal([$"{id}:withdrawn"], pad.Withdrawn);
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Answered_ByAStranger_ChangesNothing()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var (_, stranger) = await hub.OpenAsync("pad", user: "eve");
        var id = await hub.SendAsync();
        hub.Hub.Router.Answered(stranger, id, "seen", null);
        hub.Hub.Router.Answered(stranger, "never-sent", "seen", null);
        await hub.RestAsync();
        Assert.Null(hub.Journal.EndOf(id, "tablet"));
        Assert.DoesNotContain(hub.Journal.Milestones, m => m.Kind == MilestoneKind.Withdrawn);
    }

    [Fact]
    public async Task Seen_AfterTheAck_StillClearsElsewhere()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        var (_, key) = await hub.OpenAsync("laptop", SessionState.Background);
        var id = await hub.SendAsync();
        await hub.AckAsync(key, id);
        hub.Hub.Router.Answered(key, id, "seen", null);
        await hub.RestAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_DetachedSession_IsTakenOutThereToo()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        var shown = await hub.SendAsync();
        hub.Hub.Router.Detached(key);
        var waiting = await hub.SendAsync();
        await WithdrawAsync(hub, shown);
        await WithdrawAsync(hub, waiting);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.RestAsync();
        Assert.Equal([shown], link.Ids);
        Assert.Equal([$"{shown}:withdrawn"], link.Withdrawn);
        hub.AssertAllEnded(shown, waiting);
    }

    private static Task<WithdrawStatus> WithdrawAsync(HubUnderTest hub, string id) =>
        hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None).AsTask();

    private static List<string> Pushes(HubUnderTest hub) => [.. hub.Fcm.Sent.Select(s => s.IsClear ? $"{s.Device}:cleared" : s.Device)];
}
