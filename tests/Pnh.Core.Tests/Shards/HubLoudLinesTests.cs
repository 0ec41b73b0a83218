using Pnh.Core.Hubs;
using Pnh.Core.Push;
using Pnh.Core.Stores;

namespace Pnh.Core.Tests.Shards;

/// <summary>What a publisher or a device can cause again and again is one line a second, with how often it happened.</summary>
public sealed class HubLoudLinesTests
{
    [Fact]
    public async Task Refused_EachEventByTheProvider_IsOneLineASecond()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log);
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Rejected);
        for (var i = 0; i < 50; i++)
        {
            await hub.SendAsync();
        }

        Assert.Single(log.EventNames, "Refused");
        await hub.PassAsync(2);
        await hub.SendAsync();
        Assert.Equal(2, log.EventNames.Count(static name => name == "Refused"));
    }

    [Fact]
    public async Task JournalBroke_OnEachEvent_IsOneLineASecond()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log);
        hub.Journal.Fault = new InvalidOperationException("A bug.");
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(AcceptStatus.Unavailable, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent())).Status);
        }

        Assert.Single(log.EventNames, "JournalBroke");
    }

    [Fact]
    public async Task Registry_CannotBeRead_TheLineSaysThatEventsWaitAndNotThatTheyAreRefused()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log);
        hub.Store.Unreadable.Add("ada");
        await hub.SendAsync();
        Assert.Single(log.EventNames, "StoreAwaited");
        Assert.DoesNotContain("StoreUnavailable", log.EventNames);

        hub.Journal.Fault = new StoreUnavailableException("The disk is full.");
        Assert.Equal(AcceptStatus.Unavailable, (await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent())).Status);
        Assert.Single(log.EventNames, "StoreUnavailable");
    }

    [Fact]
    public async Task LoadFailed_ForEachSession_IsOneLineASecond()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log, new HubOptions { MailboxItems = 2 });
        for (var i = 0; i < 20; i++)
        {
            hub.Store.Put($"u{i}", hub.NewDevice("tablet"));
            await hub.SendAsync(to: $$"""{"user":"u{{i}}"}""");
        }

        hub.Journal.ReadFault = new StoreUnavailableException("The disk does not answer.");
        for (var i = 0; i < 20; i++)
        {
            await hub.OpenAsync("tablet", user: $"u{i}");
        }

        Assert.Single(log.EventNames, "LoadFailed");
    }
}
