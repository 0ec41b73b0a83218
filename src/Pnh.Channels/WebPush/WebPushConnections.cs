using System.Net;
using System.Net.Sockets;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels.WebPush;

/// <summary>
/// A route's own connections: https through the guard, no proxy and no redirect, which would both go round it. HTTP/2 where the push service speaks it; RFC 8030
/// lets it speak HTTP/1.1, then over a few connections. A pattern covers several hosts, each with a connection of its own. The framework's handler keeps
/// them; no push service asks for a cold start, so there is a place for every request. Thread-safe.
/// </summary>
internal sealed class WebPushConnections : IConnectionSource, IProviderConnection
{
    /// <summary>A fault's word: the subscription's host has no address that may be dialled.</summary>
    public const string NotPublic = "endpoint-not-public";

    /// <summary>A fault's word: there is no such host.</summary>
    public const string NameUnknown = "name-resolution-failed";

    private readonly GuardedDial _dial;
    private readonly ProviderGauges _gauges;
    private readonly HttpMessageInvoker _invoker;

    public WebPushConnections(WebPushRoute route, EndpointNetwork network, ProviderServices services)
    {
        _dial = new GuardedDial(network, route.AllowLoopback);
        _gauges = services.Gauges;
        _invoker = new HttpMessageInvoker(new SocketsHttpHandler
        {
            ActivityHeadersPropagator = null,
            AllowAutoRedirect = false,
            AutomaticDecompression = DecompressionMethods.None,
            ConnectCallback = ConnectAsync,
            ConnectTimeout = ProviderDial.Timeout,
            EnableMultipleHttp2Connections = false,
            KeepAlivePingDelay = TimeSpan.FromSeconds(60),
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            KeepAlivePingTimeout = TimeSpan.FromSeconds(20),
            MaxConnectionsPerServer = 8,
            MaxResponseHeadersLength = 16,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(3),
            PooledConnectionLifetime = TimeSpan.FromHours(1),
            SslOptions = services.Trust.OptionsFor(route.Host.Origin),
            UseCookies = false,
            UseProxy = false,
        });
    }

    public int MaxInFlight => 100;

    /// <summary>Half of the connections to a host that speaks HTTP/1.1, where each takes a whole one.</summary>
    public int MaxLate => 4;

    public ValueTask<ConnectionPlace> EnterAsync(CancellationToken cancellationToken)
    {
        _gauges.Sending(1);
        return ValueTask.FromResult(new ConnectionPlace(this, this, null));
    }

    public void Exit(in ConnectionPlace place, bool answered, bool proven) => _gauges.Sending(-1);

    public void Unanswered(in ConnectionPlace place)
    {
    }

    /// <summary>The handler keeps its connections to itself; whether a request has left, the request's own progress tells.</summary>
    public bool HasSettings(in ConnectionPlace place) => true;

    public void Return(in ConnectionPlace place) => _gauges.Sending(-1);

    public void Retire(in ConnectionPlace place)
    {
    }

    public ValueTask<ProviderAnswer> SendAsync(in ProviderRequest request, CancellationToken cancellationToken)
    {
        var message = new HttpRequestMessage(HttpMethod.Post, $"https://{request.Authority}{request.PathPrefix}")
        {
            Content = new SplicedContent(request.Body, "", "") { Progress = request.Progress },
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionOrLower,
        };
        FrameworkAnswer.AddHeaders(message, request.Headers);
        return ExchangeAsync(message, request.Wanted, cancellationToken);
    }

    public ValueTask DisposeAsync()
    {
        _invoker.Dispose();
        return ValueTask.CompletedTask;
    }

    private async ValueTask<ProviderAnswer> ExchangeAsync(HttpRequestMessage message, WantedHeaders wanted, CancellationToken cancellationToken)
    {
        using (message)
        {
            try
            {
                using var response = await _invoker.SendAsync(message, cancellationToken);
                return await FrameworkAnswer.ReadAsync(response, wanted, cancellationToken);
            }
            catch (Exception exception) when (FaultOf(exception, cancellationToken) is { } fault)
            {
                return fault;
            }
        }
    }

    private static ProviderAnswer? FaultOf(Exception exception, CancellationToken cancellationToken) => exception switch
    {
        OperationCanceledException when cancellationToken.IsCancellationRequested => null,
        HttpRequestException { InnerException: EndpointNotPublicException } => ProviderAnswer.Failed(SendFault.NotSent, NotPublic),
        HttpRequestException { HttpRequestError: HttpRequestError.NameResolutionError } => ProviderAnswer.Failed(SendFault.NotSent, NameUnknown),
        HttpRequestException { HttpRequestError: HttpRequestError.SecureConnectionError } => ProviderAnswer.Failed(SendFault.NotSent, "tls-failed"),
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError } => ProviderAnswer.Failed(SendFault.NotSent, "connect-failed"),

        // The handler reports its ConnectTimeout as a cancellation caused by a timeout.
        OperationCanceledException { InnerException: TimeoutException } => ProviderAnswer.Failed(SendFault.NotSent, "connect-timeout"),
        _ => FrameworkAnswer.FaultOf(exception, cancellationToken),
    };

    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellationToken) =>
        new CountedStream(await _dial.ConnectAsync(context.DnsEndPoint, cancellationToken), _gauges);

    /// <summary>A connection that says when it begins and ends.</summary>
    private sealed class CountedStream : NetworkStream
    {
        private readonly ProviderGauges _gauges;
        private int _closed;

        public CountedStream(Socket socket, ProviderGauges gauges)
            : base(socket, ownsSocket: true)
        {
            _gauges = gauges;
            gauges.Opened(1);
        }

        protected override void Dispose(bool disposing)
        {
            if (Interlocked.Exchange(ref _closed, 1) == 0)
            {
                _gauges?.Opened(-1);
            }

            base.Dispose(disposing);
        }
    }
}
