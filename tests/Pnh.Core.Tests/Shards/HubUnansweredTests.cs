using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>Pushes whose answer comes late or never: what was perhaps shown is not shown again and again, and not called a failure.</summary>
public sealed class HubUnansweredTests
{
    private static readonly DeliveryResult Unknown = new() { Status = DeliveryStatus.Unavailable, Reason = "timeout", IsUnknown = true };
    private static readonly DeliveryResult CutOff = new() { Status = DeliveryStatus.Unavailable, Reason = "connection-lost", IsUnknown = true, IsCutOff = true };

    [Fact]
    public async Task NeverAnswered_ThreeAttemptsHalfAMinuteApart_ThenUnconfirmed()
    {
        await using var hub = NewHub(_ => Unknown);
        var id = await hub.SendAsync("\"ttl\":86400");
        await hub.PassAsync(TimeSpan.FromMinutes(10), TimeSpan.FromMilliseconds(500));
        var waits = hub.Fcm.Sent.Zip(hub.Fcm.Sent.Skip(1), static (a, b) => (b.At - a.At).TotalSeconds).ToArray();
        Assert.Equal(2, waits.Length);
        Assert.All(waits, static wait => Assert.InRange(wait, 30, 38));
        Assert.Equal("unconfirmed:timeout", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(
            [MilestoneKind.Planned, MilestoneKind.Unanswered, MilestoneKind.Unanswered, MilestoneKind.Unanswered, MilestoneKind.Settled],
            hub.Journal.KindsOf(id, "phone"));
        Assert.Contains(new("fcm", DeliveryStatus.Unconfirmed, 1), hub.Metrics.Snapshot().Deliveries);

        // As after an accepted push: the phone finds it in its mailbox and may acknowledge it.
        var (link, key) = await hub.OpenAsync("phone");
        Assert.Equal([id], link.Ids);
        await hub.AckAsync(key, id);
        Assert.Equal(MilestoneKind.AckedLate, hub.Journal.KindsOf(id, "phone")[^1]);
        hub.Hub.Router.Closed(key);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task LateAnswer_Accepted_SettlesItAndNothingIsSentAgain()
    {
        var late = NewAnswer();
        await using var hub = NewHub(_ => Unknown with { Late = late.Task });
        var id = await AcceptAsync(hub, "\"ttl\":86400");
        await Waiting.UntilAsync(() => hub.Journal.KindsOf(id, "phone").Contains(MilestoneKind.Unanswered), "the line of the late answer");
        Assert.Null(hub.Journal.EndOf(id, "phone"));
        hub.Clock.Advance(TimeSpan.FromSeconds(1));
        late.SetResult(new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = "m-1" });
        await hub.PassAsync(300);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        Assert.Single(hub.Pushed);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task LateAnswer_Refusal_IsNoUnknownEndAnyMore()
    {
        var late = NewAnswer();
        DeliveryResult first = Unknown with { Late = late.Task };
        await using var hub = NewHub(pushed => pushed == 1 ? first : Unknown);
        var id = await AcceptAsync(hub, "\"ttl\":86400");
        await Waiting.UntilAsync(() => hub.Journal.KindsOf(id, "phone").Contains(MilestoneKind.Unanswered), "the line of the late answer");
        late.SetResult(DeliveryResult.Of(DeliveryStatus.Unavailable, "ServiceUnavailable"));
        await hub.PassAsync(5);
        Assert.Equal(2, hub.Pushed.Count); // the usual wait: it was surely not carried out
        await hub.PassAsync(300);
        Assert.Equal(4, hub.Pushed.Count);
        Assert.Equal("unconfirmed:timeout", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Call_NeverAnswered_RingsOnce()
    {
        await using var hub = NewHub(_ => Unknown);
        var id = await hub.SendAsync("\"class\":\"call\",\"ttl\":30");
        var told = hub.Journal.Milestones.Single(static m => m.Kind == MilestoneKind.Unanswered);
        Assert.Equal(("timeout", null, "fcm"), (told.Reason, told.NextAttemptAt, told.Channel));
        await hub.PassAsync(60);
        Assert.Single(hub.Pushed);
        Assert.Equal("unconfirmed:timeout", hub.Journal.EndOf(id, "phone"));
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData("\"class\":\"call\",\"ttl\":30")]
    [InlineData("\"class\":\"call\",\"ttl\":3600")]
    [InlineData("\"ttl\":30")]
    [InlineData("\"ttl\":0")]
    public async Task CutOffOnce_NoTimeForAPause_IsTriedAgainAtOnce(string members)
    {
        await using var hub = NewHub(pushed => pushed == 1 ? CutOff : DeliveryResult.Of(DeliveryStatus.Accepted));
        var id = await hub.SendAsync(members);
        var told = hub.Journal.Milestones.Single(static m => m.Kind == MilestoneKind.Unanswered);
        Assert.Equal(("connection-lost", told.At), (told.Reason, told.NextAttemptAt));
        await hub.PassAsync(TimeSpan.FromMilliseconds(100), TimeSpan.FromMilliseconds(20));
        Assert.Equal(2, hub.Pushed.Count);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData("\"class\":\"call\",\"ttl\":30")]
    [InlineData("\"class\":\"call\",\"ttl\":3600")]
    [InlineData("\"ttl\":30")]
    public async Task CutOffAlways_NoTimeForAPause_IsTriedAgainOnceThenUnconfirmed(string members)
    {
        await using var hub = NewHub(_ => CutOff);
        var id = await hub.SendAsync(members);
        await hub.PassAsync(120);
        Assert.Equal(2, hub.Pushed.Count);
        Assert.Equal("unconfirmed:connection-lost", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task CutOffOnce_TimeForAPause_WaitsForIt()
    {
        await using var hub = NewHub(pushed => pushed == 1 ? CutOff : DeliveryResult.Of(DeliveryStatus.Accepted));
        var id = await hub.SendAsync("\"ttl\":86400");
        await hub.PassAsync(29);
        Assert.Single(hub.Pushed);
        await hub.PassAsync(11);
        Assert.Equal("accepted", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task CutOffCall_ThenSurelyNotCarriedOut_IsTriedAtTheUsualTimes()
    {
        await using var hub = NewHub(pushed => pushed switch
        {
            1 => CutOff,
            < 4 => DeliveryResult.Of(DeliveryStatus.Unavailable, "ServiceUnavailable"),
            _ => DeliveryResult.Of(DeliveryStatus.Accepted),
        });
        var accepted = hub.Now;
        var id = await hub.SendAsync("\"class\":\"call\",\"ttl\":30");
        await hub.PassUntilAsync(() => hub.Journal.EndOf(id, "phone") is not null, "the push's end");
        Assert.Equal((4, "accepted"), (hub.Pushed.Count, hub.Journal.EndOf(id, "phone")));
        Assert.InRange(hub.Now - accepted, TimeSpan.Zero, TimeSpan.FromSeconds(29));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Call_ConnectionEndsWhileItsAnswerIsAwaited_IsTriedAgainAtOnce()
    {
        var late = NewAnswer();
        DeliveryResult first = Unknown with { Late = late.Task };
        await using var hub = NewHub(pushed => pushed == 1 ? first : DeliveryResult.Of(DeliveryStatus.Accepted));
        var id = await AcceptAsync(hub, "\"class\":\"call\",\"ttl\":30");
        await Waiting.UntilAsync(() => hub.Journal.KindsOf(id, "phone").Contains(MilestoneKind.Unanswered), "the line of the late answer");
        hub.Clock.Advance(TimeSpan.FromSeconds(3));
        hub.Hub.Advance();
        Assert.Single(hub.Pushed);
        late.SetResult(CutOff);
        await hub.PassAsync(3);
        Assert.Equal((2, "accepted"), (hub.Pushed.Count, hub.Journal.EndOf(id, "phone")));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task NowOrNever_NotAnswered_IsUnconfirmed()
    {
        await using var hub = NewHub(_ => Unknown);
        var id = await hub.SendAsync("\"ttl\":0");
        Assert.Equal("unconfirmed:timeout", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData(DeliveryStatus.Rejected)]
    [InlineData(DeliveryStatus.AddressDead)]
    [InlineData(DeliveryStatus.Unavailable)]
    public async Task NotAnsweredOnce_ThenRefusedUntilItsEnd_IsNotSaidToHaveFailed(DeliveryStatus then)
    {
        await using var hub = NewHub(pushed => pushed == 1 ? Unknown : DeliveryResult.Of(then, "told-so"));
        var id = await hub.SendAsync("\"ttl\":120");
        await hub.PassAsync(121);
        Assert.StartsWith("unconfirmed:", hub.Journal.EndOf(id, "phone"), StringComparison.Ordinal);
        var waits = hub.Fcm.Sent.Zip(hub.Fcm.Sent.Skip(1), static (a, b) => (b.At - a.At).TotalSeconds).ToArray();
        Assert.All(waits, static wait => Assert.True(wait >= 30, $"again after {wait} s"));
        hub.AssertLedger();
    }

    [Fact]
    public async Task Crash_AttemptsBeforeItCount()
    {
        var old = NewHub(_ => Unknown);
        var id = await old.SendAsync("\"ttl\":86400");
        await old.PassAsync(40);
        Assert.Equal(2, old.Pushed.Count);
        var due = old.Journal.Milestones.Last(static m => m.Kind == MilestoneKind.Unanswered).NextAttemptAt!.Value;
        await using var hub = await old.CrashAsync();
        hub.Fcm.Answer = static (_, _) => new(Unknown);
        await PassOffTicksAsync(hub, due - hub.Now - TimeSpan.FromMilliseconds(1));
        Assert.Equal(2, hub.Pushed.Count);
        await PassOffTicksAsync(hub, TimeSpan.FromMilliseconds(60));
        await Waiting.UntilAsync(() => hub.Journal.EndOf(id, "phone") is not null, "the end");
        Assert.Equal(3, hub.Pushed.Count);
        Assert.StartsWith("unconfirmed:", hub.Journal.EndOf(id, "phone"), StringComparison.Ordinal);
        hub.AssertLedger();
    }

    [Fact]
    public async Task Crash_WhileTheLastAnswerIsAwaited_IsUnconfirmedAndNotSentAgain()
    {
        var never = NewAnswer();
        var old = NewHub(static _ => Unknown);
        old.Fcm.Answer = (_, stop) => new(old.Fcm.Sent.Count < 3 ? Unknown : Unknown with { Late = never.Task.WaitAsync(stop) });
        var id = await old.SendAsync("\"ttl\":86400");
        await old.PassAsync(40);
        old.Clock.Advance(TimeSpan.FromSeconds(38));
        old.Hub.Advance();
        await Waiting.UntilAsync(() => old.Journal.KindsOf(id, "phone").Count(static k => k == MilestoneKind.Unanswered) == 3, "the third attempt");
        await using var hub = await old.CrashAsync();
        await hub.RestAsync();
        Assert.Equal(3, hub.Pushed.Count);
        Assert.Equal("unconfirmed:unanswered", hub.Journal.EndOf(id, "phone"));
        hub.AssertLedger();
    }

    [Fact]
    public async Task Crash_CallNotAnswered_DoesNotRingAgainWithinItsTtl()
    {
        var never = NewAnswer();
        var old = NewHub(static _ => Unknown);
        old.Fcm.Answer = (_, stop) => new(Unknown with { Late = never.Task.WaitAsync(stop) });
        var accepted = old.NewEvent("\"class\":\"call\",\"ttl\":30");
        await old.Hub.Acceptor.AcceptAsync(accepted);
        await Waiting.UntilAsync(() => old.Journal.KindsOf(accepted.Id, "phone").Contains(MilestoneKind.Unanswered), "the line of the late answer");
        await using var hub = await old.CrashAsync();
        hub.Fcm.Always(DeliveryStatus.Accepted);
        for (var seconds = 0; seconds < 60; seconds++)
        {
            await PassOffTicksAsync(hub, TimeSpan.FromSeconds(1));
        }

        await Waiting.UntilAsync(() => hub.Journal.EndOf(accepted.Id, "phone") is not null, "the end");
        Assert.Single(hub.Pushed);
        Assert.StartsWith("unconfirmed", hub.Journal.EndOf(accepted.Id, "phone"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Crash_ExpiredMeanwhile_IsUnconfirmed()
    {
        var old = NewHub(_ => Unknown);
        var id = await old.SendAsync("\"ttl\":60");
        old.Clock.Advance(TimeSpan.FromMinutes(2));
        await using var hub = await old.CrashAsync();
        await hub.RestAsync();
        Assert.Equal("unconfirmed", hub.Journal.EndOf(id, "phone"));
        hub.AssertAllEnded(id);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(120)]
    public async Task Withdraw_NotAnswered_IsClearedAsShown(int seconds)
    {
        await using var hub = NewHub(_ => Unknown);
        var id = await hub.SendAsync("\"ttl\":86400");
        await hub.PassAsync(seconds);
        hub.Fcm.Always(DeliveryStatus.Accepted);
        Assert.Equal(WithdrawStatus.Withdrawn, await hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None));
        await hub.RestAsync();
        Assert.True(hub.Fcm.Sent[^1].IsClear);
        Assert.Equal(MilestoneKind.Cleared, hub.Journal.KindsOf(id, "phone")[^1]);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Held_Call_IsToldAtOnceAndOnceForEachReason()
    {
        DeliveryResult refused = new() { Status = DeliveryStatus.Misconfigured, Reason = "InvalidProviderToken", RetryAfter = TimeSpan.FromSeconds(30) };
        await using var hub = NewHub(pushed => pushed switch
        {
            1 or 2 => new() { Status = DeliveryStatus.Unavailable, Reason = "breaker-open", RetryAfter = TimeSpan.FromSeconds(5), IsHeld = true },
            _ => refused with { IsHeld = pushed > 3 },
        });
        var id = await hub.SendAsync("\"class\":\"call\",\"ttl\":30");
        var first = hub.Journal.Milestones.Single(static m => m.Kind == MilestoneKind.Held);
        Assert.Equal(("breaker-open", hub.Now), (first.Reason, first.At));
        Assert.InRange(first.NextAttemptAt!.Value, hub.Now.AddSeconds(5), hub.Now.AddSeconds(7));
        await hub.PassAsync(31);
        var told = hub.Journal.Milestones.Where(static m => m.Kind == MilestoneKind.Held).ToList();
        Assert.Equal(["breaker-open", "InvalidProviderToken"], told.Select(static m => m.Reason));
        Assert.Null(told[1].NextAttemptAt); // not again before its end
        Assert.Equal("failed:InvalidProviderToken", hub.Journal.EndOf(id, "phone"));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Unavailable_LastAttemptBeforeItsEnd_HasItsLine()
    {
        await using var hub = NewHub(_ => new() { Status = DeliveryStatus.Unavailable, Reason = "UNAVAILABLE", RetryAfter = TimeSpan.FromSeconds(60) });
        var id = await hub.SendAsync("\"class\":\"call\",\"ttl\":30");
        var told = hub.Journal.Milestones.Single(static m => m.Kind == MilestoneKind.Retry);
        Assert.Equal(("UNAVAILABLE", null, hub.Now), (told.Reason, told.NextAttemptAt, told.At));
        await hub.AssertAllEndAsync(id);
    }

    private static HubUnderTest NewHub(Func<int, DeliveryResult> answer)
    {
        var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        hub.Fcm.Answer = (_, _) => new(answer(hub.Fcm.Sent.Count));
        return hub;
    }

    private static async Task<string> AcceptAsync(HubUnderTest hub, string members)
    {
        var accepted = hub.NewEvent(members);
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        return accepted.Id;
    }

    private static TaskCompletionSource<DeliveryResult> NewAnswer() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static async Task PassOffTicksAsync(HubUnderTest hub, TimeSpan time)
    {
        hub.Clock.Advance(time);
        hub.Hub.Advance();
        await hub.RestAsync();
    }
}
