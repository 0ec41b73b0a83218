using System.Net;
using System.Net.Sockets;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels.WebPush;

/// <summary>Looks a host name up.</summary>
internal delegate Task<IPAddress[]> ResolveHost(string host, CancellationToken cancellationToken);

/// <summary>Connects to one of the addresses, whichever answers.</summary>
internal delegate Task<Socket> DialAddresses(IPAddress[] addresses, int port, CancellationToken cancellationToken);

/// <summary>How a host is looked up and its addresses are dialled.</summary>
internal sealed record EndpointNetwork(ResolveHost Resolve, DialAddresses Dial)
{
    /// <summary>The system's names and sockets.</summary>
    public static readonly EndpointNetwork System = new(Dns.GetHostAddressesAsync, AddressDial.ConnectAsync);
}

/// <summary>None of the host's addresses may be dialled.</summary>
internal sealed class EndpointNotPublicException() : IOException("The endpoint's host has no public address.");

/// <summary>
/// Opens connections to endpoints that strangers wrote. The name is looked up once per connection and the very address that was judged is dialled, so a name that
/// changes its answer between the look and the dial (DNS rebinding) gains nothing. Thread-safe.
/// </summary>
internal sealed class GuardedDial
{
    private readonly EndpointNetwork _network;
    private readonly bool _allowLoopback;

    public GuardedDial(EndpointNetwork network, bool allowLoopback)
    {
        _network = network;
        _allowLoopback = allowLoopback;
    }

    /// <summary>
    /// A connected socket, beginning at a random one of the addresses allowed. Throws <see cref="EndpointNotPublicException"/> when none is, else
    /// <see cref="SocketException"/> for the last one that failed.
    /// </summary>
    public async Task<Socket> ConnectAsync(DnsEndPoint target, CancellationToken cancellationToken)
    {
        // The system's resolver refuses 0.0.0.0 with an exception of its own, so numbers are not asked for.
        var resolved = IPAddress.TryParse(target.Host, out var number) ? [number] : await _network.Resolve(target.Host, cancellationToken);
        if (resolved.Length == 0)
        {
            throw new SocketException((int)SocketError.HostNotFound);
        }

        var allowed = Array.FindAll(resolved, address => PublicAddress.MayBeDialled(address, _allowLoopback));
        if (allowed.Length == 0)
        {
            throw new EndpointNotPublicException();
        }

        return await _network.Dial(allowed, target.Port, cancellationToken);
    }
}
