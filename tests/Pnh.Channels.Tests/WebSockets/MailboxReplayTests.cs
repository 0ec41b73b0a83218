using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.WebSockets;
using Pnh.Core.Devices;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The real hub and real sessions: a mailbox larger than a session's queue.</summary>
public sealed class MailboxReplayTests
{
    // 20 frames of 40 kB: three times the 256 kB that a session keeps.
    private const int Count = 20;
    private static readonly string Data = new('x', 40_000);

    [Fact]
    public async Task Open_MailboxLargerThanTheQueue_FollowsTheAcksToTheEnd()
    {
        using var folder = new TemporaryFolder();
        await using var devices = SqliteDeviceStore.Open(folder.FullPath, TimeProvider.System);
        await using var journal = SegmentJournal.Open(folder.FullPath, TimeProvider.System, new JournalOptions());
        using var metrics = new HubMetrics(new MetricRegistry(), TimeProvider.System, ["demo"]);
        var planner = new Planner(ClassPolicies.Default, []);
        await using var hub = new Hub(planner, journal, devices, metrics, TimeProvider.System, NullLogger<Hub>.Instance);
        var tablet = new Device { Id = "tablet", Platform = Platform.Android, RegisteredAt = TimeProvider.System.GetUtcNow() };
        await devices.PutDeviceAsync(new UserKey("demo", "ada"), tablet, CancellationToken.None);
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]);
        for (var i = 0; i < Count; i++)
        {
            Assert.Equal(AcceptStatus.Accepted, (await hub.AcceptAsync(Read(reader, $"e{i}"))).Status);
        }

        var key = new SessionKey("demo", "ada", "tablet", "s-1");
        var now = TimeProvider.System.GetUtcNow();
        var parts = new ServerParts(hub, new RecordingHub(), TimeProvider.System, new WebSocketServerOptions(), null, NullLogger.Instance);
        var session = new Session(key, SessionState.Active, now, ConnectionPeer.Unknown, parts);
        await hub.OpenedAsync(new SessionOpened(key, SessionState.Active, session, now), CancellationToken.None);
        var transport = new FakeTransport();
        session.Attach(transport);

        // An event that comes meanwhile queues behind, and does not end the session either.
        Assert.Equal(AcceptStatus.Accepted, (await hub.AcceptAsync(Read(reader, "newer"))).Status);
        Assert.Null(transport.Closed);
        Assert.InRange(session.Snapshot().Queued, 1, 4);

        var written = new List<string>();
        while (transport.Drain(session) is { Count: > 0 } frames)
        {
            written.AddRange(frames.Select(f => f.Id));
            Assert.Equal(frames.Count, session.Acknowledge(frames[^1].Seq));
        }

        Assert.Equal([.. Enumerable.Range(0, Count).Select(i => $"e{i}"), "newer"], written);
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
