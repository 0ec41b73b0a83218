using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>What was taken back stays to be cleared until that is noted, also over the end of a run.</summary>
public sealed class HubWithdrawCrashTests
{
    [Fact]
    public async Task Withdraw_CrashBeforeTheClear_IsClearedByTheNextRunOnce()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        var id = await old.SendAsync();
        old.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(old, id);
        await old.RestAsync();
        Assert.DoesNotContain(old.Journal.Milestones, m => m.Kind == MilestoneKind.Cleared);
        Assert.Empty(old.Journal.Finished); // or nobody would look at it again

        old.Fcm.Answer = static (delivery, _) => new(DeliveryResult.Of(delivery.Withdrawal is { Reason: "withdrawn" } ? DeliveryStatus.Accepted : DeliveryStatus.Rejected));
        await using var hub = await old.CrashAsync();
        Assert.Equal(["phone", "phone:cleared", "phone:cleared"], Pushes(hub));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_CrashAndTheProviderIsStillDown_ClearIsTriedAFewTimes()
    {
        var (old, id) = await TakenBackAsync();
        var asked = 0;
        old.Fcm.Answer = (_, _) => new(DeliveryResult.Of(++asked <= 2 ? DeliveryStatus.Unavailable : DeliveryStatus.Accepted));
        await using var hub = await old.CrashAsync();
        await hub.PassAsync(60);
        Assert.Equal(["phone", "phone:cleared", "phone:cleared", "phone:cleared", "phone:cleared"], Pushes(hub)); // the first by the previous process
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_CrashAndHeldWithoutAskingTheProvider_ClearedOnceItIsAsked()
    {
        var (old, id) = await TakenBackAsync();
        var tried = 0;
        old.Fcm.Answer = (_, _) => new(++tried <= 6 ? Held : DeliveryResult.Of(DeliveryStatus.Accepted));
        await using var hub = await old.CrashAsync();
        await hub.PassAsync(400);
        Assert.Equal(1 + 7, Pushes(hub).Count(p => p == "phone:cleared"));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_CrashAndHeldForLong_GivenUpAnHourAfterTheWithdrawal()
    {
        var (old, id) = await TakenBackAsync();
        var withdrawn = old.Now;
        old.Fcm.Answer = static (_, _) => new(Held);
        old.Clock.Advance(TimeSpan.FromMinutes(40));
        await using var hub = await old.CrashAsync();
        var step = TimeSpan.FromSeconds(5);
        await hub.PassAsync(TimeSpan.FromHours(1), step);
        Assert.Equal("held", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);

        // What is due within a step happens at its end.
        Assert.InRange(hub.Fcm.Sent[^1].At - withdrawn, TimeSpan.FromMinutes(59), TimeSpan.FromMinutes(60) + step);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_CrashAndAnHour_ClearsNothing()
    {
        var (old, id) = await TakenBackAsync();
        old.Clock.Advance(TimeSpan.FromHours(1));
        await using var hub = await old.CrashAsync();
        Assert.Equal(["phone", "phone:cleared"], Pushes(hub));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Withdraw_AddressGoneBeforeTheClear_IsNotedAndEnds()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var id = await hub.SendAsync();
        hub.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(hub, id);
        await hub.RestAsync();
        hub.Store.Put("ada", hub.NewDevice("phone"));
        await hub.PassAsync(5);
        Assert.Equal("address-gone", hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Answered_CrashBeforeTheClear_IsClearedWhereNobodyAcknowledged()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"), old.Phone("pad"));
        old.Store.Put("eve", old.NewDevice("tablet")); // keeps the event open
        var (_, key) = await old.OpenAsync("phone", SessionState.Background);
        var id = await old.SendAsync("\"class\":\"call\",\"ttl\":600", """{"users":["ada","eve"]}""");
        old.Fcm.Always(DeliveryStatus.Unavailable);
        old.Hub.Router.Answered(key, id, "answered", "accept");
        await old.RestAsync();
        Assert.Equal(["pad", "pad:cleared", "phone"], Pushes(old).Order());

        old.Fcm.Answer = static (delivery, _) => new(DeliveryResult.Of(delivery.Withdrawal is { Reason: "answered" } ? DeliveryStatus.Accepted : DeliveryStatus.Rejected));
        var cleared = await old.CrashAsync();
        Assert.Equal(["pad", "pad:cleared", "pad:cleared", "phone"], Pushes(cleared).Order());
        Assert.Null(cleared.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Cleared).Reason);

        // And never again.
        await using var hub = await cleared.CrashAsync();
        Assert.Equal(4, Pushes(hub).Count);
    }

    private static DeliveryResult Held =>
        new() { Status = DeliveryStatus.Misconfigured, Reason = "held", RetryAfter = TimeSpan.FromSeconds(30), IsHeld = true };

    // A run that took an event back while the provider is down: it waits for its second attempt to clear it.
    private static async Task<(HubUnderTest Old, string Event)> TakenBackAsync()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        var id = await old.SendAsync();
        old.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(old, id);
        await old.RestAsync();
        return (old, id);
    }

    private static Task<WithdrawStatus> WithdrawAsync(HubUnderTest hub, string id) =>
        hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None).AsTask();

    private static List<string> Pushes(HubUnderTest hub) => [.. hub.Fcm.Sent.Select(s => s.IsClear ? $"{s.Device}:cleared" : s.Device)];
}
