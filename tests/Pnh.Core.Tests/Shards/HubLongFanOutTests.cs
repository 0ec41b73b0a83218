using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.TestKit;
using static Pnh.Core.Tests.Shards.Hall;

namespace Pnh.Core.Tests.Shards;

/// <summary>Events to more members than a page holds go on behind their answers.</summary>
public sealed class HubLongFanOutTests
{
    private readonly Hall _hall = new();

    [Fact]
    public async Task Accept_MoreThanAPage_IsAnsweredBeforeTheRestIsServed()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var id = await _hall.SendAndStandAsync(hub);
        Assert.Equal(First, hub.Pushed.Count);
        Assert.DoesNotContain(hub.Journal.Milestones, m => m.Kind == MilestoneKind.Dispatched);
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal(Names(0, Members), hub.Fcm.Sent.Select(s => s.User).Order(StringComparer.Ordinal));
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Restart_InMidFanOut_GoesOnAfterTheLastMemberNoted(bool isStopped)
    {
        var old = new HubUnderTest();
        Fill(old);
        old.Store.Put("u0007"); // no device yet
        var id = await _hall.SendAndStandAsync(old);
        Assert.Equal(First - 1, old.Pushed.Count);
        if (isStopped)
        {
            await old.Hub.StopAsync(CancellationToken.None);
        }

        // Behind it nobody and no device is added any more, before it everybody is.
        old.Store.Put("u0003", old.Phone("phone"), old.Phone("new"));
        old.Store.Put("u0007", old.Phone("phone"));
        old.Store.PutTopic("hall", [.. Names(0, 2), "u0001-joined", .. Names(2, Members), "u9-joined"]);
        old.Store.Put("u0001-joined", old.Phone("phone"));
        old.Store.Put("u9-joined", old.Phone("phone"));
        await using var hub = await old.CrashAsync();
        await EndedAsync(hub);
        Assert.Equal([.. Names(0, 7), .. Names(8, Members), "u9-joined"], hub.Fcm.Sent.Select(s => s.User).Order(StringComparer.Ordinal));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Withdraw_InMidFanOut_StopsTheRest()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var id = await _hall.SendAndStandAsync(hub);
        Assert.Equal(WithdrawStatus.Withdrawn, await hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None));
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal(First, hub.Fcm.Sent.Count(s => !s.IsClear));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Withdraw_OfOneThatWaitsItsTurn_EndsIt()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var first = await _hall.SendAndStandAsync(hub);
        var second = await hub.SendAsync(to: ToHall);
        Assert.Equal(WithdrawStatus.Withdrawn, await hub.Hub.WithdrawAsync("demo", second, "withdrawn", null, CancellationToken.None));
        await Waiting.UntilAsync(() => hub.Hub.FanOuts == 1, "the second to end");
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.All(hub.Pushed, pushed => Assert.Equal(first, pushed));
        await hub.AssertAllEndAsync(first, second);
    }

    [Fact]
    public async Task Withdraw_ThatCannotBeWritten_LetsItGoOn()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var id = await _hall.SendAndStandAsync(hub);
        hub.Journal.WithdrawalSync = Task.FromException(new StoreUnavailableException("The disk is full."));
        await Assert.ThrowsAsync<StoreUnavailableException>(() => hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None).AsTask());
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal(Members, hub.Pushed.Count);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Answer_InMidFanOut_DoesNotWaitForTheRest()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (link, key) = await hub.OpenAsync("tab", user: "u0000");
        var id = await _hall.SendAndStandAsync(hub);
        Assert.Equal([id], link.Ids);
        hub.Hub.Router.Answered(key, id, "answered", null);
        await Waiting.UntilAsync(() => hub.Journal.Milestones.Any(m => m is { Kind: MilestoneKind.Withdrawn, User: "u0000" }), "the answer");
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Answer_OfAGuestWhoThenBecomesAMember_RingsNoPhone()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (link, key) = await hub.OpenAsync("tab", user: "v1");
        hub.Hub.Router.Joined(key, ["hall"]);
        var id = await _hall.SendAndStandAsync(hub);
        Assert.Equal([id], link.Ids);
        hub.Hub.Router.Answered(key, id, "answered", null);
        await Waiting.UntilAsync(() => hub.Journal.Milestones.Any(m => m is { Kind: MilestoneKind.Withdrawn, User: "v1" }), "the answer");
        hub.Store.Put("v1", hub.Phone("phone"));
        hub.Store.PutTopic("hall", [.. Names(0, Members), "v1"]);
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30); // his phone would wait for an ack on the tab
        Assert.Equal(Names(0, Members), hub.Fcm.Sent.Select(s => s.User).Order(StringComparer.Ordinal));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task SameTopic_EachMemberGetsEventsInOrderAndACallAtOnce()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var first = await _hall.SendAndStandAsync(hub);
        var second = await hub.SendAsync(to: ToHall);
        hub.Store.PutTopic("hall", Names(0, 200)); // also when the topic became small meanwhile
        var third = await hub.SendAsync(to: ToHall);
        var call = await hub.SendAsync("\"class\":\"call\",\"ttl\":60", ToHall);
        Assert.DoesNotContain(hub.Pushed, id => id == second || id == third);
        await Waiting.UntilAsync(() => hub.Pushed.Count(id => id == call) == 200, "the call");
        _hall.Go(hub);
        await EndedAsync(hub);
        foreach (var ofUser in hub.Fcm.Sent.Where(s => s.Event != call && string.CompareOrdinal(s.User, "u0200") < 0).GroupBy(s => s.User))
        {
            Assert.Equal([first, second, third], ofUser.Select(s => s.Event));
        }

        Assert.Equal(200, hub.Pushed.Count(id => id == third));
        await hub.AssertAllEndAsync(first, second, third, call);
    }

    [Fact]
    public async Task Ttl_EndsInMidFanOut_TheRestIsOneLineAndBooked()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (_, key) = await hub.OpenAsync("tab", user: "u0599"); // who had his turn
        var id = await _hall.SendAndStandAsync(hub, "\"ttl\":20");
        await hub.AckAsync(key, id);
        await hub.PassAsync(30);
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal(First, hub.Pushed.Count);
        var line = Assert.Single(hub.Journal.Settled, m => m.State == "expired");
        Assert.Equal((null, null, "not-reached", Members - First - 1), (line.User, line.Device, line.Reason, line.Members));
        Assert.Equal((Members + 1, Members + 1, 0), hub.Metrics.Ledger.Of("demo").Read(EventClass.Message));
        Assert.Equal(Members - First - 1, hub.Metrics.Snapshot().DeadlinesMissed);
        Assert.Null(hub.Journal.Milestones.Single(m => m.Kind == MilestoneKind.Dispatched).Reason);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Journal_ThatTakesNothing_HoldsUpTheNextPage()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var flushes = 0;
        hub.Journal.Flushing = () => Interlocked.Increment(ref flushes) <= 3
            ? Task.FromException(new StoreUnavailableException("The disk is full."))
            : Task.CompletedTask;
        var id = await hub.SendAsync(to: ToHall);
        await hub.PassUntilAsync(() => Volatile.Read(ref flushes) == 3, "the third try");
        Assert.Equal(First, hub.Pushed.Count);
        await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "the rest");
        await hub.RestAsync();
        Assert.Equal(Members, hub.Pushed.Count);
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData("message", true)]
    [InlineData("call", false)]
    public async Task VeryManyMembers_ItRestsAfterEachPageButForACall(string @class, bool rests)
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("hall", [.. Enumerable.Range(0, 66 * Page).Select(static i => $"u{i:00000}")]);
        hub.Store.Paging = () => hub.Clock.Advance(TimeSpan.FromMilliseconds(10));
        var timers = hub.Clock.PendingTimers;
        var id = await hub.SendAsync($"\"class\":\"{@class}\"", ToHall);
        if (rests)
        {
            await hub.Clock.WaitForTimersAsync(timers + 1, TimeSpan.FromSeconds(60));
            Assert.Equal(1, hub.Hub.FanOuts);
            await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "the last page");
        }

        await EndedAsync(hub);
        hub.AssertAllEnded(id);
    }

    [Fact]
    public async Task Transient_ManyMembers_ReadsNoneOfThem()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (guest, guestKey) = await hub.OpenAsync("tab", user: "guest");
        hub.Hub.Router.Joined(guestKey, ["hall"]);
        var (member, memberKey) = await hub.OpenAsync("tab", user: "u0599");
        var (stranger, _) = await hub.OpenAsync("tab", user: "stranger");
        var (left, leftKey) = await hub.OpenAsync("tab", user: "u0001");
        hub.Hub.Router.Joined(memberKey, ["hall"]);
        hub.Hub.Router.Closed(leftKey);
        var pages = hub.Store.Pages;
        var id = await hub.SendAsync("\"class\":\"transient\"", ToHall);
        Assert.Equal([id], guest.Ids);
        Assert.Equal([id], member.Ids);
        Assert.Empty(stranger.Ids);
        Assert.Empty(left.Ids);
        Assert.Equal(0, hub.Store.Pages - pages);
    }

    [Fact]
    public async Task Publishers_TooManyUnderWay_WaitAndFurtherOnesAreRefused()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("hall", Names(0, Members)); // nobody has a device
        await _hall.SendAndStandAsync(hub, isServed: false);
        for (var i = 1; i < FanOutTable.MostOfApp; i++)
        {
            await hub.SendAsync(to: ToHall);
        }

        var waiting = Enumerable.Range(0, FanOutTable.MostOfApp).Select(_ => hub.Hub.Acceptor.AcceptAsync(hub.NewEvent(to: ToHall)).AsTask()).ToArray();
        Assert.All(waiting, one => Assert.False(one.IsCompleted));
        var refused = await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent(to: ToHall));
        Assert.Equal(AcceptStatus.Overloaded, refused.Status);
        Assert.True(refused.RetryAfter > TimeSpan.Zero);
        await hub.SendAsync(); // to a user: nothing in its way
        _hall.Go(hub);
        await Waiting.UntilAsync(() => hub.Hub.FanOuts == 0, "those under way"); // the clock stands: the patience of the others is on it
        await hub.PassUntilAsync(() => waiting.All(one => one.IsCompleted), "all that waited");
        Assert.All(await Task.WhenAll(waiting), answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "all of them");
    }

    [Fact]
    public async Task Publisher_WhoWaitedTooLong_IsRefusedAndNothingIsStored()
    {
        await using var hub = new HubUnderTest();
        hub.Store.PutTopic("hall", Names(0, Members));
        await _hall.SendAndStandAsync(hub, isServed: false);
        for (var i = 1; i < FanOutTable.MostOfApp; i++)
        {
            await hub.SendAsync(to: ToHall);
        }

        var late = hub.NewEvent(to: ToHall);
        var waiting = hub.Hub.Acceptor.AcceptAsync(late).AsTask();
        await hub.PassUntilAsync(() => waiting.IsCompleted, "its patience");
        Assert.Equal(AcceptStatus.Overloaded, (await waiting).Status);
        _hall.Go(hub);
        await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "all of them");
        Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(late)).Status);
    }
}
