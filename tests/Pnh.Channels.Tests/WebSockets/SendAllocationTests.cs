using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.Tests.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>What one more recipient costs: from TrySend to the bytes in the framework's stream, or in the kernel, on the sender's thread.</summary>
public class SendAllocationTests
{
    private const int Rounds = 1_000;
    private static readonly byte[] Acked = MaskedFrame.Of(MaskedFrame.Text, """{"type":"ack","seq":0}""");

    [Theory]
    [InlineData(EventClass.Transient)]
    [InlineData(EventClass.Message)]
    public async Task TrySend_IdleConnection_AllocatesNothingPerRecipient(EventClass @class)
    {
        var parts = MakeParts();
        await using var stream = new CountingStream();
        using var socket = WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = true });
        var connection = new FrameworkConnection(socket, parts, null, ConnectionPeer.Unknown, CancellationToken.None);
        AssertSendsAllocateNothing(Open(parts, connection), Events.Make("e-1", @class));
        Assert.Equal(99 + (5 * Rounds), stream.Writes);
    }

    [Theory]
    [InlineData(EventClass.Transient)]
    [InlineData(EventClass.Message)]
    public async Task TrySend_IdleDirectConnection_AllocatesNothingPerRecipient(EventClass @class)
    {
        using var loops = new SocketLoops(1, TimeProvider.System, NullLogger.Instance);
        var (socket, peer) = await ConnectAsync(loops);
        using var reading = peer;
        var parts = MakeParts();
        await using var server = MakeServer();
        var session = Open(parts, new DirectConnection(socket, server, parts, null, ConnectionPeer.Unknown, CancellationToken.None));
        var drained = DrainAsync(peer);
        AssertSendsAllocateNothing(session, Events.Make("e-1", @class));
        loops.Dispose();
        Assert.True(await drained > 5 * Rounds);
    }

    [Fact]
    public async Task Receive_AnAckOnADirectConnection_AllocatesNothing()
    {
        using var loops = new SocketLoops(1, TimeProvider.System, NullLogger.Instance);
        var (socket, peer) = await ConnectAsync(loops);
        using var _ = peer;
        await using var server = MakeServer();
        var connection = new DirectConnection(socket, server, MakeParts(), new ClientCredential(RecordingHub.Identity("ada"), ""), ConnectionPeer.Unknown, CancellationToken.None);
        byte[] hello = MaskedFrame.Of(MaskedFrame.Text, """{"type":"hello","device":"tab-1"}""");
        Assert.Equal(hello.Length, connection.Receive(socket, hello));
        Assert.NotNull(connection.Session);
        var least = long.MaxValue;
        for (var attempt = 0; attempt < 5; attempt++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            for (var i = 0; i < Rounds; i++)
            {
                connection.Receive(socket, Acked);
            }

            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least);
        Assert.NotNull(connection.Session);
    }

    private static ServerParts MakeParts() => new(NoHub.Instance, new RecordingHub(), TimeProvider.System, MakeOptions(), null, NullLogger.Instance);

    private static WebSocketServer MakeServer() =>
        new(NoHub.Instance, new RecordingHub(), TimeProvider.System, MakeOptions(), NullLogger<WebSocketServer>.Instance);

    private static WebSocketServerOptions MakeOptions() => new() { MessageBurst = 100 * Rounds };

    private static Session Open(ServerParts parts, Connection connection)
    {
        var key = new SessionKey("demo", "ada", "tab-1", "s-1");
        var session = new Session(key, SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown, parts);
        connection.Carry(session, DateTimeOffset.MaxValue);
        session.Attach(connection);
        return session;
    }

    private static void AssertSendsAllocateNothing(Session session, Event accepted)
    {
        Send(session, accepted, 99, 0);
        var least = long.MaxValue;
        for (var attempt = 0; attempt < 5; attempt++)
        {
            // A collection meanwhile trims the shared array pool, and the next rent is a new array: not per recipient, so the least counts.
            var first = session.Snapshot().FramesSent;
            var before = GC.GetAllocatedBytesForCurrentThread();
            Send(session, accepted, Rounds, first);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            session.Acknowledge(session.Snapshot().FramesSent * (accepted.IsDurable ? 1 : 0));
        }

        Assert.Equal(0, least);
    }

    private static async Task<(LoopSocket Socket, Socket Peer)> ConnectAsync(SocketLoops loops)
    {
        var accepted = new TaskCompletionSource<LoopSocket>(TaskCreationOptions.RunContinuationsAsynchronously);
        var listener = loops.Listen(new IPEndPoint(IPAddress.Loopback, 0), 1_000, () => new Listener(accepted));
        var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await peer.ConnectAsync(listener.EndPoint);
        await peer.SendAsync("x"u8.ToArray());
        return (await accepted.Task.WaitAsync(SocketHost.Patience), peer);
    }

    private static async Task<long> DrainAsync(Socket peer)
    {
        var buffer = new byte[64 * 1024];
        var drained = 0L;
        try
        {
            while (await peer.ReceiveAsync(buffer) is > 0 and var count)
            {
                drained += count;
            }
        }
        catch (SocketException)
        {
            // Reset at the end.
        }

        return drained;
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

    private sealed class Listener(TaskCompletionSource<LoopSocket> accepted) : ILoopClient
    {
        public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes)
        {
            accepted.TrySetResult(socket);
            return bytes.Length;
        }

        public void HasRoom(LoopSocket socket)
        {
        }

        public bool Ended(LoopSocket socket) => false;

        public void Closed(LoopSocket socket)
        {
        }
    }

    private sealed class NoHub : ISessionEvents
    {
        public static readonly NoHub Instance = new();

        public ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken) => ValueTask.FromResult(true);

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

        public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken) => ValueTask.FromResult(true);

        public void HasRoom(SessionKey session)
        {
        }

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
