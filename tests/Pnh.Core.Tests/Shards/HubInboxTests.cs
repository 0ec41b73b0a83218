using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>An inbox over events whose bodies cannot be read any more.</summary>
public sealed class HubInboxTests
{
    private static readonly UserKey Ada = new("demo", "ada");

    [Fact]
    public async Task ReadInbox_BodyIsDamaged_FailsAsInAReplayAndIsReportedOnce()
    {
        var log = new RecordingLogger<Hub>();
        await using var hub = new HubUnderTest(log);
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var damaged = await hub.SendAsync();
        var next = await hub.SendAsync();
        hub.Journal.Damaged.Add(damaged);
        Assert.Equal([next], await ReadAsync(hub, "tablet"));
        Assert.Equal([next], await ReadAsync(hub, "tablet"));
        Assert.Single(log.EventNames, "EventDamaged");
        Assert.Equal("failed:unreadable", hub.Journal.EndOf(damaged, "tablet"));
        Assert.Equal(1, await hub.Hub.Inbox.AckAsync(Ada, "tablet", [damaged, next], CancellationToken.None));
        hub.AssertAllEnded(damaged, next);
    }

    [Fact]
    public async Task ReadInbox_BodyIsDamagedAfterItsPush_LeavesTheMailbox()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var damaged = await hub.SendAsync();
        hub.Journal.Damaged.Add(damaged);
        Assert.Empty(await ReadAsync(hub, "phone"));
        Assert.Equal("accepted", hub.Journal.EndOf(damaged, "phone"));
        var last = hub.Journal.Milestones[^1];
        Assert.Equal((MilestoneKind.Dropped, "unreadable"), (last.Kind, last.Reason));
        hub.AssertAllEnded(damaged);
    }

    [Fact]
    public async Task ReadInbox_BodyIsDamagedAfterItsFrame_StaysForTheAck()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var (link, key) = await hub.OpenAsync("tablet");
        var damaged = await hub.SendAsync();
        Assert.Equal([damaged], link.Ids);
        hub.Journal.Damaged.Add(damaged);
        hub.Hub.Router.Detached(key);
        Assert.Empty(await ReadAsync(hub, "tablet"));
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.AckAsync(key, damaged);
        Assert.Equal("acked", hub.Journal.EndOf(damaged, "tablet"));
        hub.AssertAllEnded(damaged);
    }

    [Fact]
    public async Task ReadInbox_DamagedBodyExpiresMeanwhile_EndsAsExpired()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var (_, key) = await hub.OpenAsync("tablet");
        var damaged = await hub.SendAsync("\"ttl\":3"); // framed: its ack may come until two seconds later
        hub.Hub.Router.Closed(key);
        hub.Journal.Damaged.Add(damaged);
        var reading = new TaskCompletionSource();
        hub.Journal.Reading = reading.Task;
        var read = ReadAsync(hub, "tablet");
        await hub.PassAsync(3.5);
        Assert.Null(hub.Journal.EndOf(damaged, "tablet"));
        reading.SetResult();
        Assert.Empty(await read);
        await hub.PassAsync(2);
        Assert.Equal("expired", hub.Journal.EndOf(damaged, "tablet"));
        hub.AssertAllEnded(damaged);
    }

    private static async Task<IEnumerable<string>> ReadAsync(HubUnderTest hub, string device) =>
        (await hub.Hub.Inbox.ReadAsync(Ada, device, null, CancellationToken.None)).Items.Select(e => e.Id);
}
