using System.Buffers.Binary;
using System.Net;

namespace Pnh.Channels.Sockets;

/// <summary>Asks the kernel who is at the other end (getpeername(2)): only for connections that somebody asks about.</summary>
internal static unsafe class PeerAddress
{
    private const int Ipv4 = 2;
    private const int Ipv6 = 10;

    /// <summary>Null when it is gone, or no IP address.</summary>
    public static IPEndPoint? Of(int descriptor)
    {
        var raw = stackalloc byte[128];
        var length = 128;
        if (Syscalls.GetPeerName(descriptor, raw, &length) < 0)
        {
            return null;
        }

        var port = BinaryPrimitives.ReadUInt16BigEndian(new ReadOnlySpan<byte>(raw + 2, 2));
        return *(ushort*)raw switch
        {
            Ipv4 => new IPEndPoint(new IPAddress(new ReadOnlySpan<byte>(raw + 4, 4)), port),
            Ipv6 => new IPEndPoint(new IPAddress(new ReadOnlySpan<byte>(raw + 8, 16), *(uint*)(raw + 24)), port),
            _ => null,
        };
    }
}
