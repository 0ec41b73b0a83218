using System.Collections.Concurrent;
using System.Net.WebSockets;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>Links over real WebSockets: an edge's dialler, and edges that say what no edge says.</summary>
public sealed class LinkServerTests
{
    private static readonly SessionKey Key = new("demo", "ada", "tab-1", "s-1");

    [Fact]
    public async Task Dialler_HubListens_SessionsTalkOverTheLink()
    {
        await using var scene = await LinkScene.StartAsync();
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        var (session, transport) = await OpenAsync(sessions);
        var opened = await scene.Hub.NextOpenedAsync();
        Assert.Equal(Key, opened.Key);
        Assert.Equal(("edge-1", 1), (Assert.Single(scene.Links.Links).Edge.Node, scene.Links.Links[0].Sessions));

        Assert.True(opened.Link.TrySend("s-1", Events.Make("e-1")));
        await Waiting.UntilAsync(() => session.HasWaiting);
        Assert.Equal([(1, "e-1")], transport.Drain(session, null));
        var acked = new TaskCompletionSource<string>();
        scene.Hub.OnAcked = acked.SetResult;
        session.Acknowledge(1);
        Assert.Equal("e-1", await acked.Task.WaitAsync(SocketHost.Patience));

        session.End(SessionEnds.Goodbye);
        session.Report();
        await Waiting.UntilAsync(() => scene.Hub.ClosedCount == 1);
        await Waiting.UntilAsync(() => scene.Links.Links[0].Sessions == 0);
    }

    [Fact]
    public async Task Dialler_HubOfThisVersion_HearsWhatTheNodeHoldsAndTakes()
    {
        var status = new NodeStatus(3, 4, new ProcessUse(500, TimeSpan.FromSeconds(7), 0.25, 71.5, 80_000_000), 9);
        await using var scene = await LinkScene.StartAsync();
        await using (await scene.LinkAsync(LinkScene.Sessions(), status: () => status))
        {
            await Waiting.UntilAsync(() => scene.Links.Nodes.Single().Status is not null);
            Assert.Equal(status, scene.Links.Nodes.Single().Status);
            Assert.Null(scene.Links.Nodes.Single().GoneFor);
        }

        await Waiting.UntilAsync(() => scene.Links.Nodes.Single().GoneFor is not null);
        Assert.Null(scene.Links.Nodes.Single().Status);
    }

    /// <summary>An edge that would end its link for it is not told what its clients have missed: they hear it once it is replaced.</summary>
    [Theory]
    [InlineData(LinkHello.SaysMissed, true)]
    [InlineData(LinkHello.SaysMissed - 1, false)]
    [InlineData(LinkHello.Version, true)]
    public async Task TellMissed_EdgeOfAVersion_IsToldOrNot(int version, bool isTold)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge(version: version));
        using var edge = socket;
        await LinkScene.SendAsync(socket, output => LinkScene.Open(output, Key, version));
        var opened = await scene.Hub.NextOpenedAsync();

        Assert.Equal(isTold, opened.Link.TryTellMissed(opened.Key.Session, new MissedEvents(2, 1)));
        Assert.False(opened.Link.TryTellMissed("another", new MissedEvents(2, 1)));
    }

    /// <summary>An edge reads no event: one that speaks of frames alone is told by an older hub that it has to wait for a newer one.</summary>
    [Fact]
    public async Task Hello_EdgeOfThisVersionAtAnOlderHub_IsRefusedWithTheReason()
    {
        await using var scene = await LinkScene.StartAsync();
        await scene.StopHubAsync();
        await scene.StartHubAsync(version: LinkHello.CarriesFrames - 1);
        var (socket, kind, first) = await scene.GreetAsync(LinkHello.OfEdge("edge-1", ["demo"], "", TimeProvider.System));
        using var _ = socket;
        Assert.Equal((LinkItemKind.NotLinked, "no-common-version"), (kind, first));
    }

    [Fact]
    public async Task Dialler_HubGoesAndComesBack_SessionsStayAndAreSaidAgain()
    {
        await using var scene = await LinkScene.StartAsync();
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        var (session, transport) = await OpenAsync(sessions);
        var link = (await scene.Hub.NextOpenedAsync()).Link;
        var acks = new ConcurrentQueue<string>();
        scene.Hub.OnAcked = acks.Enqueue;
        for (var round = 1; round <= 3; round++)
        {
            Assert.True(link.TrySend("s-1", Events.Make($"a-{round}")));
            Assert.True(link.TrySend("s-1", Events.Make($"b-{round}")));
            var given = new List<(long, string)>();
            await Waiting.UntilAsync(() =>
            {
                given.AddRange(transport.Drain(session, null));
                return given.Count == 2;
            });
            await scene.StopHubAsync();
            await Waiting.UntilAsync(() => !sessions.IsLinked);

            Assert.Equal(1, session.Acknowledge((2 * round) - 1)); // while nobody hears it: a of this round, or b of the one before
            await scene.StartHubAsync();

            await Waiting.UntilAsync(() => sessions.IsLinked);
            var said = scene.Hub.Reopened.Last();
            Assert.Equal((Key, false), (said.Opened.Key, said.IsDetached));
            Assert.Superset(new HashSet<string> { $"a-{round}", $"b-{round}" }, new HashSet<string>(said.Holds)); // and what was not noted yet
            link = said.Opened.Link;
            await Waiting.UntilAsync(() => acks.Contains($"a-{round}"));
            Assert.Equal(1, session.Acknowledge(2 * round));
            await Waiting.UntilAsync(() => acks.Contains($"b-{round}"));
        }

        Assert.Null(transport.Closed);
        Assert.Equal(["a-1", "b-1", "a-2", "b-2", "a-3", "b-3"], acks.Distinct());

        // One line when it is linked, one or two when it is not: however often it dials.
        Assert.InRange(scene.Lines("HubNotLinked").Length, 3, 9);
    }

    /// <summary>A cut that the edge notices first: its newer connection says the session while the hub still has the older one, which ends afterwards.</summary>
    [Fact]
    public async Task Link_NewerConnectionBeforeTheOlderEnded_KeepsTheSessionOnline()
    {
        await using var scene = await LinkScene.StartAsync(linger: TimeSpan.FromSeconds(4));
        var (older, _, _) = await scene.GreetAsync(LinkScene.Edge());
        await LinkScene.SendAsync(older, static output => LinkScene.Open(output, Key));
        await scene.Hub.NextOpenedAsync();
        scene.Hub.MayReopenOnline = true;
        var (newer, _, _) = await scene.GreetAsync(LinkScene.Edge());
        await LinkScene.SendAsync(newer, static output => LinkScene.Reopen(output, Key));
        await Waiting.UntilAsync(() => scene.Hub.Reopened.Count == 1 && scene.Links.Links is [{ Sessions: 1 }]);
        await LinkScene.ReadToEndAsync(older);
        await Task.Delay(200);
        Assert.True(scene.Hub.IsOnline("s-1"));
        Assert.Equal(0, scene.Hub.ClosedCount);
        newer.Abort();
        older.Dispose();
        newer.Dispose();
        await Waiting.UntilAsync(() => scene.Hub.ClosedCount == 1);
    }

    [Fact]
    public async Task Dialler_HubNotedAReport_IsNotToldAgain()
    {
        await using var scene = await LinkScene.StartAsync();
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        var (session, transport) = await OpenAsync(sessions);
        var link = (await scene.Hub.NextOpenedAsync()).Link;
        var acks = new ConcurrentQueue<string>();
        scene.Hub.OnAcked = acks.Enqueue;
        link.TrySend("s-1", Events.Make("e-1"));
        await Waiting.UntilAsync(() => session.HasWaiting);
        transport.Drain(session, null);
        session.Acknowledge(1);
        await Waiting.UntilAsync(() => sessions.Links[0].HeldReports == 0);

        await scene.StopHubAsync();
        await scene.StartHubAsync();
        await Waiting.UntilAsync(() => scene.Hub.Reopened.Count == 1 && sessions.IsLinked);

        Assert.Empty(scene.Hub.Reopened.Single().Holds);
        Assert.Equal(["e-1"], acks);
    }

    [Fact]
    public async Task Dialler_HubStaysAway_ClosesTheSessions()
    {
        await using var scene = await LinkScene.StartAsync();
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions, wait: TimeSpan.FromMilliseconds(500));
        var (_, transport) = await OpenAsync(sessions);
        await scene.StopHubAsync();
        await Waiting.UntilAsync(() => transport.Closed is not null);
        Assert.Equal(SessionClose.HubError, transport.Closed);
    }

    [Fact]
    public async Task Link_BrokenAndEdgeGone_ClosesItsSessionsAfterAWhile()
    {
        await using var scene = await LinkScene.StartAsync(linger: TimeSpan.FromMilliseconds(300));
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        await LinkScene.SendAsync(socket, OpenSession);
        await scene.Hub.NextOpenedAsync();
        socket.Abort();
        socket.Dispose();
        await scene.Hub.NextDetachedAsync();
        await Waiting.UntilAsync(() => scene.Hub.ClosedCount == 1);
    }

    [Fact]
    public async Task Dialler_HubHasOtherData_IsNotLinked()
    {
        await using var scene = await LinkScene.StartAsync();
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        await scene.StopHubAsync();
        await scene.StartHubAsync(cluster: "c-2");
        await Waiting.UntilAsync(() => scene.Refusals.Contains("other-cluster"));
        await Waiting.UntilAsync(() => scene.Lines("HubNotLinked").Any(static line => line.Contains("other data", StringComparison.Ordinal)));
        Assert.False(sessions.IsLinked);
    }

    [Theory]
    [InlineData(LinkHello.Version + 1, "", "no-common-version")]
    [InlineData(LinkHello.Version, "c-2", "other-cluster")]
    public async Task Hello_NotOfThisCluster_IsRefusedWithTheReason(int version, string cluster, string reason)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, kind, first) = await scene.GreetAsync(LinkScene.Edge(cluster: cluster, version: version) with { Oldest = version });
        using (socket)
        {
            Assert.Equal((LinkItemKind.NotLinked, reason), (kind, first));
            await LinkScene.ReadToEndAsync(socket);
            Assert.Equal([reason], scene.Refusals);
            Assert.Empty(scene.Links.Links);
        }
    }

    /// <summary>The hub has the app; this edge did not name it.</summary>
    [Fact]
    public async Task Opened_OfAnAppThatTheHelloDidNotName_EndsTheLinkAndIsCounted()
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, static output => LinkScene.Open(output, Key with { App = "other" }));
            await LinkScene.ReadToEndAsync(socket);
        }

        await Waiting.UntilAsync(() => scene.Lines("EdgeLinkEnded").Any(static line => line.Contains("an app that the edge did not name", StringComparison.Ordinal)));
        Assert.Equal(["foreign-session"], scene.Refusals);
        Assert.Empty(scene.Links.Links);
    }

    [Theory]
    [InlineData("", "tab")]
    [InlineData("ada", "..")]
    [InlineData("a\u0000da", "tab")]
    public async Task Opened_NameThatNoClientMayHave_EndsTheLink(string user, string device)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output => LinkScene.Open(output, Key with { User = user, Device = device }));
            await LinkScene.ReadToEndAsync(socket);
        }

        await Waiting.UntilAsync(() => scene.Lines("EdgeLinkEnded").Any(static line => line.Contains("a name that no client may have", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Hello_AppThatTheHubHasNot_IsRefused()
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, kind, first) = await scene.GreetAsync(LinkScene.Edge() with { Apps = ["demo", "else"] });
        using (socket)
        {
            Assert.Equal((LinkItemKind.NotLinked, "unknown-app"), (kind, first));
        }
    }

    [Fact]
    public async Task Hello_SameNameStartedLater_TakesThePlaceOfTheOlder()
    {
        await using var scene = await LinkScene.StartAsync();
        var (older, _, _) = await scene.GreetAsync(LinkScene.Edge(incarnation: 5));
        var (newer, kind, _) = await scene.GreetAsync(LinkScene.Edge(incarnation: 6));
        Assert.Equal(LinkItemKind.Hello, kind);
        await LinkScene.ReadToEndAsync(older);
        await Waiting.UntilAsync(() => scene.Links.Links is [{ Edge.Incarnation: 6 }]);
        var (late, refused, why) = await scene.GreetAsync(LinkScene.Edge(incarnation: 5, place: 1));
        Assert.Equal((LinkItemKind.NotLinked, "older-node"), (refused, why));
        older.Dispose();
        newer.Dispose();
        late.Dispose();
    }

    /// <summary>A machine whose clock is behind restarts its edge: by its clock the new process is the older one.</summary>
    [Fact]
    public async Task Hello_SameNameAndClocksApart_TheYoungerProcessIsBelieved()
    {
        await using var scene = await LinkScene.StartAsync();
        var (ahead, _, _) = await scene.GreetAsync(LinkScene.Edge(incarnation: 900_000) with { Age = TimeSpan.FromHours(1) });
        var (behind, kind, _) = await scene.GreetAsync(LinkScene.Edge(incarnation: 5) with { Age = TimeSpan.FromSeconds(1) });
        Assert.Equal(LinkItemKind.Hello, kind);
        await LinkScene.ReadToEndAsync(ahead);
        await Waiting.UntilAsync(() => scene.Links.Links is [{ Edge.Incarnation: 5 }]);
        var (late, refused, why) = await scene.GreetAsync(LinkScene.Edge(incarnation: 900_000, place: 1) with { Age = TimeSpan.FromHours(1) });
        Assert.Equal((LinkItemKind.NotLinked, "older-node"), (refused, why));
        ahead.Dispose();
        behind.Dispose();
        late.Dispose();
    }

    [Theory]
    [InlineData(5)]
    [InlineData(6)]
    public async Task Hello_NameOfAnEdgeThatShowedAnotherKey_IsRefusedAndThatEdgeStays(long incarnation)
    {
        await using var scene = await LinkScene.StartAsync();
        scene.KeyName = "west";
        var (edge, _, _) = await scene.GreetAsync(LinkScene.Edge(incarnation: 5));
        scene.KeyName = "stolen";
        var (thief, refused, why) = await scene.GreetAsync(LinkScene.Edge(incarnation: incarnation) with { Age = TimeSpan.Zero });
        Assert.Equal((LinkItemKind.NotLinked, "other-key"), (refused, why));
        Assert.Equal((5, WebSocketState.Open), (Assert.Single(scene.Links.Links).Edge.Incarnation, edge.State));
        edge.Dispose();
        thief.Dispose();
    }

    [Fact]
    public async Task Hello_OfThisBuild_SaysForHowLongItsProcessRuns()
    {
        var time = new FakeTimeProvider();
        var hello = LinkHello.OfEdge("edge-1", ["demo"], "1.0", time) with { Cluster = "c" };
        time.Advance(TimeSpan.FromSeconds(7));
        var queue = new LinkQueue();
        hello.Write(queue);
        var batch = await queue.TakeAsync();
        Assert.True(LinkReader.TryTake(ref batch, out _, out var members));
        Assert.Equal(TimeSpan.FromSeconds(7), LinkHello.Read(members).Age);
    }

    [Fact]
    public async Task Link_SilentForThreeSeconds_IsEndedAndItsSessionsClosed()
    {
        await using var scene = await LinkScene.StartAsync(linger: TimeSpan.Zero);
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, OpenSession);
            await scene.Hub.NextOpenedAsync();
            await LinkScene.ReadToEndAsync(socket);
            await Waiting.UntilAsync(() => scene.Hub.ClosedCount == 1);
            await Waiting.UntilAsync(() => scene.Lines("EdgeLinkEnded").Any(static line => line.Contains("nothing came for 3 s", StringComparison.Ordinal)));
        }
    }

    /// <summary>An edge that is stopped while it dials is no fault of its settings.</summary>
    [Fact]
    public async Task Link_BrokenBeforeItsHello_IsNoRefusal()
    {
        await using var scene = await LinkScene.StartAsync();
        for (var i = 0; i < 3; i++)
        {
            var broken = await scene.ConnectAsync();
            broken.Abort();
            broken.Dispose();
            using var closed = await scene.ConnectAsync();
            await closed.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, CancellationToken.None);
            await LinkScene.ReadToEndAsync(closed);
        }

        var (socket, kind, _) = await scene.GreetAsync(LinkScene.Edge());
        Assert.Equal(LinkItemKind.Hello, kind);
        socket.Dispose();
        Assert.Empty(scene.Refusals);
    }

    [Fact]
    public async Task Link_NoHello_IsEndedAfterFiveSeconds()
    {
        await using var scene = await LinkScene.StartAsync();
        using var socket = await scene.ConnectAsync();
        using var beats = new Timer(static state => _ = LinkScene.SendAsync((ClientWebSocket)state!, static output => output.Begin(LinkItemKind.Beat).Dispose()), socket, 0, 1_000);
        await LinkScene.ReadToEndAsync(socket);
        await Waiting.UntilAsync(() => scene.Refusals.Contains("no-hello"));
    }

    /// <summary>Two hundred edges that were greeted and then say garbage: each is one line, and a well-behaved one goes on.</summary>
    [Fact]
    public async Task Link_Garbage_EndsThatLinkWithOneLine()
    {
        await using var scene = await LinkScene.StartAsync(linger: TimeSpan.Zero);
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        await OpenAsync(sessions);
        var opened = await scene.Hub.NextOpenedAsync();
        var random = new Random(17);
        for (var i = 0; i < 200; i++)
        {
            var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge(node: $"bad-{i}"));
            using (socket)
            {
                if (i % 2 == 0)
                {
                    await LinkScene.SendAsync(socket, OpenSession);
                    await scene.Hub.NextOpenedAsync();
                }

                await socket.SendAsync(Garbage(random, i), WebSocketMessageType.Binary, true, CancellationToken.None);
                await LinkScene.ReadToEndAsync(socket);
            }
        }

        await Waiting.UntilAsync(() => scene.Hub.ClosedCount == 100);
        await Waiting.UntilAsync(() => scene.Lines("EdgeLinkEnded").Length == 200);
        Assert.True(sessions.IsLinked);
        Assert.True(opened.Link.TrySend("s-1", Events.Make("e-1")));
        Assert.Single(scene.Links.Links);
    }

    // A good head most of the time, so that what follows is looked at.
    private static byte[] Garbage(Random random, int round)
    {
        var bytes = new byte[random.Next(8, 200)];
        random.NextBytes(bytes);
        BitConverter.TryWriteBytes(bytes, round % 5 == 0 ? random.Next(int.MinValue, 0) : bytes.Length - 4);
        bytes[4] = (byte)(round % 40);
        bytes[5] = (byte)(1 + (round % 2)); // the session, or one that never was
        return bytes[4] == (byte)LinkItemKind.Beat ? new byte[4] : bytes; // whatever a beat holds, it is one
    }

    private static void OpenSession(LinkQueue output) => LinkScene.Open(output, Key with { Session = Guid.NewGuid().ToString("N"), Device = Guid.NewGuid().ToString("N") });

    private static async Task<(Session Session, FakeTransport Transport)> OpenAsync(EdgeSessions sessions, string id = "s-1")
    {
        var parts = new ServerParts(sessions, new RecordingHub(), TimeProvider.System, new WebSocketServerOptions(), null, NullLogger.Instance);
        var now = TimeProvider.System.GetUtcNow();
        var session = new Session(Key with { Session = id }, SessionState.Active, now, ConnectionPeer.Unknown, parts);
        Assert.True(await sessions.OpenedAsync(new SessionOpened(session.Key, SessionState.Active, session, now) { Pass = LinkScene.PassOf(session.Key) }, CancellationToken.None));
        var transport = new FakeTransport();
        session.Attach(transport);
        return (session, transport);
    }
}
