using System.Collections.Concurrent;
using System.Net.WebSockets;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>Links that get copies: what they get, and what they may not do to the hub.</summary>
public sealed class TeeTests
{
    [Fact]
    public async Task Copy_EventsOfItsApp_ArriveOnceAndInOrder()
    {
        await using var scene = await LinkScene.StartAsync();
        using var stop = new CancellationTokenSource();
        var (copies, said) = (new ConcurrentQueue<TeeCopy>(), new ConcurrentQueue<string>());
        var client = new TeeClient([scene.TeeAddress], "key", LinkScene.Edge("tee"), copies.Enqueue, said.Enqueue, TimeProvider.System);
        var running = client.RunAsync(stop.Token);
        await Waiting.UntilAsync(() => scene.Tees.Count == 1);

        var first = Events.Make("e-1");
        scene.Tees.Copy(first);
        scene.Tees.Copy(Events.Make("t-1", EventClass.Transient));
        scene.Tees.Copy(Events.Make("c-1", EventClass.Call));
        await Waiting.UntilAsync(() => copies.Count == 3);

        Assert.Equal(["c-1", "e-1", "t-1"], copies.Select(static copy => copy.Id).Order(StringComparer.Ordinal));
        var copy = copies.Single(static copy => copy.Id == "e-1");
        Assert.Equal((first.App, first.AcceptedAt, first.ExpiresAt, first.TraceParent), (copy.App, copy.AcceptedAt, copy.ExpiresAt, copy.TraceParent));
        Assert.True(first.Body.Span.SequenceEqual(copy.Body.Span));
        Assert.Contains("copies come from hub", Assert.Single(said), StringComparison.Ordinal);

        await stop.CancelAsync();
        await running.WaitAsync(SocketHost.Patience);
        await Waiting.UntilAsync(() => scene.Tees.Count == 0);
        scene.Tees.Copy(Events.Make("e-2")); // to nobody
    }

    [Fact]
    public async Task Copy_EventOfAnotherApp_IsNotItsOwn()
    {
        await using var scene = await LinkScene.StartAsync();
        using var tee = await BeginAsync(scene, LinkScene.Edge("tee") with { Apps = ["other"] });
        scene.Tees.Copy(Events.Make("e-1"));
        ReadOnlyMemory<byte> batch = await LinkScene.ReadAsync(tee);
        Assert.True(LinkReader.TryTake(ref batch, out var kind, out _));
        Assert.Equal(LinkItemKind.Beat, kind);
    }

    [Fact]
    public async Task Client_HubGoesAndComesBack_DialsAgainAndSaysSo()
    {
        await using var scene = await LinkScene.StartAsync();
        using var stop = new CancellationTokenSource();
        var (copies, said) = (new ConcurrentQueue<TeeCopy>(), new ConcurrentQueue<string>());
        var running = new TeeClient([scene.TeeAddress], "key", LinkScene.Edge("tee"), copies.Enqueue, said.Enqueue, TimeProvider.System).RunAsync(stop.Token);
        await Waiting.UntilAsync(() => scene.Tees.Count == 1);
        await scene.StopHubAsync();
        await scene.StartHubAsync();
        await Waiting.UntilAsync(() => scene.Tees.Count == 1);
        scene.Tees.Copy(Events.Make("e-1"));
        await Waiting.UntilAsync(() => copies.Count == 1);
        Assert.Contains(said, static line => line.StartsWith("no copies", StringComparison.Ordinal));
        await stop.CancelAsync();
        await running.WaitAsync(SocketHost.Patience);
    }

    [Fact]
    public async Task Tee_SaysAnythingButHello_IsEnded()
    {
        await using var scene = await LinkScene.StartAsync();
        using var tee = await BeginAsync(scene, LinkScene.Edge("tee"));
        await LinkScene.SendAsync(tee, static output =>
        {
            using var item = output.Begin(LinkItemKind.Claim);
            item.Members.Number(1).Key(new("demo", "ada", "tab-1", "s-1")).Number(0);
        });
        await LinkScene.ReadToEndAsync(tee);
        await Waiting.UntilAsync(() => scene.Tees.Count == 0);
        Assert.Contains(scene.Lines("TeeEnded"), static line => line.Contains("a tee says hello, and nothing else", StringComparison.Ordinal));
    }

    /// <summary>The hub notices nothing: no copy waits.</summary>
    [Fact]
    public async Task Tee_ReadsNothing_IsEndedAtItsBound()
    {
        await using var scene = await LinkScene.StartAsync();
        using var slow = await BeginAsync(scene, LinkScene.Edge("slow"));
        var big = $"\"{new string('x', 60_000)}\"";
        for (var i = 0; i < 2_000 && scene.Tees.Count > 0; i++)
        {
            scene.Tees.Copy(Events.Make($"e-{i}", data: big));
            await Task.Yield();
        }

        await Waiting.UntilAsync(() => scene.Tees.Count == 0);
        Assert.Contains(scene.Lines("TeeEnded"), static line => line.Contains("it read too slowly", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("else", LinkHello.Version, "unknown-app")]
    [InlineData("demo", LinkHello.Version + 1, "no-common-version")]
    public async Task Hello_NotOfThisCluster_IsRefusedWithTheReason(string app, int version, string reason)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, kind, first) = await scene.GreetAsync(LinkScene.Edge("tee", version: version) with { Apps = [app], Oldest = version }, scene.TeeAddress);
        using (socket)
        {
            Assert.Equal((LinkItemKind.NotLinked, reason), (kind, first));
            await LinkScene.ReadToEndAsync(socket);
            await Waiting.UntilAsync(() => scene.Refusals.Contains(reason));
            Assert.Equal(0, scene.Tees.Count);
        }
    }

    [Fact]
    public async Task Hello_TeesAreEnough_IsRefused()
    {
        await using var scene = await LinkScene.StartAsync();
        var tees = new List<ClientWebSocket>();
        for (var i = 0; i < TeeServer.MostTees; i++)
        {
            tees.Add(await BeginAsync(scene, LinkScene.Edge($"tee-{i}")));
        }

        using var stop = new CancellationTokenSource();
        var said = new ConcurrentQueue<string>();
        var running = new TeeClient([scene.TeeAddress], "key", LinkScene.Edge("one-more"), static _ => { }, said.Enqueue, TimeProvider.System).RunAsync(stop.Token);
        await Waiting.UntilAsync(() => said.Any(static line => line.Contains("too-many-tees", StringComparison.Ordinal)));
        await stop.CancelAsync();
        await running.WaitAsync(SocketHost.Patience);
        Assert.Equal(TeeServer.MostTees, scene.Tees.Count);
        tees.ForEach(static tee => tee.Dispose());
    }

    private static async Task<ClientWebSocket> BeginAsync(LinkScene scene, LinkHello hello)
    {
        var count = scene.Tees.Count;
        var (socket, kind, _) = await scene.GreetAsync(hello, scene.TeeAddress);
        Assert.Equal(LinkItemKind.Hello, kind);
        await Waiting.UntilAsync(() => scene.Tees.Count == count + 1);
        return socket;
    }
}
