using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.Core.Tests.Shards;

/// <summary>Pages that have their session alone, over the end of a process: what was answered 202 waits a minute for them.</summary>
public sealed class HubReturnTests
{
    [Fact]
    public async Task Killed_BeforeAnythingWasPlanned_GoesToThePageThatComesBack()
    {
        var old = new HubUnderTest();
        var accepted = old.NewEvent();
        await old.Journal.AppendAsync(accepted, CancellationToken.None);
        await using var hub = await old.CrashAsync(awaitsReturns: true);
        Assert.Empty(hub.Journal.Finished);
        var (link, key) = await hub.OpenAsync("tab");
        await TestKit.Waiting.UntilAsync(() => link.Ids.Contains(accepted.Id), "the event");
        await hub.AckAsync(key, accepted.Id);
        Assert.Equal("acked", hub.Journal.EndOf(accepted.Id, "tab"));
        Assert.Contains(hub.Journal.Milestones, m => m is { Kind: MilestoneKind.Dispatched, Reason: null });
        hub.Hub.Router.Closed(key);
        await hub.PassAsync(70);
        hub.AssertAllEnded(accepted.Id);
    }

    [Fact]
    public async Task Accepted_InTheMinuteAfterAStart_WaitsForThePage_AndIsNotSaidToHaveNoDevices()
    {
        await using var hub = await new HubUnderTest().CrashAsync(awaitsReturns: true);
        var (first, second) = (hub.NewEvent(), hub.NewEvent());
        foreach (var accepted in new[] { first, second })
        {
            Assert.Equal((AcceptStatus.Accepted, false), (await hub.Hub.Acceptor.AcceptAsync(accepted)) is var answer ? (answer.Status, answer.HasNoDevices) : default);
        }

        var (link, key) = await hub.OpenAsync("tab");
        await TestKit.Waiting.UntilAsync(() => link.Ids.Count == 2, "both events");
        Assert.Equal([first.Id, second.Id], link.Ids);
        await hub.AckAsync(key, first.Id, second.Id);
        hub.AssertLedger();
    }

    [Fact]
    public async Task Accepted_NobodyComes_EndsWithoutDevicesAfterTheMinute()
    {
        await using var hub = await new HubUnderTest().CrashAsync(awaitsReturns: true);
        var accepted = hub.NewEvent();
        await hub.Hub.Acceptor.AcceptAsync(accepted);
        Assert.Empty(hub.Journal.Finished);
        await hub.PassAsync(61);
        await TestKit.Waiting.UntilAsync(() => hub.Journal.Finished.Count == 1, "its end");
        var end = Assert.Single(hub.Journal.Milestones, m => m.Kind == MilestoneKind.Dispatched);
        Assert.Equal((PlanReasons.NoDevices, "ada"), (end.Reason, end.User));
        hub.AssertAllEnded(accepted.Id);
        Assert.True((await hub.Hub.Acceptor.AcceptAsync(hub.NewEvent())).HasNoDevices);
    }

    [Fact]
    public async Task Withdrawn_WhileItWaits_IsNotGiven()
    {
        await using var hub = await new HubUnderTest().CrashAsync(awaitsReturns: true);
        var (taken, left) = (hub.NewEvent(), hub.NewEvent());
        await hub.Hub.Acceptor.AcceptAsync(taken);
        await hub.Hub.Acceptor.AcceptAsync(left);
        await hub.Hub.WithdrawAsync("demo", taken.Id, "withdrawn", null, CancellationToken.None);
        var (link, _) = await hub.OpenAsync("tab");
        await TestKit.Waiting.UntilAsync(() => link.Ids.Count > 0, "the other event");
        await hub.RestAsync();
        Assert.Equal([left.Id], link.Ids);
    }

    [Fact]
    public async Task Accepted_WhileTheHubStops_IsTheNextOnes()
    {
        var old = new HubUnderTest();
        var (_, key) = await old.OpenAsync("tab");
        old.Hub.BeginStop();
        old.Hub.Router.Closed(key);
        var accepted = old.NewEvent();
        Assert.False((await old.Hub.Acceptor.AcceptAsync(accepted)).HasNoDevices);
        Assert.Empty(old.Journal.Finished);
        await using var hub = await old.CrashAsync(awaitsReturns: true);
        var (link, _) = await hub.OpenAsync("tab");
        await TestKit.Waiting.UntilAsync(() => link.Ids.Contains(accepted.Id), "the event");
    }

    [Fact]
    public async Task Stopped_WhatWaitsForADetachedSession_IsTheNextOnes()
    {
        var old = new HubUnderTest();
        var (_, key) = await old.OpenAsync("tab");
        old.Hub.Router.Detached(key);
        var id = await old.SendAsync();
        old.Hub.BeginStop();
        old.Hub.Router.Closed(key);
        await old.PassAsync(5);
        Assert.Null(old.Journal.EndOf(id, "tab"));
        await using var hub = await old.CrashAsync(awaitsReturns: true);
        var (link, _) = await hub.OpenAsync("tab");
        await TestKit.Waiting.UntilAsync(() => link.Ids.Contains(id), "the event");
        Assert.Single(link.Ids);
    }
}
