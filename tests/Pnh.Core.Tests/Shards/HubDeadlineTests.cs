using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>What counts as a deadline that the hub missed: its own time, not the client's.</summary>
public sealed class HubDeadlineTests
{
    [Fact]
    public async Task Ack_AfterThePushWentOut_IsNoMissedDeadline()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new(answer.Task);
        var (link, key) = await hub.OpenAsync("phone");
        var accepted = hub.NewEvent("\"class\":\"call\"");
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        Assert.Equal([accepted.Id], link.Ids);

        // The push is due after 0.5 s.
        hub.Clock.Advance(TimeSpan.FromSeconds(0.6));
        hub.Hub.Advance();
        await Waiting.UntilAsync(() => hub.Pushed.Count == 1, "the push");
        hub.Hub.Router.Acked(key, accepted.Id);
        Assert.Equal("acked", hub.Journal.EndOf(accepted.Id, "phone"));
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
    }

    [Fact]
    public async Task Accept_HeldUpByTheJournalUntilTheVeryEnd_ExpiresUnsent()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        var accepted = hub.NewEvent("\"class\":\"call\",\"ttl\":30");
        var accepting = hub.Hub.Acceptor.AcceptAsync(accepted).AsTask();
        hub.Clock.Advance(accepted.ExpiresAt - hub.Clock.GetUtcNow());
        sync.SetResult();
        await accepting;
        await hub.RestAsync();
        Assert.Equal("expired", hub.Journal.EndOf(accepted.Id, "phone"));
        Assert.Empty(hub.Pushed);
    }

    [Fact]
    public async Task Accept_HeldUpByTheJournalUntilTheVeryEnd_LeavesOnNoOpenSession()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var (link, _) = await hub.OpenAsync("tablet");
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        var accepted = hub.NewEvent("\"class\":\"call\",\"ttl\":30");
        var accepting = hub.Hub.Acceptor.AcceptAsync(accepted).AsTask();
        hub.Clock.Advance(accepted.ExpiresAt - hub.Clock.GetUtcNow());
        sync.SetResult();
        await accepting;
        await hub.RestAsync();
        Assert.Empty(link.Ids);
        Assert.Equal("expired", hub.Journal.EndOf(accepted.Id, "tablet"));
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed);
    }

    [Theory]
    [InlineData("call", 0.4, 0)]
    [InlineData("call", 0.6, 1)]
    [InlineData("message", 2.9, 0)]
    [InlineData("message", 3.1, 1)]
    public async Task Frame_HeldUpByTheJournal_MissesItsClassesAckTime(string @class, double seconds, long missed)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        hub.Clock.Advance(TimeSpan.FromSeconds(1)); // a timestamp of 0 stands for none
        var accepted = hub.NewEvent($"\"class\":\"{@class}\"");
        var accepting = hub.Hub.Acceptor.AcceptAsync(accepted).AsTask();
        hub.Clock.Advance(TimeSpan.FromSeconds(seconds));
        sync.SetResult();
        await accepting.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Equal([accepted.Id], link.Ids);
        await hub.AckAsync(key, accepted.Id);
        Assert.Equal(missed, hub.Metrics.Snapshot().DeadlinesMissed);
    }

    [Fact]
    public async Task Frame_OfADeviceThatCameLate_IsNoMissedDeadline()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        var id = await hub.SendAsync("\"ttl\":600");
        await hub.PassAsync(60);
        var (link, key) = await hub.OpenAsync("tablet");
        Assert.Equal([id], link.Ids);
        await hub.AckAsync(key, id);
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
    }
}
