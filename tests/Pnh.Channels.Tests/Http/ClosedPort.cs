using System.Net;
using System.Net.Sockets;

namespace Pnh.Channels.Tests.Http;

/// <summary>A port of this machine that refuses connections and is ours all the same: bound, so that nobody else may take it, and never listened at.</summary>
internal sealed class ClosedPort : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public ClosedPort()
    {
        _socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        Address = new Uri($"https://{_socket.LocalEndPoint}");
    }

    public Uri Address { get; }

    public void Dispose() => _socket.Dispose();
}
