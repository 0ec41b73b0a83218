using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>What became of an address while its push waited.</summary>
public sealed class HubAddressTests
{
    [Fact]
    public async Task Retry_DeviceDeleted_IsNotPushedAgainAndFails()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Store.Put("ada");
        await hub.PassAsync(10);
        Assert.Single(hub.Pushed);
        Assert.Equal("failed:address-gone", hub.Journal.EndOf("e1", "phone"));
        Assert.Contains(new("fcm", DeliveryStatus.AddressDead, 1), hub.Metrics.Snapshot().Deliveries);
        Assert.Empty(hub.Store.Removals);
        hub.AssertAllEnded("e1");
    }

    [Fact]
    public async Task Retry_AddressMovedToAnotherUser_IsNotPushedAgainAndWaitsForASession()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Store.Put("ada", hub.NewDevice("phone"));
        hub.Store.Put("eve", hub.Phone("phone"));
        await hub.PassAsync(10);
        Assert.Single(hub.Pushed);
        Assert.Equal("failed:address-gone", hub.Journal.EndOf("e1", "phone"));
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal(["e1"], link.Ids);
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(TimeSpan.FromMinutes(10), TimeSpan.FromSeconds(10));
        hub.AssertAllEnded("e1");
    }

    [Fact]
    public async Task Retry_NewToken_IsPushedThere()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Store.Put("ada", hub.Phone("phone") with { Addresses = [new PushAddress("fcm", "token", "new-secret", "", hub.Now)] });
        await hub.PassAsync(10);
        Assert.Equal(["phone-secret", "new-secret"], hub.Fcm.Sent.Select(s => s.Address));
        Assert.Equal("accepted", hub.Journal.EndOf("e1", "phone"));
        await hub.AssertAllEndAsync("e1");
    }

    [Fact]
    public async Task Retry_AddressOfAnotherScope_IsNotPushed()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Store.Put("ada", hub.Phone("phone") with { Addresses = [new PushAddress("fcm", "token", "new-secret", "elsewhere", hub.Now)] });
        await hub.PassAsync(10);
        Assert.Single(hub.Pushed);
    }

    [Fact]
    public async Task Retry_AddressConfirmedMeanwhile_IsJudgedByThatTime()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Fcm.Always(DeliveryStatus.AddressDead);
        var confirmed = hub.Now.AddMilliseconds(1);
        hub.Store.Put("ada", hub.Phone("phone") with { Addresses = [new PushAddress("fcm", "token", "phone-secret", "", confirmed)] });
        await hub.PassAsync(10);
        Assert.Equal(confirmed, Assert.Single(hub.Store.Removals).DeadSince);
    }

    [Fact]
    public async Task Dead_AddressHeld_IsInTheFeed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.AddressDead);
        await hub.SendAsync();
        await Waiting.UntilAsync(() => hub.Journal.Addresses.Count > 0, "the note");
        var note = Assert.Single(hub.Journal.Addresses);
        Assert.Equal(("ada", "phone", "fcm", "dead", "told-so"), (note.User, note.Device, note.Channel, note.Health, note.Reason));
    }

    [Fact]
    public async Task Dead_TokenRotatedMeanwhile_IsNotInTheFeed()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) =>
        {
            hub.Store.Put("ada", hub.Phone("phone") with { Addresses = [new PushAddress("fcm", "token", "new-secret", "", hub.Now)] });
            return ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.AddressDead));
        };
        await hub.SendAsync();
        Assert.Equal("phone-secret", Assert.Single(hub.Store.Removals).Address.Value);
        Assert.Empty(hub.Journal.Addresses);

        // And the next one goes to the address it has.
        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.SendAsync();
        Assert.Equal(["phone-secret", "new-secret"], hub.Fcm.Sent.Select(s => s.Address));
    }

    [Fact]
    public async Task Retry_RegistryUnreadable_WaitsUntilItIsReadable()
    {
        await using var hub = await WithAWaitingPushAsync();
        hub.Store.Unreadable.Add("ada");
        await hub.PassAsync(30);
        Assert.Single(hub.Pushed);
        hub.Store.Unreadable.Clear();
        await hub.PassAsync(100);
        Assert.Equal(2, hub.Pushed.Count);
        Assert.Equal("accepted", hub.Journal.EndOf("e1", "phone"));
    }

    // e1 was tried once; the next attempt will be accepted.
    private static async Task<HubUnderTest> WithAWaitingPushAsync()
    {
        var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromSeconds(5));
        Assert.Equal("e1", await hub.SendAsync("\"ttl\":600"));
        hub.Fcm.Always(DeliveryStatus.Accepted);
        return hub;
    }
}
