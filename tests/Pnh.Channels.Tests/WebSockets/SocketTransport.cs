namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Who moves the bytes of a connection.</summary>
public enum SocketTransport
{
    /// <summary>The framework's WebSocket on Kestrel.</summary>
    Framework,

    /// <summary>Our own, on a socket loop.</summary>
    Direct,
}
