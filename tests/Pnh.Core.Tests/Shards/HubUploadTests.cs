using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>Many events at a time: they wait where single ones are refused.</summary>
public sealed class HubUploadTests
{
    private const string Bulk = "\"class\":\"bulk\"";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task AcceptMany_TenUploadsInOneSlowFlush_LoseNoEventAndLeaveSingleOnesTheirPlaces()
    {
        await using var hub = new HubUnderTest();
        var sync = Close(hub);
        var uploads = Enumerable.Range(0, 10).Select(_ => hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 256)).AsTask()).ToArray();
        var single = hub.Hub.Acceptor.AcceptAsync(hub.NewEvent(Bulk)).AsTask();
        Assert.False(single.IsCompleted);

        sync.SetResult();
        Assert.Equal(AcceptStatus.Accepted, (await single.WaitAsync(Patience)).Status);
        foreach (var upload in await Task.WhenAll(uploads).WaitAsync(Patience))
        {
            Assert.Equal(256, upload.Count(static answer => answer.Status == AcceptStatus.Accepted));
        }
    }

    [Fact]
    public async Task AcceptMany_MoreAtOnceThanAnAppHasPlaces_IsTaken()
    {
        await using var hub = new HubUnderTest();
        var answers = await hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 3_000)).AsTask().WaitAsync(Patience);
        Assert.All(answers, static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        Assert.Empty(await hub.Hub.Acceptor.AcceptManyAsync([]));
    }

    [Fact]
    public async Task AcceptMany_HubStopsWhileOneWaits_AnswersEachOfIt()
    {
        await using var hub = new HubUnderTest();
        await hub.Hub.StartAsync(CancellationToken.None);
        var sync = Close(hub);
        var inside = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 768)).AsTask();
        var waiting = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 5)).AsTask();
        await hub.Hub.StopAsync(CancellationToken.None).WaitAsync(Patience);

        Assert.Equal(Enumerable.Repeat(AcceptStatus.Stopping, 5), (await waiting.WaitAsync(Patience)).Select(static answer => answer.Status));
        Assert.False(inside.IsCompleted);
        sync.SetResult();
        Assert.All(await inside.WaitAsync(Patience), static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
    }

    [Fact]
    public async Task AcceptMany_SenderGoesWhileItWaits_TakesNothing()
    {
        await using var hub = new HubUnderTest();
        var sync = Close(hub);
        using var aborted = new CancellationTokenSource();
        var inside = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 768)).AsTask();
        var gone = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 256), cancellationToken: aborted.Token).AsTask();
        await aborted.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => gone.WaitAsync(Patience));
        sync.SetResult();
        await inside.WaitAsync(Patience);
        Assert.Equal(768, hub.Metrics.Snapshot().Events.Sum(static e => e.Count));
    }

    [Fact]
    public async Task AcceptMany_LanesFilledWhileItWaited_WaitsForThemToo()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"));
        var answer = new TaskCompletionSource<DeliveryResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Fcm.Answer = (_, _) => new ValueTask<DeliveryResult>(answer.Task);
        var sync = Close(hub);
        var inside = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 768)).AsTask();
        var waiting = hub.Hub.Acceptor.AcceptManyAsync(Events(hub, 1)).AsTask();
        var timers = hub.Clock.PendingTimers;
        sync.SetResult();
        await inside.WaitAsync(Patience);

        await hub.Clock.WaitForTimersAsync(timers + 1, Patience);
        Assert.False(waiting.IsCompleted);
        hub.Clock.Advance(TimeSpan.FromMilliseconds(10)); // nothing was taken from the lanes: a provider that hangs holds up nobody
        Assert.Equal(AcceptStatus.Accepted, Assert.Single(await waiting.WaitAsync(Patience)).Status);
        answer.SetResult(DeliveryResult.Of(DeliveryStatus.Accepted));
        await hub.RestAsync();
    }

    [Fact]
    public async Task AcceptMany_CallsWaitedForPlaces_AreTakenWhenTheyAreLetIn()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Clock.Advance(TimeSpan.FromSeconds(1)); // a timestamp of 0 stands for none
        var sync = Close(hub);
        var inside = hub.Hub.Acceptor.AcceptManyAsync(Calls(hub, 768, """{"user":"nobody"}""")).AsTask();
        List<Event> calls = [.. Calls(hub, 100, """{"user":"ada"}"""), hub.NewEvent("\"class\":\"call\",\"ttl\":0")];
        var waiting = hub.Hub.Acceptor.AcceptManyAsync(calls).AsTask();
        hub.Clock.Advance(TimeSpan.FromSeconds(2));
        Assert.Empty(link.Frames);
        sync.SetResult();
        await inside.WaitAsync(Patience);

        Assert.All(await waiting.WaitAsync(Patience), static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));
        Assert.Equal(calls.Select(static call => call.Id), link.Ids);
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
        Assert.Equal(Enumerable.Range(-100, 101).Select(tick => hub.Now.AddTicks(tick)), link.Frames.Select(static frame => frame.AcceptedAt));
        Assert.All(link.Frames.SkipLast(1), static frame => Assert.Equal(frame.AcceptedAt + TimeSpan.FromSeconds(30), frame.ExpiresAt));
        Assert.Equal(hub.Now, link.Frames[^1].ExpiresAt);
        Assert.Equal(hub.Now.AddTicks(-100), (await hub.Journal.FindAsync("demo", calls[0].Id, CancellationToken.None))!.AcceptedAt);
        await hub.AckAsync(key, link.Ids);
    }

    [Fact]
    public async Task AcceptMany_CallsWaitedForCalm_AreTakenAfterIt()
    {
        await using var hub = new HubUnderTest();
        var (link, key) = await hub.OpenAsync("tab");
        hub.Clock.Advance(TimeSpan.FromSeconds(1));
        var calls = Calls(hub, 2, """{"user":"ada"}""");
        hub.Hub.Acceptor.Observe(TimeSpan.FromMilliseconds(4), TimeSpan.Zero);
        var timers = hub.Clock.PendingTimers;
        var waiting = hub.Hub.Acceptor.WaitForRoomAsync(TimeSpan.FromSeconds(10), CancellationToken.None).AsTask();
        await hub.Clock.WaitForTimersAsync(timers + 1, Patience);
        hub.Hub.Acceptor.Observe(TimeSpan.Zero, TimeSpan.Zero);
        hub.Clock.Advance(TimeSpan.FromSeconds(2));
        var hasWaited = await waiting.WaitAsync(Patience);
        Assert.True(hasWaited);
        Assert.False(await hub.Hub.Acceptor.WaitForRoomAsync(TimeSpan.FromSeconds(10), CancellationToken.None));

        await hub.Hub.Acceptor.AcceptManyAsync(calls, hasWaited);
        Assert.Equal(calls.Select(static call => call.Id), link.Ids);
        Assert.Equal(0, hub.Metrics.Snapshot().DeadlinesMissed);
        await hub.AckAsync(key, link.Ids);
    }

    [Fact]
    public async Task AcceptMany_WaitedForPlaces_StandInTheMailboxInTheirOrder()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.NewDevice("tablet"));
        string[] ids = ["c", "b", "a"];
        var sync = Close(hub);
        var inside = hub.Hub.Acceptor.AcceptManyAsync(Calls(hub, 768, """{"user":"nobody"}""")).AsTask();
        var waiting = hub.Hub.Acceptor.AcceptManyAsync([.. ids.Select(id => hub.Parse($$$"""{"id":"{{{id}}}","class":"call","to":{"user":"ada"}}"""))]).AsTask();
        sync.SetResult();
        await inside.WaitAsync(Patience);
        Assert.All(await waiting.WaitAsync(Patience), static answer => Assert.Equal(AcceptStatus.Accepted, answer.Status));

        var ada = new UserKey("demo", "ada");
        var found = await hub.Hub.Inbox.ReadAsync(ada, "tablet", null, CancellationToken.None);
        Assert.Equal(ids, found.Items.Select(static item => item.Id));
        await hub.Hub.Inbox.AckAsync(ada, "tablet", ids, CancellationToken.None);
    }

    private static TaskCompletionSource Close(HubUnderTest hub)
    {
        var sync = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.Journal.Sync = sync.Task;
        return sync;
    }

    private static List<Event> Calls(HubUnderTest hub, int count, string to) =>
        [.. Enumerable.Range(0, count).Select(_ => hub.NewEvent("\"class\":\"call\"", to))];

    private static List<Event> Events(HubUnderTest hub, int count) => [.. Enumerable.Range(0, count).Select(_ => hub.NewEvent(Bulk))];
}
