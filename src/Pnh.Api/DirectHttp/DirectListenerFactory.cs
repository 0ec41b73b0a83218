using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Pnh.Api.Configuration;
using Pnh.Api.Listeners;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// Kestrel's transport for the public addresses without TLS: our loops listen, and only what <see cref="HttpFront"/> does not serve itself gets
/// to Kestrel. Every other address is left to the framework's transport. Thread-safe.
/// </summary>
internal sealed class DirectListenerFactory : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    /// <summary>10 to 20 % of a core at some 15 µs an accept with what follows; 10,000 clients are back within a second.</summary>
    private const int AcceptsPerSecond = 10_000;

    private readonly SocketLoops _loops;
    private readonly FrontParts _parts;
    private readonly PnhOptions _options;
    private readonly ConnectionBudgets _budgets;
    private readonly ILoggerFactory _log;
    private long _connections = -1;

    public DirectListenerFactory(SocketLoops loops, FrontParts parts, PnhOptions options, ConnectionBudgets budgets, ILoggerFactory log)
    {
        _budgets = budgets;
        _loops = loops;
        _parts = parts;
        _options = options;
        _log = log;
    }

    /// <summary>The server clones the end points of localhost, so those are known by their port, which no other listener shares.</summary>
    public bool CanBind(EndPoint endpoint) => endpoint is DirectEndPoint
        || (endpoint is IPEndPoint { Port: not 0 } local && IPAddress.IsLoopback(local.Address)
            && _options.Urls.Any(url => !url.IsHttps && url.Address is null && url.Port == local.Port));

    /// <summary>Listens. Throws <see cref="AddressInUseException"/> or <see cref="SocketException"/> when it cannot.</summary>
    public ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default)
    {
        var fronts = new FrontTable(_parts.Time);
        var listener = new DirectListener(fronts, _log);
        try
        {
            listener.Open(_loops.Listen(Reachable((IPEndPoint)endpoint), AcceptsPerSecond, () => new HttpFront(_parts, fronts, listener, IsDirect()), _budgets.Public));
            return ValueTask.FromResult<IConnectionListener>(listener);
        }
        catch (SocketException taken) when (taken.SocketErrorCode == SocketError.AddressAlreadyInUse)
        {
            fronts.Dispose();
            throw new AddressInUseException(taken.Message, taken);
        }
        catch
        {
            fronts.Dispose();
            throw;
        }
    }

    private bool IsDirect() => _options.SocketsTransport.IsDirect(Interlocked.Increment(ref _connections));

    // A machine without IPv6 has only the other half of "all addresses".
    private static IPEndPoint Reachable(IPEndPoint endPoint) =>
        IPAddress.IPv6Any.Equals(endPoint.Address) && !Socket.OSSupportsIPv6 ? new(IPAddress.Any, endPoint.Port) : endPoint;
}
