using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.TestKit;
using static Pnh.Core.Tests.Shards.Hall;

namespace Pnh.Core.Tests.Shards;

/// <summary>Members who have a session get an event of a topic of many at once, whatever happens before their page comes: once each, in order, with one end for each device.</summary>
public sealed class HubEarlyTurnTests
{
    private const int Lanes = 10;

    // On the third page.
    private const string Late = "u0599";
    private readonly Hall _hall = new();

    [Fact]
    public async Task Session_OfAMemberAndOfAGuest_GetItBeforeThePages()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (guest, guestKey) = await hub.OpenAsync("tab", user: "guest");
        hub.Hub.Router.Joined(guestKey, ["hall"]);
        var (both, bothKey) = await hub.OpenAsync("tab", user: "u0598");
        hub.Hub.Router.Joined(bothKey, ["hall"]);
        var (member, _) = await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        Assert.Equal([id], guest.Ids);
        Assert.Equal([id], both.Ids);
        Assert.Equal([id], member.Ids);
        Assert.Equal(PlanReasons.JoinedTopic, ReasonOf(hub, "guest", "tab"));
        Assert.Equal(PlanReasons.ActiveSession, ReasonOf(hub, "u0598", "tab"));
        Assert.Equal(PlanReasons.ActiveElsewhere, ReasonOf(hub, Late, "phone"));

        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal([id], both.Ids);
        Assert.Equal([id], member.Ids);
        Assert.Equal(Members - 2, hub.Pushed.Count);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task AllHaveSessions_NoPageIsRead()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var links = new List<FakeLink>();
        foreach (var name in Names(0, Members))
        {
            links.Add((await hub.OpenAsync("tab", user: name)).Link);
        }

        var pages = hub.Store.Pages;
        var id = await hub.SendAsync(to: ToHall);
        await EndedAsync(hub);
        Assert.All(links, link => Assert.Equal([id], link.Ids));
        Assert.Equal(0, hub.Store.Pages - pages);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task SomeHaveNone_AfterAStride_EachPageIsAsLongAsAnyOther()
    {
        await using var hub = new HubUnderTest();
        var names = Enumerable.Range(0, 2_000).Select(static i => $"u{i:0000}").ToArray();
        hub.Store.PutTopic("hall", names);
        Array.ForEach(names, name => hub.Store.Put(name, hub.Phone("phone")));
        foreach (var name in names[..300])
        {
            await hub.OpenAsync("tab", user: name);
        }

        var id = await hub.SendAsync(to: ToHall);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.Equal(names, hub.Fcm.Sent.Select(sent => sent.User).Order(StringComparer.Ordinal));
        Assert.Equal(
            ["u0555", "u0811", "u1067", "u1323", "u1579", "u1835", "u1999"],
            hub.Journal.Milestones.Where(static m => m.Kind == MilestoneKind.Reached).Select(static m => m.Reason));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Ack_BeforeThePage_NothingMoreComes()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        hub.Store.Put(Late, hub.Phone("tab"), hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        await hub.AckAsync(key, id);
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.Equal([id], link.Ids);
        Assert.DoesNotContain(hub.Fcm.Sent, sent => sent.User == Late);
        Assert.Equal("acked", hub.Journal.EndOf(id, "tab", Late));
        Assert.Equal("suppressed:acked-elsewhere", hub.Journal.EndOf(id, "phone", Late));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Ack_TheWaitBeginsWithTheFrame()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        hub.Store.Put(Late, hub.Phone("tab"));
        await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        await hub.PassAsync(3.1);
        Assert.Contains(hub.Fcm.Sent, sent => sent.User == Late);
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Single(hub.Fcm.Sent, sent => sent.User == Late);
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Session_OpensBeforeThePage_GetsEventsInOrder(bool isCold)
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var first = await _hall.SendAndStandAsync(hub);
        var (link, key) = await hub.OpenAsync("tab", user: Late);
        hub.Store.IsCold = isCold;
        Assert.Empty(link.Ids);
        var second = await hub.SendAsync(to: ToHall);
        Assert.Equal([first, second], link.Ids);
        var third = await hub.SendAsync(to: ToHall);
        await hub.AckAsync(key, first, second, third);
        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal([first, second, third], link.Ids);
        Assert.DoesNotContain(hub.Fcm.Sent, sent => sent.User == Late);
        await hub.AssertAllEndAsync(first, second, third);
    }

    [Fact]
    public async Task Session_ClosesBeforeThePage_ItsDevicesAreLeftAlone()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        hub.Store.Put(Late, hub.Phone("tab"), hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        hub.Hub.Router.Closed(key);
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.Equal([id], link.Ids);
        Assert.Equal(["phone", "tab"], hub.Fcm.Sent.Where(sent => sent.User == Late).Select(sent => sent.Device).Order(StringComparer.Ordinal));
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Session_WhoseDeviceIsRegisteredBeforeThePage_GetsItOnce()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (link, key) = await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        hub.Store.Put(Late, hub.Phone("phone"), hub.Phone("tab"), hub.Phone("new"));
        await hub.AckAsync(key, id);
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.Equal([id], link.Ids);
        Assert.DoesNotContain(hub.Fcm.Sent, sent => sent.User == Late);
        await hub.AssertAllEndAsync(id);
    }

    [Fact]
    public async Task Guest_WhoBecomesAMemberBeforeThePage_HasItOnceOnEachDevice()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (link, key) = await hub.OpenAsync("tab", user: "v1");
        hub.Hub.Router.Joined(key, ["hall"]);
        var id = await _hall.SendAndStandAsync(hub);
        await hub.AckAsync(key, id);
        hub.Store.Put("v1", hub.Phone("phone"), hub.Phone("tab"));
        hub.Store.PutTopic("hall", [.. Names(0, Members), "v1"]);
        var second = await hub.SendAsync(to: ToHall);
        Assert.Equal([id, second], link.Ids);
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.Equal([id, second], link.Ids);
        Assert.Equal([id, second], hub.Fcm.Sent.Where(sent => sent is { User: "v1", Device: "phone" }).Select(sent => sent.Event));
        Assert.DoesNotContain(hub.Fcm.Sent, sent => sent is { User: "v1", Device: "tab" } && sent.Event == id);
        await hub.AssertAllEndAsync(id, second);
    }

    [Fact]
    public async Task Member_WhoCannotBeRead_IsLeftToHisPage()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (link, _) = await hub.OpenAsync("tab", user: Late);
        var (other, _) = await hub.OpenAsync("tab", user: "u0598");
        hub.Store.Unreadable.Add(Late);
        hub.Store.CutAfter.Add("");
        var id = await hub.SendAsync(to: ToHall);
        Assert.Equal([id], other.Ids); // members cannot be read either, and he does not wait for them
        Assert.Empty(link.Ids);
        hub.Store.CutAfter.Clear();
        hub.Store.Unreadable.Clear();
        await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "the rest");
        await hub.RestAsync();
        Assert.Equal([id], link.Ids);
        Assert.Equal([id], other.Ids);
        await hub.AssertAllEndAsync(id);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Withdraw_BeforeThePage_NobodyGetsItEarly(bool isWritten)
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var first = await _hall.SendAndStandAsync(hub);
        var written = new TaskCompletionSource();
        hub.Journal.WithdrawalSync = written.Task;
        var taken = hub.Hub.WithdrawAsync("demo", first, "withdrawn", null, CancellationToken.None).AsTask();
        var (link, _) = await hub.OpenAsync("tab", user: Late);
        var second = await hub.SendAsync(to: ToHall);
        Assert.Equal([second], link.Ids);
        if (isWritten)
        {
            written.SetResult();
            await taken;
        }
        else
        {
            written.SetException(new Pnh.Core.Stores.StoreUnavailableException("The disk is full."));
            await Assert.ThrowsAsync<Pnh.Core.Stores.StoreUnavailableException>(() => taken);
        }

        _hall.Go(hub);
        await EndedAsync(hub);
        Assert.Equal(isWritten ? [second] : [second, first], link.Ids);
        await hub.AssertAllEndAsync(first, second);
    }

    [Fact]
    public async Task Answer_BeforeThePage_EndsItOnTheMembersOtherDevices()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        var (_, key) = await hub.OpenAsync("tab", user: Late);
        var id = await _hall.SendAndStandAsync(hub);
        hub.Hub.Router.Answered(key, id, "answered", null);
        await Waiting.UntilAsync(() => hub.Journal.Milestones.Any(m => m is { Kind: MilestoneKind.Withdrawn, User: Late }), "the answer");
        _hall.Go(hub);
        await EndedAsync(hub);
        await hub.PassAsync(30);
        Assert.DoesNotContain(hub.Fcm.Sent, sent => sent.User == Late);
        await hub.AssertAllEndAsync(id);
    }

    // At: 0 = the members with sessions were planned, 1 = and one of them acknowledged, 2 = and a session that opened then had its turn early.
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Kill_BeforeThePage_EachDeviceHasItOnceAndOneEnd(int at)
    {
        var old = new HubUnderTest();
        old.Fcm.MaxInFlight = 1; // of several under way nobody knows which is sent first
        Fill(old);
        old.Store.Put("u0598", old.Phone("tab"), old.Phone("phone"));
        var (_, key) = await old.OpenAsync("tab", user: "u0598");
        var first = await _hall.SendAndStandAsync(old);
        List<string> events = [first];
        if (at > 0)
        {
            await old.AckAsync(key, first);
        }

        if (at > 1)
        {
            var (early, _) = await old.OpenAsync("tab", user: Late);
            events.Add(await old.SendAsync(to: ToHall));
            Assert.Equal(events, early.Ids);
        }

        await using var hub = await old.CrashAsync();
        var (link, _) = await hub.OpenAsync("tab", user: "u0598");
        var (late, lateKey) = await hub.OpenAsync("tab", user: Late);
        events.Add(await hub.SendAsync(to: ToHall));
        await hub.PassUntilAsync(() => hub.Hub.FanOuts == 0, "the rest");
        await hub.AckAsync(key with { Session = "inbox" }, events);
        await hub.AckAsync(lateKey, events);
        await hub.PassAsync(30);
        Assert.Equal(at == 0 ? events : events[1..], link.Ids);
        Assert.Equal(events[^1], late.Ids[^1]);
        Assert.Equal(late.Ids.Order(StringComparer.Ordinal), late.Ids);
        Assert.Equal(late.Ids.Distinct(), late.Ids);

        // Nobody was here after the restart, so that what was not acknowledged was pushed.
        Assert.Equal(at == 0, hub.Fcm.Sent.Any(sent => sent.User == "u0598" && sent.Event == first));
        foreach (var ofDevice in hub.Fcm.Sent.GroupBy(sent => (sent.User, sent.Device)))
        {
            Assert.Equal(events.Where(ofDevice.Select(sent => sent.Event).Contains), ofDevice.Select(sent => sent.Event));
            Assert.True(ofDevice.Key.User is Late or "u0598" || ofDevice.Count() == events.Count, $"{ofDevice.Key}");
        }

        await hub.AssertAllEndAsync([.. events]);
    }

    [Fact]
    public async Task Churn_SessionsComeAndGoWhileEventsFollowEachOther_OrderAndOnce()
    {
        await using var hub = new HubUnderTest();
        Fill(hub);
        using var stop = new CancellationTokenSource();
        var links = new System.Collections.Concurrent.ConcurrentBag<FakeLink>();
        var churn = Enumerable.Range(0, Lanes).Select(lane => Task.Run(() => ChurnAsync(hub, lane, links, stop.Token))).ToArray();
        var events = new List<string>();
        for (var i = 0; i < 60; i++)
        {
            var accepted = hub.NewEvent("\"ttl\":3600", ToHall);
            Assert.Equal(AcceptStatus.Accepted, (await hub.Hub.Acceptor.AcceptAsync(accepted)).Status);
            events.Add(accepted.Id);
            await Task.Delay(1);
        }

        await stop.CancelAsync();
        await Task.WhenAll(churn);
        await EndedAsync(hub);
        var places = events.Select(static (id, place) => (id, place)).ToDictionary(static each => each.id, static each => each.place);
        foreach (var link in links)
        {
            var seen = link.Ids.Select(id => places[id]).ToList();
            Assert.Equal(seen.Order(), seen);
            Assert.Equal(seen.Distinct(), seen);
        }

        // Lanes ask providers side by side, so it is the plans that tell the order.
        var plans = hub.Journal.Milestones.Where(static m => m.Kind == MilestoneKind.Planned).GroupBy(static m => (m.User, m.Device)).ToList();
        Assert.Equal(Members, plans.Count(static plan => plan.Key.Device == "phone"));
        Assert.All(plans.Where(static plan => plan.Key.Device == "phone"), plan => Assert.Equal(events, plan.Select(static m => m.Event)));
        Assert.True(links.Sum(static link => link.Ids.Count) > 0);
        await hub.AssertAllEndAsync([.. events]);
    }

    private static async Task ChurnAsync(HubUnderTest hub, int lane, System.Collections.Concurrent.ConcurrentBag<FakeLink> links, CancellationToken stop)
    {
        var random = new Random(lane);
        while (!stop.IsCancellationRequested)
        {
            var link = new FakeLink();
            links.Add(link);
            var key = new SessionKey("demo", $"u{(random.Next(Members / Lanes) * Lanes) + lane:0000}", "tab", Guid.NewGuid().ToString("N"));
            await hub.Hub.Router.OpenedAsync(new SessionOpened(key, SessionState.Background, link, hub.Now), CancellationToken.None);
            await Task.Delay(random.Next(4), CancellationToken.None);
            hub.Hub.Router.Closed(key);
        }
    }

    private static string? ReasonOf(HubUnderTest hub, string user, string device) =>
        hub.Journal.Milestones.First(m => m.Kind == MilestoneKind.Planned && m.User == user && m.Device == device).Reason;
}
