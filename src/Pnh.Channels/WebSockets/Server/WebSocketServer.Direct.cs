using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>Connections that a loop serves.</summary>
public sealed partial class WebSocketServer
{
    /// <summary>
    /// Serves a connection whose upgrade has just been answered with 101; returns who speaks on it from now on. By the loop's thread.
    /// </summary>
    /// <param name="socket">The connection; the caller puts the result into <see cref="LoopSocket.Client"/>.</param>
    /// <param name="header">From the upgrade's Authorization header; null = the hello brings a token.</param>
    /// <param name="peer">For console and presence.</param>
    internal ILoopClient Accept(LoopSocket socket, ClientCredential? header, ConnectionPeer peer)
    {
        var connection = new DirectConnection(socket, this, _parts, header, peer, _stopping);
        Admit(connection);
        return connection;
    }
}
