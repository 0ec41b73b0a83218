using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Tests over real sockets: each class runs on every transport, and some also by a hub that is reached by bytes only.</summary>
public abstract class SocketTests(SocketTransport transport, bool overBytes = false)
{
    private protected SocketTransport Transport => transport;

    private protected bool OverBytes => overBytes;

    private protected Task<SocketHost> StartAsync(Action<WebSocketServerOptions>? configure = null, FrameWritten? written = null, TimeProvider? clock = null) =>
        SocketHost.StartAsync(transport, configure, written, overBytes, clock);
}
