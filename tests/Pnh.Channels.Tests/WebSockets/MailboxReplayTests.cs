using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Tests.Links;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>In one process.</summary>
public sealed class DirectMailboxReplayTests() : MailboxReplayTests(overBytes: false);

/// <summary>With nothing but bytes between them.</summary>
public sealed class ByteLinkMailboxReplayTests() : MailboxReplayTests(overBytes: true)
{
    [Fact]
    public Task Open_NewEventWhileARefusalIsHeard_StaysBehind() => FollowAsync(int.MaxValue, (link, acceptAsync) =>
    {
        // The refused event is sent again before the edge knows that the hub has heard, the newer one after.
        link.Sending = id => Assert.True(id != "newer" || SpinWait.SpinUntil(() => link.Heard > 0, SocketHost.Patience));
        link.RefusalHeard = refused =>
        {
            if (link.Heard == 0 && refused != "newer")
            {
                var sent = link.Sent;
                _ = Task.Run(acceptAsync); // waits under the shard's lock
                SpinWait.SpinUntil(() => link.Sent > sent, SocketHost.Patience);
            }
        };
    });
}

/// <summary>The real hub and real sessions: a mailbox larger than a session's queue.</summary>
public abstract class MailboxReplayTests
{
    // 20 frames of 40 kB: three times the 256 kB that a session keeps.
    private const int Count = 20;
    private static readonly string Data = new('x', 40_000);
    private static readonly SessionKey Key = new("demo", "ada", "tablet", "s-1");
    private readonly bool _overBytes;

    protected MailboxReplayTests(bool overBytes) => _overBytes = overBytes;

    [Theory]
    [InlineData(int.MaxValue)]
    [InlineData(2)]
    public Task Open_MailboxLargerThanTheQueue_FollowsTheAcksToTheEnd(int lossEvery) => FollowAsync(lossEvery);

    private protected async Task FollowAsync(int lossEvery, Action<ByteLink, Func<Task>>? between = null)
    {
        using var folder = new TemporaryFolder();
        await using var devices = SqliteDeviceStore.Open(folder.FullPath, TimeProvider.System);
        await using var journal = SegmentJournal.Open(folder.FullPath, TimeProvider.System, new JournalOptions());
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System, ["demo"]);
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]);
        var planner = new Planner(ClassPolicies.Default, []);
        await using var hub = new Hub(planner, journal, devices, reader, metrics, TimeProvider.System, NullLogger<Hub>.Instance, new HubOptions());
        var tablet = new Device { Id = "tablet", Platform = Platform.Android, RegisteredAt = TimeProvider.System.GetUtcNow() };
        await devices.PutDeviceAsync(new UserKey("demo", "ada"), tablet, CancellationToken.None);
        for (var i = 0; i < Count; i++)
        {
            Assert.Equal(AcceptStatus.Accepted, (await hub.Acceptor.AcceptAsync(Read(reader, $"e{i}"))).Status);
        }

        await using var bytes = _overBytes ? new ByteLink(hub.Router, new RecordingHub()) : null;
        async Task AcceptNewerAsync() => Assert.Equal(AcceptStatus.Accepted, (await hub.Acceptor.AcceptAsync(Read(reader, "newer"))).Status);
        between?.Invoke(bytes!, AcceptNewerAsync);
        var parts = new ServerParts(bytes?.Edge ?? hub.Router, new RecordingHub(), TimeProvider.System, new WebSocketServerOptions(), null, NullLogger.Instance);
        var session = new Session(Key, SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown, parts);
        await parts.Events.OpenedAsync(new SessionOpened(Key, SessionState.Active, session, TimeProvider.System.GetUtcNow()) { Pass = LinkScene.PassOf(Key) }, CancellationToken.None);
        var transport = new FakeTransport();
        session.Attach(transport);

        // An event that comes meanwhile queues behind, and does not end the session either.
        await (between is null ? AcceptNewerAsync() : Task.CompletedTask);
        Assert.Null(transport.Closed);
        Assert.InRange(session.Snapshot().Queued, 0, 4);

        var arrived = new List<string>();
        using var patience = new CancellationTokenSource(SocketHost.Patience);
        for (var talk = 1; arrived.Count < Count + 1; talk++)
        {
            var frames = transport.Drain(session);
            if (frames.Count == 0)
            {
                await Task.Delay(1, patience.Token); // on its way
                continue;
            }

            if (talk % lossEvery == 0)
            {
                frames = [.. frames.Take(1)]; // the others are lost on the way
                session.Leave(transport, SessionEnds.Lost);
                transport = new FakeTransport();
                Assert.NotNull(await session.TryResumeAsync(
                    transport, ConnectionPeer.Unknown, arrived.Count + frames.Count, SessionState.Active, SessionScene.Ada, CancellationToken.None));
                session.Attach(transport);
            }

            arrived.AddRange(frames.Select(f => f.Id));
            Assert.NotNull(session.Acknowledge(arrived.Count));
        }

        Assert.Equal([.. Enumerable.Range(0, Count).Select(i => $"e{i}"), "newer"], arrived);
        Assert.Null(transport.Closed);
    }

    private static Event Read(EventReader reader, string id)
    {
        var errors = new List<FieldError>();
        var json = $$"""{"id":"{{id}}","to":{"user":"ada"},"ttl":600,"data":"{{Data}}"}""";
        var origin = new EventOrigin("demo", TimeProvider.System.GetUtcNow(), TimeProvider.System.GetTimestamp());
        var read = reader.Read(Encoding.UTF8.GetBytes(json), origin, errors);
        Assert.Empty(errors);
        return read!;
    }
}
