using System.Net;
using Pnh.Channels.Http;

namespace Pnh.Channels.WebPush;

/// <summary>
/// A route's own connections: https through the guard, no proxy and no redirect, which would both go round it. HTTP/2 where the push service speaks it; RFC 8030
/// lets it speak HTTP/1.1, then over a few connections. A pattern covers several hosts, each with a connection of its own. Thread-safe.
/// </summary>
internal sealed class WebPushConnection : IDisposable
{
    public static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);
    public static readonly TimeSpan Lifetime = TimeSpan.FromHours(1);
    public static readonly TimeSpan IdleTimeout = TimeSpan.FromMinutes(3);

    private readonly GuardedDial _dial;
    private readonly ConnectionGate _gate;
    private readonly HttpMessageInvoker _invoker;

    public WebPushConnection(WebPushRoute route, ResolveHost resolve, ProviderTrust trust, ConnectionGate gate)
    {
        _dial = new GuardedDial(resolve, route.AllowLoopback);
        _gate = gate;
        _invoker = new HttpMessageInvoker(new SocketsHttpHandler
        {
            ActivityHeadersPropagator = null,
            AllowAutoRedirect = false,
            AutomaticDecompression = DecompressionMethods.None,
            ConnectCallback = ConnectAsync,
            ConnectTimeout = ConnectTimeout,
            EnableMultipleHttp2Connections = false,
            KeepAlivePingDelay = TimeSpan.FromSeconds(60),
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            KeepAlivePingTimeout = TimeSpan.FromSeconds(20),
            MaxConnectionsPerServer = 8,
            MaxResponseHeadersLength = 16,
            PooledConnectionIdleTimeout = IdleTimeout,
            PooledConnectionLifetime = Lifetime,
            SslOptions = trust.OptionsFor(route.Host.Origin),
            UseCookies = false,
            UseProxy = false,
        });
    }

    /// <summary>Completes when the answer's headers are there. The caller disposes the answer.</summary>
    public Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Version = HttpVersion.Version20;
        request.VersionPolicy = HttpVersionPolicy.RequestVersionOrLower;
        return _invoker.SendAsync(request, cancellationToken);
    }

    public void Dispose() => _invoker.Dispose();

    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellationToken) =>
        new CountedStream(await _dial.ConnectAsync(context.DnsEndPoint, cancellationToken), _gate);
}
