using System.Net.Sockets;
using Pnh.Core.Deliveries;
using Polly.CircuitBreaker;
using Polly.Timeout;

namespace Pnh.Channels.Http;

/// <summary>
/// Reads what SocketsHttpHandler and Polly throw when no answer came. Safe to send again is only what surely was not processed: no
/// connection, or a stream that the peer refused (RFC 9113 section 8.7). A connection lost after the request was written is ambiguous:
/// the provider may have shown the notification already.
/// </summary>
internal static class NetworkFault
{
    /// <summary>RFC 9113 section 7.</summary>
    private const long RefusedStream = 0x7;

    public static bool IsSafeToRetry(Exception exception) => exception switch
    {
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError or HttpRequestError.SecureConnectionError } => true,
        HttpRequestException { InnerException: HttpProtocolException { ErrorCode: RefusedStream } } => true,
        _ => IsConnectTimeout(exception) || IsReplaced(exception),
    };

    /// <summary>True when the network or the provider failed us: no bug of ours, no cancellation by the caller.</summary>
    public static bool IsFault(Exception exception) =>
        exception is HttpRequestException or IOException or SocketException or TimeoutRejectedException || IsConnectTimeout(exception)
        || IsReplaced(exception);

    /// <summary>The result for an exception out of the pipeline; null when it is a bug or a cancellation and must be thrown.</summary>
    public static DeliveryResult? ToResult(Exception exception) => exception switch
    {
        BrokenCircuitException broken => new DeliveryResult
        {
            Status = DeliveryStatus.Unavailable,
            Reason = DeliveryResult.BreakerOpen,
            RetryAfter = broken.RetryAfter ?? ProviderPipeline.BreakDuration,
        },
        _ when IsFault(exception) => DeliveryResult.Of(DeliveryStatus.Unavailable, Reason(exception)),
        _ => null,
    };

    private static string Reason(Exception exception) => exception switch
    {
        TimeoutRejectedException => "timeout",
        HttpRequestException { HttpRequestError: HttpRequestError.NameResolutionError } => "name-resolution-failed",
        HttpRequestException { HttpRequestError: HttpRequestError.SecureConnectionError } => "tls-failed",
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError } => "connect-failed",
        HttpRequestException { HttpRequestError: HttpRequestError.VersionNegotiationError } => "no-http2",
        OperationCanceledException => "connect-timeout",
        ObjectDisposedException => "connect-failed",
        _ => "connection-lost",
    };

    /// <summary>A request that picked its connection just before <see cref="ProviderConnection.Recycle"/>: refused at the entrance, so never sent.</summary>
    private static bool IsReplaced(Exception exception) =>
        exception is ObjectDisposedException { ObjectName: var name }
        && (name == typeof(HttpMessageInvoker).FullName || name == typeof(SocketsHttpHandler).FullName);

    /// <summary>SocketsHttpHandler reports its ConnectTimeout as a cancellation caused by a timeout.</summary>
    private static bool IsConnectTimeout(Exception exception) =>
        exception is OperationCanceledException { InnerException: TimeoutException };
}
