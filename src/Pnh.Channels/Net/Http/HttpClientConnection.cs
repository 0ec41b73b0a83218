using System.Net;
using System.Net.Security;
using System.Runtime.CompilerServices;

namespace Pnh.Channels.Net.Http;

/// <summary>HTTP/2 by SocketsHttpHandler: the default, and what our own transport is held against.</summary>
/// <param name="time">Clock.</param>
internal sealed class FrameworkTransport(TimeProvider time) : IConnectionTransport
{
    public string Name => "framework";

    public IProviderConnection Open(SslStream stream, ConnectionOptions options, IConnectionObserver observer) =>
        new HttpClientConnection(stream, options, observer, time);
}

/// <summary>
/// A handler of its own around one dialled stream. The handler would dial again when the stream has ended; it is refused, so that one object stays one
/// connection. The peer's frames are read along (<see cref="FrameWatch"/>), since the handler shows neither SETTINGS nor why a peer goes away.
/// </summary>
internal sealed class HttpClientConnection : IProviderConnection
{
    /// <summary>Paths are printable ASCII and checked where they come from: to look for dots and escapes in each again takes a microsecond.</summary>
    private static readonly UriCreationOptions AsItIs = new() { DangerousDisablePathAndQueryCanonicalization = true };

    private readonly string _root;
    private readonly SslStream _stream;
    private readonly HttpMessageInvoker _invoker;
    private FrameWatch? _watch;
    private int _isTaken;

    public HttpClientConnection(SslStream stream, ConnectionOptions options, IConnectionObserver observer, TimeProvider time)
    {
        _root = options.Origin.GetLeftPart(UriPartial.Authority);
        _stream = stream;
        _invoker = new HttpMessageInvoker(new SocketsHttpHandler
        {
            ActivityHeadersPropagator = null,
            AllowAutoRedirect = false,
            AutomaticDecompression = DecompressionMethods.None,
            ConnectCallback = (_, _) => Interlocked.Exchange(ref _isTaken, 1) == 0
                ? ValueTask.FromResult<Stream>(_stream)
                : throw new IOException("The connection has ended."),
            EnableMultipleHttp2Connections = false,
            KeepAlivePingDelay = options.PingAfter,
            KeepAlivePingPolicy = options.PingsWhenIdle ? HttpKeepAlivePingPolicy.Always : HttpKeepAlivePingPolicy.WithActiveRequests,
            KeepAlivePingTimeout = options.PingTimeout,
            MaxResponseHeadersLength = 16,
            PlaintextStreamFilter = (context, _) =>
                ValueTask.FromResult<Stream>(_watch = new FrameWatch(context.PlaintextStream, observer, options.SettingsWithin, time)),

            // Whose connection it is decides about its end.
            PooledConnectionIdleTimeout = Timeout.InfiniteTimeSpan,
            PooledConnectionLifetime = Timeout.InfiniteTimeSpan,
            UseCookies = false,
            UseProxy = false,
        });
    }

    public ValueTask<ProviderAnswer> SendAsync(in ProviderRequest request, CancellationToken cancellationToken) =>
        ExchangeAsync(Message(request), request.Wanted, cancellationToken);

    public ValueTask DisposeAsync()
    {
        // A disposed handler lets requests under way go on until their tokens are cancelled; over a closed stream they fail at once.
        _invoker.Dispose();
        return _stream.DisposeAsync();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ProviderAnswer> ExchangeAsync(HttpRequestMessage message, WantedHeaders wanted, CancellationToken cancellationToken)
    {
        using (message)
        {
            try
            {
                using var response = await _invoker.SendAsync(message, cancellationToken);
                return await FrameworkAnswer.ReadAsync(response, wanted, cancellationToken);
            }
            catch (Exception exception) when (FrameworkAnswer.FaultOf(exception, cancellationToken) is { } fault)
            {
                return _watch is { HasSettings: false } ? ProviderAnswer.Failed(SendFault.NotSent, "no-settings") : fault;
            }
        }
    }

    private HttpRequestMessage Message(in ProviderRequest request)
    {
        var message = new HttpRequestMessage(HttpMethod.Post, new Uri(_root + request.PathPrefix + request.PathEnd, AsItIs))
        {
            Content = new SplicedContent(request.Body, request.FirstGap ?? "", request.SecondGap ?? ""),
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        FrameworkAnswer.AddHeaders(message, request.Headers);
        return message;
    }
}
