using System.Buffers.Binary;
using System.Net;

namespace Pnh.Channels.Net.Epoll;

/// <summary>Asks the kernel who is at the other end (getpeername(2)): only for connections that somebody asks about.</summary>
internal static unsafe class PeerAddress
{
    private const int Ipv4 = 2;
    private const int Ipv6 = 10;
    private const uint LoopbackNetwork = 127;

    // No network has it as its first 64 bits.
    private const ulong MappedMark = 0xFFFF_0000_0000;

    private static ReadOnlySpan<byte> MappedPrefix => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];

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

    /// <summary>Whom the connection counts for: an IPv4 address, or the first 64 bits of an IPv6 one, which a network has to itself; 0 = loopback, or unknown.</summary>
    public static ulong KeyOf(int descriptor)
    {
        var raw = stackalloc byte[128];
        var length = 128;
        if (Syscalls.GetPeerName(descriptor, raw, &length) < 0)
        {
            return 0;
        }

        return *(ushort*)raw switch
        {
            Ipv4 => KeyOfIpv4(BinaryPrimitives.ReadUInt32BigEndian(new ReadOnlySpan<byte>(raw + 4, 4))),
            Ipv6 => KeyOf(new ReadOnlySpan<byte>(raw + 8, 16)),
            _ => 0,
        };
    }

    /// <summary>The same of an address.</summary>
    public static ulong KeyOf(IPAddress address)
    {
        Span<byte> bytes = stackalloc byte[16];
        return address.TryWriteBytes(bytes, out var length) && length == 4 ? KeyOfIpv4(BinaryPrimitives.ReadUInt32BigEndian(bytes)) : KeyOf(bytes);
    }

    // IPv4 over IPv6 (::ffff:a.b.c.d) is the IPv4 address.
    private static ulong KeyOf(ReadOnlySpan<byte> ipv6) => ipv6[..12].SequenceEqual(MappedPrefix)
        ? KeyOfIpv4(BinaryPrimitives.ReadUInt32BigEndian(ipv6[12..]))
        : BinaryPrimitives.ReadUInt64BigEndian(ipv6);

    private static ulong KeyOfIpv4(uint address) => address >> 24 == LoopbackNetwork ? 0 : MappedMark | address;
}
