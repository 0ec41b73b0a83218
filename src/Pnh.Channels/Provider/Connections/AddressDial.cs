using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Pnh.Channels.Provider.Connections;

/// <summary>Connects to one of a host's addresses, beginning at a random one, so that connections spread over a provider's servers (Apple's advice).</summary>
internal static class AddressDial
{
    /// <summary>A connected socket without Nagle's delay. Throws <see cref="SocketException"/> for the last address that failed, or when there is none.</summary>
    public static async Task<Socket> ConnectAsync(IPAddress[] addresses, int port, CancellationToken cancellationToken)
    {
        if (addresses.Length == 0)
        {
            throw new SocketException((int)SocketError.HostNotFound);
        }

        var first = RandomNumberGenerator.GetInt32(addresses.Length);
        for (var i = 0; ; i++)
        {
            var address = addresses[(first + i) % addresses.Length];
            var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                await socket.ConnectAsync(new IPEndPoint(address, port), cancellationToken);
                return socket;
            }
            catch (SocketException) when (i + 1 < addresses.Length)
            {
                socket.Dispose();
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }
    }
}
