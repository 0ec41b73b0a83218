using System.Net;
using System.Net.Sockets;

namespace Pnh.Channels.WebPush;

/// <summary>
/// Which addresses lie in the public Internet (IANA special-purpose address registries, RFC 6890). An endpoint is written by a stranger, so everything else,
/// this host, the machines beside it, the cloud's metadata, is out of bounds. Pure.
/// </summary>
internal static class PublicAddress
{
    private static readonly IPNetwork[] Refused4 =
    [
        IPNetwork.Parse("0.0.0.0/8"), // this network
        IPNetwork.Parse("10.0.0.0/8"), // private
        IPNetwork.Parse("100.64.0.0/10"), // carrier-grade NAT, with Alibaba's metadata
        IPNetwork.Parse("127.0.0.0/8"), // loopback
        IPNetwork.Parse("168.63.129.16/32"), // Azure's wire server
        IPNetwork.Parse("169.254.0.0/16"), // link-local, with everybody else's metadata
        IPNetwork.Parse("172.16.0.0/12"), // private
        IPNetwork.Parse("192.0.0.0/24"), // protocol assignments
        IPNetwork.Parse("192.0.2.0/24"), // documentation
        IPNetwork.Parse("192.88.99.0/24"), // 6to4 relays
        IPNetwork.Parse("192.168.0.0/16"), // private
        IPNetwork.Parse("198.18.0.0/15"), // benchmarks
        IPNetwork.Parse("198.51.100.0/24"), // documentation
        IPNetwork.Parse("203.0.113.0/24"), // documentation
        IPNetwork.Parse("224.0.0.0/3"), // multicast, reserved, broadcast
    ];

    // Only 2000::/3 was ever given out; these parts of it lead elsewhere.
    private static readonly IPNetwork Given6 = IPNetwork.Parse("2000::/3");
    private static readonly IPNetwork[] Refused6 =
    [
        IPNetwork.Parse("2001::/23"), // protocol assignments, with Teredo
        IPNetwork.Parse("2001:db8::/32"), // documentation
        IPNetwork.Parse("2002::/16"), // 6to4: an IPv4 address inside
        IPNetwork.Parse("3fff::/20"), // documentation
    ];

    // RFC 6052: how a network without IPv4 reaches it.
    private static readonly IPNetwork Translated = IPNetwork.Parse("64:ff9b::/96");

    /// <summary>True when the address may be dialled.</summary>
    /// <param name="address">As resolved; an IPv4 address inside an IPv6 one counts as what it is.</param>
    /// <param name="allowLoopback">This host itself is allowed too, for a sandbox; nothing else that is private is.</param>
    public static bool MayBeDialled(IPAddress address, bool allowLoopback)
    {
        var plain = address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
        if (IPAddress.IsLoopback(plain))
        {
            return allowLoopback;
        }

        return plain.AddressFamily switch
        {
            AddressFamily.InterNetwork => !IsIn(Refused4, plain),
            AddressFamily.InterNetworkV6 when Translated.Contains(plain) => !IsIn(Refused4, new IPAddress(plain.GetAddressBytes().AsSpan(12))),
            AddressFamily.InterNetworkV6 => Given6.Contains(plain) && !IsIn(Refused6, plain),
            _ => false,
        };
    }

    private static bool IsIn(IPNetwork[] networks, IPAddress address)
    {
        foreach (var network in networks)
        {
            if (network.Contains(address))
            {
                return true;
            }
        }

        return false;
    }
}
