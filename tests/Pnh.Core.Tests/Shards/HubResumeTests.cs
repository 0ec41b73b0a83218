using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>Sessions without a connection for a while.</summary>
public sealed class HubResumeTests
{
    [Fact]
    public async Task Detached_RegisteredDevice_IsPushedLikeOffline()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (link, key) = await hub.OpenAsync("phone");
        hub.Hub.Router.Detached(key);
        Assert.Empty(hub.Hub.Router.Sessions(new("demo", "ada")));
        Assert.Equal(0, hub.Metrics.Snapshot().ActiveSessions);
        var id = await hub.SendAsync();
        Assert.Equal([id], hub.Pushed);
        Assert.Empty(link.Ids);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.RestAsync();
        Assert.Equal([id], link.Ids); // accepted by the provider, and waits all the same
        Assert.Equal(1, hub.Metrics.Snapshot().ActiveSessions);
    }

    [Fact]
    public async Task Resumed_WhatItHasIsNotSentAgainAndTheRestIsInOrder()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        var before = await hub.SendAsync();
        hub.Hub.Router.Detached(key);
        string[] meanwhile = [await hub.SendAsync(), await hub.SendAsync()];
        Assert.Equal([before], link.Ids);
        Assert.Contains(hub.Journal.Milestones, m => m.Event == meanwhile[0] && m.Reason == PlanReasons.DetachedSession);
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Background, null, CancellationToken.None));
        await hub.RestAsync();
        var after = await hub.SendAsync();
        Assert.Equal([before, .. meanwhile, after], link.Ids);
        Assert.Equal(1, hub.Metrics.Snapshot().BackgroundSessions);
        await hub.AckAsync(key, link.Ids);
        hub.AssertAllEnded([before, .. meanwhile, after]);
    }

    [Fact]
    public async Task Resumed_WhileBodiesAreRead_NewerDoesNotOvertake()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Detached(key);
        var older = await hub.SendAsync();
        var reading = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Reading = reading.Task;
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        var newer = hub.NewEvent();
        var call = hub.NewEvent("\"class\":\"call\"");
        await hub.Hub.Acceptor.AcceptAsync(newer);
        await hub.Hub.Acceptor.AcceptAsync(call);
        Assert.Equal([call.Id], link.Ids); // calls may
        reading.SetResult();
        await hub.RestAsync();
        Assert.Equal([call.Id, older, newer.Id], link.Ids);
    }

    [Fact]
    public async Task Closed_WhileBodiesAreRead_NextSessionGetsThemOnce()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        string[] ids = [await hub.SendAsync(), await hub.SendAsync()];
        var reading = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Reading = reading.Task;
        var first = new SessionKey("demo", "ada", "tablet", "s1");
        var (lost, link) = (new FakeLink(), new FakeLink());
        await hub.Hub.Router.OpenedAsync(new SessionOpened(first, SessionState.Active, lost, hub.Now), CancellationToken.None);
        hub.Hub.Router.Closed(first);
        await hub.Hub.Router.OpenedAsync(new SessionOpened(first with { Session = "s2" }, SessionState.Active, link, hub.Now), CancellationToken.None);
        reading.SetResult();
        await hub.RestAsync();
        Assert.Empty(lost.Ids);
        Assert.Equal(ids, link.Ids);
    }

    [Fact]
    public async Task Resumed_ReplacedOrUnknown_IsRefused()
    {
        await using var hub = new HubUnderTest();
        var (old, first) = await hub.OpenAsync("tab", session: "s1");
        hub.Hub.Router.Detached(first);
        var (_, second) = await hub.OpenAsync("tab", session: "s2");
        Assert.Equal(SessionClose.Replaced, old.ClosedWith);
        Assert.False(await hub.Hub.Router.ResumedAsync(first, SessionState.Active, null, CancellationToken.None));
        Assert.False(await hub.Hub.Router.ResumedAsync(second with { User = "eve" }, SessionState.Active, null, CancellationToken.None));
        Assert.Equal(1, hub.Metrics.Snapshot().ActiveSessions);
        hub.Hub.Router.Closed(first);
        hub.Hub.Router.Closed(second);
        Assert.Equal((0, 0), (hub.Hub.Shards.Users, hub.Metrics.Snapshot().ActiveSessions));
    }

    [Fact]
    public async Task Resumed_OldConnectionHung_IsCountedOnce()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Background, null, CancellationToken.None));
        Assert.Equal((0, 1), (hub.Metrics.Snapshot().ActiveSessions, hub.Metrics.Snapshot().BackgroundSessions));
    }

    [Fact]
    public async Task Detached_FramePushTimerGoesOn()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var (_, key) = await hub.OpenAsync("phone");
        var id = await hub.SendAsync();
        hub.Hub.Router.Detached(key);
        await hub.PassAsync(3.2);
        Assert.Equal([id], hub.Pushed);
    }

    [Fact]
    public async Task Closed_AfterDetached_UnregisteredEndsAtOnce()
    {
        await using var hub = new HubUnderTest();
        var (_, key) = await hub.OpenAsync("tab");
        var framed = await hub.SendAsync();
        hub.Hub.Router.Detached(key);
        var missed = await hub.SendAsync();
        await hub.PassAsync(59);
        Assert.Null(hub.Journal.EndOf(framed, "tab"));
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(1);
        Assert.Equal(("failed:device-gone", "failed:device-gone"), (hub.Journal.EndOf(framed, "tab"), hub.Journal.EndOf(missed, "tab")));
        hub.AssertAllEnded(framed, missed);
        Assert.Equal(0, hub.Hub.Shards.Users);
    }

    [Fact]
    public async Task Detached_Transient_IsNotKept()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Hub.Router.Detached(key);
        await hub.SendAsync("\"class\":\"transient\"");
        Assert.True(await hub.Hub.Router.ResumedAsync(key, SessionState.Active, null, CancellationToken.None));
        await hub.RestAsync();
        Assert.Empty(link.Ids);
        Assert.Contains(hub.Metrics.Snapshot().Deliveries, d => d.Status == DeliveryStatus.Suppressed);
    }
}
