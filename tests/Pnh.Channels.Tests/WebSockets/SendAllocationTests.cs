using System.Net.WebSockets;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.WebSockets;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>What one more recipient costs: from TrySend to the bytes in the framework's stream, on the sender's thread.</summary>
public class SendAllocationTests
{
    [Theory]
    [InlineData(EventClass.Transient)]
    [InlineData(EventClass.Message)]
    public async Task TrySend_IdleConnection_AllocatesNothingPerRecipient(EventClass @class)
    {
        const int Rounds = 2000;
        var hub = new RecordingHub();
        var parts = new ServerParts(NoHub.Instance, hub, TimeProvider.System, new WebSocketServerOptions(), null, NullLogger.Instance);
        await using var stream = new CountingStream();
        using var socket = WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = true });
        var connection = new FrameworkConnection(socket, parts, null, ConnectionPeer.Unknown, CancellationToken.None);
        var key = new SessionKey("demo", "ada", "tab-1", "s-1");
        var session = new Session(key, SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown, parts);
        connection.Carry(session, DateTimeOffset.MaxValue);
        session.Attach(connection);
        var accepted = Events.Make("e-1", @class);

        Send(session, accepted, 99, 0);
        var least = long.MaxValue;
        for (var attempt = 0; attempt < 5; attempt++)
        {
            // A collection meanwhile trims the shared array pool, and the next rent is a new array: not per recipient, so the least counts.
            var first = session.Snapshot().FramesSent;
            var written = stream.Writes;
            var before = GC.GetAllocatedBytesForCurrentThread();
            Send(session, accepted, Rounds, first);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            Assert.Equal(Rounds, stream.Writes - written);
            session.Acknowledge(session.Snapshot().FramesSent * (accepted.IsDurable ? 1 : 0));
        }

        Assert.Equal(0, least);
    }

    // As a fan-out sends, with an ack now and then so that the backlog stays in bounds.
    private static void Send(Session session, Event accepted, int rounds, long first)
    {
        for (var i = 1; i <= rounds; i++)
        {
            session.TrySend("s-1", accepted);
            if (accepted.IsDurable && i % 3 == 0)
            {
                session.Acknowledge(first + i);
            }
        }
    }

    private sealed class NoHub : ISessionEvents
    {
        public static readonly NoHub Instance = new();

        public ValueTask OpenedAsync(SessionOpened opened, CancellationToken cancellationToken) => ValueTask.CompletedTask;

        public void Closed(SessionKey session)
        {
        }

        public void StateChanged(SessionKey session, SessionState state)
        {
        }

        public void Acked(SessionKey session, string eventId)
        {
        }

        public void Detached(SessionKey session)
        {
        }

        public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, CancellationToken cancellationToken) => ValueTask.FromResult(true);

        public void Refused(SessionKey session, string eventId)
        {
        }

        public void Answered(SessionKey session, string eventId, string reason, string? answer)
        {
        }

        public void Joined(SessionKey session, IReadOnlyList<string> topics)
        {
        }

        public void Left(SessionKey session, IReadOnlyList<string> topics)
        {
        }

        public ValueTask<SendRefusal?> SendAsync(
            SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) => default;
    }

    /// <summary>Takes every write at once, as Kestrel's pipe does while it has room.</summary>
    private sealed class CountingStream : MemoryStream
    {
        public int Writes { get; private set; }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Writes++;
            return ValueTask.CompletedTask;
        }
    }
}
