using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>Providers' answers, retries and the ends of deliveries.</summary>
public sealed class HubPushTests
{
    [Fact]
    public async Task Accepted_SettlesWithTheProvidersId()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = "m-1" });
        var id = await hub.SendAsync();
        Assert.Equal(("accepted", "m-1"), (hub.Journal.EndOf(id, "phone"), Assert.Single(hub.Journal.Settled).ProviderId));
        Assert.Contains(new("fcm", DeliveryStatus.Accepted, 1), hub.Metrics.Snapshot().Deliveries);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task AddressDead_IsRemovedGuardedByTime()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var since = hub.Now.AddDays(-2);
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(new DeliveryResult { Status = DeliveryStatus.AddressDead, Reason = "UNREGISTERED", DeadSince = since });
        await hub.PassAsync(60);
        var known = await hub.SendAsync("\"channels\":[\"fcm\"]");
        hub.Fcm.Always(DeliveryStatus.AddressDead);
        var unknown = await hub.SendAsync("\"channels\":[\"fcm\"]");

        // Without the provider's word, what a client confirmed since the request stays.
        Assert.Equal([since, hub.Clock.Start], hub.Store.Removals.Select(r => r.DeadSince));
        Assert.All(hub.Store.Removals, r => Assert.Equal(("phone", "phone-secret"), (r.Device, r.Address.Value)));
        Assert.Equal("failed:UNREGISTERED", hub.Journal.EndOf(known, "phone"));
        hub.AssertAllEnded(known, unknown);
    }

    [Fact]
    public async Task AddressDead_FrameOnALiveSession_AckStillCounts()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (_, key) = await hub.OpenAsync("phone", SessionState.Background);
        hub.Fcm.Always(DeliveryStatus.AddressDead);
        var acked = await hub.SendAsync("\"ttl\":30");
        hub.Hub.Router.Acked(key, acked);
        var silent = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        Assert.Equal(("acked", "failed:told-so"), (hub.Journal.EndOf(acked, "phone"), hub.Journal.EndOf(silent, "phone")));
        Assert.Equal(2, hub.Pushed.Count);
        hub.AssertAllEnded(acked, silent);
    }

    [Theory]
    [InlineData(DeliveryStatus.Rejected)]
    [InlineData(DeliveryStatus.Misconfigured)]
    public async Task RefusedForGood_FailsAtOnce(DeliveryStatus status)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(status);
        var id = await hub.SendAsync("\"channels\":[\"fcm\"]");
        Assert.Equal("failed:told-so", hub.Journal.EndOf(id, "phone"));
        Assert.Empty(hub.Store.Removals);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task RefusedForGood_Mailbox_FailsAndWaitsForASession()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Rejected);
        var seen = await hub.SendAsync("\"ttl\":30");
        Assert.Equal("failed:told-so", hub.Journal.EndOf(seen, "phone"));
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([seen], link.Ids);
        hub.Hub.Router.Acked(key, seen);
        hub.Hub.Router.Closed(key);
        var unseen = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        Assert.Equal(("failed:told-so", "failed:told-so"), (hub.Journal.EndOf(seen, "phone"), hub.Journal.EndOf(unseen, "phone")));
        Assert.Equal(MilestoneKind.AckedLate, hub.Journal.KindsOf(seen, "phone")[^1]);
        Assert.Equal([seen, unseen], hub.Pushed);
        hub.AssertAllEnded(seen, unseen);
    }

    [Fact]
    public async Task SenderThrows_FailsThatDeliveryOnly()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) => throw new InvalidOperationException("bug");
        var broken = await hub.SendAsync("\"channels\":[\"fcm\"]");
        hub.Fcm.Always(DeliveryStatus.Accepted);
        var next = await hub.SendAsync();
        Assert.Equal(("failed:hub-error", "accepted"), (hub.Journal.EndOf(broken, "phone"), hub.Journal.EndOf(next, "phone")));
        await hub.AssertAllEndAsync(broken, next);
    }

    [Fact]
    public async Task NoProvider_PushOnly_FailsAtOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("phone", "orphan"));
        var id = await hub.SendAsync("\"channels\":[\"fcm\"]");
        Assert.Equal("failed:no-provider", hub.Journal.EndOf(id, "phone"));
        Assert.Contains(new(ChannelNames.None, DeliveryStatus.Misconfigured, 1), hub.Metrics.Snapshot().Deliveries);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task NoProvider_WithMailbox_IsCountedOnceAndReachesTheNextSession()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("phone", "orphan"));
        var seen = await hub.SendAsync("\"ttl\":30");
        var missed = await hub.SendAsync("\"ttl\":30");
        Assert.Contains(new(ChannelNames.None, DeliveryStatus.Misconfigured, 2), hub.Metrics.Snapshot().Deliveries);

        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([seen, missed], link.Ids);
        hub.Hub.Router.Acked(key, seen);
        await hub.PassAsync(31);

        Assert.Equal(("failed:no-provider", "failed:no-provider"), (hub.Journal.EndOf(seen, "phone"), hub.Journal.EndOf(missed, "phone")));
        Assert.Contains(new(ChannelNames.None, DeliveryStatus.Misconfigured, 2), hub.Metrics.Snapshot().Deliveries);
        hub.AssertAllEnded(seen, missed);
    }

    [Fact]
    public async Task NoProvider_ActiveSession_AckedOrFailed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("phone", "orphan"));
        var (_, key) = await hub.OpenAsync("phone");
        var acked = await hub.SendAsync("\"ttl\":30");
        hub.Hub.Router.Acked(key, acked);
        var silent = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        Assert.Equal(("acked", "failed:no-provider"), (hub.Journal.EndOf(acked, "phone"), hub.Journal.EndOf(silent, "phone")));
    }

    [Fact]
    public async Task DoNotDisturb_EndsSuppressedAndWaitsForASession()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", new UserSettings { DoNotDisturbUntil = hub.Now.AddHours(1) }, hub.Phone("phone"));
        var seen = await hub.SendAsync("\"ttl\":30");
        Assert.Equal("suppressed:do-not-disturb", hub.Journal.EndOf(seen, "phone"));
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([seen], link.Ids);
        hub.Hub.Router.Acked(key, seen);
        hub.Hub.Router.Closed(key);
        var unseen = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        Assert.Empty(hub.Pushed);
        Assert.Equal(("suppressed:do-not-disturb", "suppressed:do-not-disturb"), (hub.Journal.EndOf(seen, "phone"), hub.Journal.EndOf(unseen, "phone")));
        hub.AssertAllEnded(seen, unseen);
    }

    [Fact]
    public async Task Muted_NothingSentAndFinished()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", new UserSettings { MutedClasses = ["message"] }, hub.Phone("phone"));
        var (link, _) = await hub.OpenAsync("phone");
        var id = await hub.SendAsync();
        Assert.Empty(link.Ids);
        Assert.Empty(hub.Pushed);
        Assert.Equal("suppressed:muted-class", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task AckWhileQueued_IsNotPushed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.MaxInFlight = 1;
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new ValueTask<DeliveryResult>(answer.Task);
        var (_, key) = await hub.OpenAsync("phone", SessionState.Background);
        var first = hub.NewEvent();
        var second = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(first);
        await hub.Hub.Acceptor.AcceptAsync(second);
        hub.Hub.Router.Acked(key, second.Id);
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
        Assert.Equal([first.Id], hub.Pushed);
        Assert.Equal("acked", hub.Journal.EndOf(second.Id, "phone"));
    }
}
