using Pnh.Core.Deliveries;
using Pnh.Core.Journal;
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
    public async Task Withdraw_CrashAndAnHour_ClearsNothing()
    {
        var old = new HubUnderTest();
        old.Store.Put("ada", old.Phone("phone"));
        var id = await old.SendAsync();
        old.Fcm.Always(DeliveryStatus.Unavailable);
        await WithdrawAsync(old, id);
        await old.RestAsync();
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
        old.Hub.Answered(key, id, "answered", "accept");
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

    private static Task<WithdrawStatus> WithdrawAsync(HubUnderTest hub, string id) =>
        hub.Hub.WithdrawAsync("demo", id, "withdrawn", CancellationToken.None).AsTask();

    private static List<string> Pushes(HubUnderTest hub) => [.. hub.Fcm.Sent.Select(s => s.IsClear ? $"{s.Device}:cleared" : s.Device)];
}
