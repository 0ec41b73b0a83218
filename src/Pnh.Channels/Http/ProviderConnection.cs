using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Pnh.Channels.Http;

/// <summary>What differs between providers about a connection.</summary>
internal sealed record ProviderConnectionOptions
{
    /// <summary>Scheme, host and port.</summary>
    public required Uri Origin { get; init; }

    /// <summary>Requests at once when warm.</summary>
    public required int MaxInFlight { get; init; }

    /// <summary>One request at a time until the first authenticated answer.</summary>
    public bool StartsCold { get; init; }

    /// <summary>TCP and TLS together. A far provider answers a handshake in well under a second.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>After this long a connection is replaced, which is the only way to see DNS move.</summary>
    public required TimeSpan Lifetime { get; init; }

    /// <summary>Closed after this long without a request.</summary>
    public required TimeSpan IdleTimeout { get; init; }

    /// <summary>Whether an idle connection is pinged too, or only one with requests under way. Pings are 60 s apart: nobody was ever cut off for that.</summary>
    public required HttpKeepAlivePingPolicy Pings { get; init; }
}

/// <summary>
/// One lane's own HTTP/2 connection: a tuned SocketsHttpHandler that opens at most one at a time, and the gate before it. Made again from
/// scratch by <see cref="Recycle"/>. Thread-safe.
/// </summary>
internal sealed class ProviderConnection : IDisposable
{
    private readonly ProviderConnectionOptions _options;
    private readonly ProviderTrust _trust;
    private readonly ProviderGauges? _gauges;
    private HttpMessageInvoker _invoker;

    public ProviderConnection(ProviderConnectionOptions options, ProviderTrust trust, ProviderGauges? gauges)
    {
        _options = options;
        _trust = trust;
        _gauges = gauges;
        Gate = new ConnectionGate(options.MaxInFlight, options.StartsCold);
        _invoker = CreateInvoker();
        gauges?.Add(Gate);
    }

    public ConnectionGate Gate { get; }

    /// <summary>Sends over HTTP/2 and nothing else; completes when the answer's headers are there. The caller disposes the answer.</summary>
    public Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Version = HttpVersion.Version20;
        request.VersionPolicy = HttpVersionPolicy.RequestVersionExact;
        return Volatile.Read(ref _invoker).SendAsync(request, cancellationToken);
    }

    /// <summary>Names the present connection for <see cref="Recycle"/>.</summary>
    public object Current => Volatile.Read(ref _invoker);

    /// <summary>
    /// The next request opens a new connection; requests under way finish on the old one, which then closes. Does nothing when
    /// <paramref name="seen"/> was replaced already: a hundred requests may see the same fault.
    /// </summary>
    public void Recycle(object seen)
    {
        var fresh = CreateInvoker();
        var replaced = Interlocked.CompareExchange(ref _invoker, fresh, (HttpMessageInvoker)seen);
        (ReferenceEquals(replaced, seen) ? replaced : fresh).Dispose();
    }

    public void Dispose()
    {
        _gauges?.Remove(Gate);
        _invoker.Dispose();
    }

    private HttpMessageInvoker CreateInvoker() => new(new SocketsHttpHandler
    {
        ActivityHeadersPropagator = null,
        AllowAutoRedirect = false,
        AutomaticDecompression = DecompressionMethods.None,
        ConnectCallback = ConnectAsync,
        ConnectTimeout = _options.ConnectTimeout,
        EnableMultipleHttp2Connections = false,
        KeepAlivePingDelay = TimeSpan.FromSeconds(60),
        KeepAlivePingPolicy = _options.Pings,
        KeepAlivePingTimeout = TimeSpan.FromSeconds(20),
        MaxResponseHeadersLength = 16,
        PooledConnectionIdleTimeout = _options.IdleTimeout,
        PooledConnectionLifetime = _options.Lifetime,
        SslOptions = _trust.OptionsFor(_options.Origin),
        UseCookies = false,
        UseProxy = false,
    });

    /// <summary>Resolves afresh and begins at a random address, so that lanes spread over the provider's servers (Apple's advice).</summary>
    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellationToken)
    {
        var addresses = await Dns.GetHostAddressesAsync(context.DnsEndPoint.Host, cancellationToken);
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
                await socket.ConnectAsync(new IPEndPoint(address, context.DnsEndPoint.Port), cancellationToken);
                return new CountedStream(socket, Gate);
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
