using System.Net;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A port of a socket loop that answers every upgrade, and hands the connection to a <see cref="WebSocketServer"/>.</summary>
internal sealed class LoopFront : IDisposable
{
    private readonly SocketLoops _loops = new(2, TimeProvider.System, NullLogger.Instance);
    private readonly LoopListener _listener;

    public LoopFront(WebSocketServer server, Func<ClientCredential?> client) =>
        _listener = _loops.Listen(new IPEndPoint(IPAddress.Loopback, 0), 100_000, () => new Upgrade(this, server, client));

    public int Port => _listener.EndPoint.Port;

    /// <summary>The connection that was upgraded last.</summary>
    public LoopSocket? Last { get; private set; }

    public void Dispose() => _loops.Dispose();

    /// <summary>One connection before its upgrade.</summary>
    private sealed class Upgrade(LoopFront front, WebSocketServer server, Func<ClientCredential?> client) : ILoopClient
    {
        public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes)
        {
            var end = bytes.IndexOf("\r\n\r\n"u8);
            if (end < 0)
            {
                return 0;
            }

            var headers = Encoding.ASCII.GetString(bytes[..end]).Split("\r\n").Skip(1)
                .Select(line => line.Split(": ", 2)).ToDictionary(pair => pair[0], pair => pair[1], StringComparer.OrdinalIgnoreCase);
            var key = headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
            var protocol = headers.TryGetValue("Sec-WebSocket-Protocol", out var asked) ? $"Sec-WebSocket-Protocol: {asked}\r\n" : "";
#pragma warning disable CA5350 // RFC 6455 section 4.2.2 asks for SHA-1
            var accept = Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key)));
#pragma warning restore CA5350
            var answer = Encoding.ASCII.GetBytes(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + $"Sec-WebSocket-Accept: {accept}\r\n{protocol}\r\n");
            front.Last = socket;
            Assert.Equal(answer.Length, socket.Send(answer));
            var peer = new ConnectionPeer(socket.RemoteEndPoint?.Address.ToString(), headers.GetValueOrDefault("User-Agent"));
            socket.Client = server.Accept(socket, client(), peer);
            return end + 4;
        }

        public void HasRoom(LoopSocket socket)
        {
        }

        public bool Ended(LoopSocket socket) => false;

        public void Closed(LoopSocket socket)
        {
        }
    }
}
