using System.Net.WebSockets;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The look at all connections, on a fake clock and with clients that never say anything.</summary>
public sealed class SweepTests
{
    private const int Clients = 1_500;
    private static readonly TimeSpan Round = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task Sweep_ManyAreOverdueAtOnce_AllWithinARoundButNotInOneSlice()
    {
        var time = new FakeTimeProvider();
        var hub = new RecordingHub();
        await using var server = new WebSocketServer(
            hub, hub, time, new WebSocketServerOptions { SweepInterval = Round, HelloTimeout = 10 * Round }, NullLogger<WebSocketServer>.Instance);
        var sockets = Enumerable.Range(0, Clients).Select(static _ => new SilentSocket()).ToArray();
        var served = sockets.Select(socket => server.RunAsync(socket, null, new ConnectionPeer("127.0.0.1", ""), CancellationToken.None)).ToArray();

        // The first round is one slice, since nobody was there before it.
        time.Advance(9.99 * Round);
        Assert.Equal(0, Closed(sockets));
        time.Advance(Round / 5);
        Assert.InRange(Closed(sockets), 0, Clients / 2);
        for (var i = 0; i < 10; i++)
        {
            time.Advance(Round / 5);
        }

        await Task.WhenAll(sockets.Select(static socket => socket.Closing)).WaitAsync(SocketHost.Patience);
        Array.ForEach(sockets, static socket => socket.Abort());
        await Task.WhenAll(served).WaitAsync(SocketHost.Patience);
    }

    private static int Closed(SilentSocket[] sockets) => sockets.Count(static socket => socket.Closing.IsCompleted);

    private sealed class SilentSocket : WebSocket
    {
        private readonly TaskCompletionSource _closing = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource<ValueWebSocketReceiveResult> _received = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Closing => _closing.Task;

        public override WebSocketCloseStatus? CloseStatus => null;

        public override string? CloseStatusDescription => null;

        public override WebSocketState State => _received.Task.IsCompleted ? WebSocketState.Aborted : WebSocketState.Open;

        public override string? SubProtocol => WebSocketServer.Protocol;

        public override void Abort() => _received.TrySetException(new WebSocketException(WebSocketError.ConnectionClosedPrematurely));

        public override Task CloseAsync(WebSocketCloseStatus closeStatus, string? statusDescription, CancellationToken cancellationToken) =>
            CloseOutputAsync(closeStatus, statusDescription, cancellationToken);

        public override Task CloseOutputAsync(WebSocketCloseStatus closeStatus, string? statusDescription, CancellationToken cancellationToken)
        {
            _closing.TrySetResult();
            return Task.CompletedTask;
        }

        public override void Dispose() => Abort();

        public override ValueTask<ValueWebSocketReceiveResult> ReceiveAsync(Memory<byte> buffer, CancellationToken cancellationToken) => new(_received.Task);

        public override async Task<WebSocketReceiveResult> ReceiveAsync(ArraySegment<byte> buffer, CancellationToken cancellationToken)
        {
            var result = await _received.Task;
            return new WebSocketReceiveResult(result.Count, result.MessageType, result.EndOfMessage);
        }

        public override Task SendAsync(ArraySegment<byte> buffer, WebSocketMessageType messageType, bool endOfMessage, CancellationToken cancellationToken) =>
            Task.CompletedTask;
    }
}
