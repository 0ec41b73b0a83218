using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>When pushes are tried again, and when no more.</summary>
public sealed class HubPushTimeTests
{
    [Fact]
    public async Task Unavailable_RetriesWithGrowingWaits()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable);
        var id = await hub.SendAsync();
        await hub.PassAsync(TimeSpan.FromMinutes(10), TimeSpan.FromMilliseconds(100));
        var waits = hub.Fcm.Sent.Zip(hub.Fcm.Sent.Skip(1), (a, b) => (b.At - a.At).TotalSeconds).ToArray();
        Assert.True(waits.Length >= 7, $"{waits.Length} retries in 10 minutes");
        for (var i = 0; i < waits.Length; i++)
        {
            var middle = 1 << Math.Min(i, 4);
            Assert.InRange(waits[i], middle * 0.5, (middle * 1.5) + 0.3);
        }

        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.PassAsync(100);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task NowOrNever_LaneIsFull_EndsAtOnce()
    {
        await using var hub = new HubUnderTest();
        for (var user = 0; user < 200; user++)
        {
            hub.Store.Put($"u{user}", hub.Phone("phone"));
        }

        var never = new TaskCompletionSource<DeliveryResult>();
        hub.Fcm.Answer = (_, cancellation) => new ValueTask<DeliveryResult>(never.Task.WaitAsync(cancellation));
        for (var i = 0; i < 65_536 + hub.Fcm.MaxInFlight; i++)
        {
            await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent("\"channels\":[\"fcm\"]", $$"""{"user":"u{{i % 200}}"}"""));
        }

        var now = hub.NewEvent("\"ttl\":0,\"channels\":[\"fcm\"]", """{"user":"u0"}""");
        await hub.Hub.Acceptor.AcceptAsync(now);
        Assert.Equal("expired", hub.Journal.EndOf(now.Id, "phone"));
    }

    [Fact]
    public async Task Throttled_WaitsAsTold()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Throttled, TimeSpan.FromSeconds(17));
        for (var i = 0; i < 20; i++)
        {
            await hub.SendAsync();
        }

        await hub.PassAsync(17);
        Assert.Equal(20, hub.Pushed.Count);
        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.PassAsync(TimeSpan.FromSeconds(4.4), TimeSpan.FromMilliseconds(100));
        Assert.Equal(40, hub.Pushed.Count);

        // Not all at once: a healed provider would be met by everybody.
        Assert.InRange(hub.Fcm.Sent.Skip(20).Select(s => s.At).Distinct().Count(), 5, 20);
    }

    // At its very end nothing is sent any more, so a wait until then is the end: no further attempt is promised, and why it ends so is said.
    [Theory]
    [InlineData(60, "expired:told-so", 0)]
    [InlineData(40, "accepted", 1)]
    public async Task Throttled_UntilTheEndOfTheTtl_IsNotTriedAgain(int retryAfter, string end, int retries)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Throttled, TimeSpan.FromSeconds(retryAfter));
        var id = await hub.SendAsync("\"ttl\":60,\"channels\":[\"fcm\"]");
        Assert.Equal(retries, hub.Journal.Milestones.Count(m => m is { Kind: MilestoneKind.Retry, NextAttemptAt: not null }));
        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.PassAsync(61);
        Assert.Equal(end, hub.Journal.EndOf(id, "phone"));
        Assert.Equal(1 + retries, hub.Pushed.Count);
    }

    [Fact]
    public async Task Held_LongOutage_WaitsGrowToHalfAMinuteAndOnlyTheFirstIsNoted()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(new DeliveryResult
        {
            Status = DeliveryStatus.Unavailable,
            Reason = "breaker-open",
            RetryAfter = TimeSpan.FromSeconds(5),
            IsHeld = true,
        });
        var id = await hub.SendAsync();
        await hub.PassAsync(TimeSpan.FromMinutes(10), TimeSpan.FromMilliseconds(500));
        var waits = hub.Fcm.Sent.Zip(hub.Fcm.Sent.Skip(1), (a, b) => (b.At - a.At).TotalSeconds).ToArray();
        Assert.All(waits, wait => Assert.InRange(wait, 5, 24.6));
        Assert.InRange(waits[^1], 8, 24.6);
        Assert.Single(hub.Journal.KindsOf(id, "phone"), MilestoneKind.Held);
    }

    [Fact]
    public async Task Misconfigured_WithATime_WaitsForSomebodyToActAndFailsAtItsEnd()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Misconfigured, TimeSpan.FromSeconds(30));
        var lost = await hub.SendAsync("\"ttl\":60");
        var saved = await hub.SendAsync("\"ttl\":3600");
        await hub.PassAsync(61);
        Assert.Equal("failed:told-so", hub.Journal.EndOf(lost, "phone"));

        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.PassAsync(38);
        Assert.Equal("accepted", hub.Journal.EndOf(saved, "phone"));
        await hub.AssertAllEndAsync(lost, saved);
    }

    [Fact]
    public async Task Accepted_WithAReason_TheEndSaysIt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.Accepted, "wake-up:payload-too-large"));
        var id = await hub.SendAsync();
        await hub.PassAsync(3);
        Assert.Equal("accepted:wake-up:payload-too-large", hub.Journal.EndOf(id, "phone"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-5)]
    public async Task Unavailable_RetryAfterNothing_IsNotABusyLoop(int seconds)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromSeconds(seconds));
        await hub.SendAsync();
        await hub.PassAsync(TimeSpan.FromSeconds(10), TimeSpan.FromMilliseconds(20));
        Assert.InRange(hub.Pushed.Count, 2, 6);
    }

    [Theory]
    [InlineData(30.1)]
    [InlineData(1e10)]
    public async Task Unavailable_RetryBeyondTheTtl_Expires(double retryAfter)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromSeconds(retryAfter));
        var id = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        Assert.Single(hub.Pushed);
        Assert.Equal("expired:told-so", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Unavailable_RetryAfterTheLongestTimeSpan_DoesNotOverflow()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.MaxValue);
        var id = await hub.SendAsync("\"ttl\":30");
        await hub.PassAsync(31);
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData("\"ttl\":2", 0.9, 1.1)]
    [InlineData("\"ttl\":30,\"ack\":{\"within\":60}", 14, 16)]
    [InlineData("\"ttl\":30", 2.9, 3.1)]
    public async Task NoAck_TtlShorterThanTheAckTime_IsPushedHalfWay(string members, double before, double after)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        await hub.OpenAsync("phone");
        var id = await hub.SendAsync(members);
        await hub.PassAsync(TimeSpan.FromSeconds(before), TimeSpan.FromSeconds(0.1));
        Assert.Empty(hub.Pushed);
        await hub.PassAsync(TimeSpan.FromSeconds(after - before), TimeSpan.FromSeconds(0.1));
        Assert.Equal([id], hub.Pushed);
        await hub.PassAsync(60);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Expired_IsNeverSent()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("phone"), hub.NewDevice("tablet"));
        var (link, _) = await hub.OpenAsync("phone");

        var id = await hub.SendAsync("\"ttl\":2");
        await hub.PassAsync(10);
        Assert.Empty(hub.Pushed);
        Assert.Equal(("expired", "expired"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));
        var (late, _) = await hub.OpenAsync("tablet");
        Assert.Empty(late.Ids);
        Assert.Single(link.Ids);

        // Nobody was reachable, or nobody acknowledged: neither waited for the hub.
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData(3.5, "acked")]
    [InlineData(5.5, "expired:told-so")]
    public async Task Expired_BeforeItsPush_LeavesTheFrameFiveSecondsForItsAck(double ack, string end)
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromSeconds(0.9));
        var (_, key) = await hub.OpenAsync("phone");

        // Pushed after 1 s; the second attempt is due when the event has just ended, or would be after it.
        var id = await hub.SendAsync("\"ttl\":2");
        await hub.PassAsync(TimeSpan.FromSeconds(ack), TimeSpan.FromSeconds(0.1));
        await hub.AckAsync(key, id);
        Assert.InRange(hub.Pushed.Count, 1, 2);
        Assert.Equal(end, hub.Journal.EndOf(id, "phone"));
        await hub.PassAsync(5);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Expired_InItsLane_LeavesTheFrameFiveSecondsForItsAck()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Always(DeliveryStatus.Expired);
        var (_, key) = await hub.OpenAsync("phone", SessionState.Background);
        var id = await hub.SendAsync("\"ttl\":2");
        await hub.PassAsync(3.5);
        Assert.Single(hub.Pushed);
        await hub.AckAsync(key, id);
        Assert.Equal("acked", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Expired_WhileTheJournalSyncs_IsNeverSent()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, _) = await hub.OpenAsync("phone");
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        var accepted = hub.NewEvent("\"ttl\":2");
        var accepting = hub.Hub.Acceptor.AcceptAsync(accepted).AsTask();
        hub.Clock.Advance(TimeSpan.FromSeconds(3));
        sync.SetResult();
        await accepting.WaitAsync(TimeSpan.FromSeconds(20));
        await hub.PassAsync(5);
        Assert.Empty(link.Ids);
        Assert.Empty(hub.Pushed);
        Assert.Equal("expired", hub.Journal.EndOf(accepted.Id, "phone"));
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task Expired_InTheLane_IsNotSentAndCountedOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.MaxInFlight = 1;
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new ValueTask<DeliveryResult>(answer.Task);
        var first = hub.NewEvent();
        var second = hub.NewEvent("\"ttl\":2");
        await hub.Hub.Acceptor.AcceptAsync(first);
        await hub.Hub.Acceptor.AcceptAsync(second);
        hub.Clock.Advance(TimeSpan.FromSeconds(3));
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
        Assert.Equal([first.Id], hub.Pushed);
        Assert.Equal("expired", hub.Journal.EndOf(second.Id, "phone"));
        Assert.Contains(new("fcm", DeliveryStatus.Expired, 1), hub.Metrics.Snapshot().Deliveries);
        Assert.Equal(1, hub.Metrics.Snapshot().DeadlinesMissed);
        await hub.AssertAllEndAsync(first.Id, second.Id);
    }

    [Fact]
    public async Task TtlZero_OneAttempt()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("tablet"));
        hub.Fcm.Always(DeliveryStatus.Unavailable, TimeSpan.FromSeconds(1));
        var id = await hub.SendAsync("\"ttl\":0");
        await hub.PassAsync(100);
        Assert.Equal([id], hub.Pushed);
        Assert.Equal(("expired:told-so", "expired"), (hub.Journal.EndOf(id, "phone"), hub.Journal.EndOf(id, "tablet")));
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task TtlZero_ActiveSession_FrameNowAndNoPushLater()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        var acked = await hub.SendAsync("\"ttl\":0");
        await hub.PassAsync(1);
        hub.Hub.Router.Acked(key, acked);
        var unacked = await hub.SendAsync("\"ttl\":0");
        await hub.PassAsync(100);
        var (later, _) = await hub.OpenAsync("phone");
        Assert.Equal([acked, unacked], link.Ids);
        Assert.Empty(hub.Pushed);
        Assert.Empty(later.Ids);
        Assert.Equal(("acked", "expired"), (hub.Journal.EndOf(acked, "phone"), hub.Journal.EndOf(unacked, "phone")));
        hub.AssertAllEnded(acked, unacked);
    }

    [Fact]
    public async Task TtlZero_ActiveElsewhere_IsPushedNow()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("laptop"));
        await hub.OpenAsync("laptop");
        Assert.Equal([await hub.SendAsync("\"ttl\":0")], hub.Pushed);
    }
}
