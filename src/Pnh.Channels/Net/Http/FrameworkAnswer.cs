using System.Buffers;
using System.Runtime.CompilerServices;

namespace Pnh.Channels.Net.Http;

/// <summary>Between the framework's messages and exceptions and our requests and answers. Pure.</summary>
internal static class FrameworkAnswer
{
    /// <summary>RFC 9113 section 7.</summary>
    private const long RefusedStream = 0x7;

    public static void AddHeaders(HttpRequestMessage message, HeaderList headers)
    {
        foreach (var (name, value) in headers.AsSpan())
        {
            // The framework keeps those that describe the body apart.
            var ofContent = ReferenceEquals(name, HeaderName.ContentType) || ReferenceEquals(name, HeaderName.ContentEncoding);
            if (ofContent)
            {
                message.Content!.Headers.TryAddWithoutValidation(name.Text, value);
            }
            else
            {
                message.Headers.TryAddWithoutValidation(name.Text, value);
            }
        }
    }

    /// <summary>Completes at once for an empty body, as every accepted push to Apple has one.</summary>
    public static ValueTask<ProviderAnswer> ReadAsync(HttpResponseMessage response, WantedHeaders wanted, CancellationToken cancellationToken) =>
        response.Content.Headers.ContentLength == 0
            ? ValueTask.FromResult(Answer(response, wanted, null, 0))
            : ReadWithBodyAsync(response, wanted, cancellationToken);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<ProviderAnswer> ReadWithBodyAsync(HttpResponseMessage response, WantedHeaders wanted, CancellationToken cancellationToken)
    {
        var (buffer, length) = await ReadBodyAsync(response, cancellationToken);
        return Answer(response, wanted, buffer, length);
    }

    private static ProviderAnswer Answer(HttpResponseMessage response, WantedHeaders wanted, byte[]? buffer, int length)
    {
        var status = (int)response.StatusCode;
        if (status is >= 200 and < 300)
        {
            return wanted == WantedHeaders.None
                ? new ProviderAnswer(status, buffer, length)
                : new ProviderAnswer(status, buffer, length)
                {
                    Date = Value(response, wanted, WantedHeaders.Date, "date"),
                    Location = Value(response, wanted, WantedHeaders.Location, "location"),
                    ApnsId = Value(response, wanted, WantedHeaders.ApnsId, "apns-id"),
                    ApnsUniqueId = Value(response, wanted, WantedHeaders.ApnsUniqueId, "apns-unique-id"),
                    WnsStatus = Value(response, wanted, WantedHeaders.Wns, "x-wns-status"),
                    WnsDescription = Value(response, wanted, WantedHeaders.Wns, "x-wns-error-description"),
                };
        }

        return new ProviderAnswer(status, buffer, length)
        {
            RetryAfter = Value(response, "retry-after"),
            Date = Value(response, "date"),
            WnsStatus = Value(response, wanted, WantedHeaders.Wns, "x-wns-status"),
            WnsDescription = Value(response, wanted, WantedHeaders.Wns, "x-wns-error-description"),
        };
    }

    /// <summary>
    /// What an exception out of the handler means; null when it is a bug or the caller's cancellation, and must be thrown. A request that breaks while it is
    /// being cancelled may say so by an exception of the network.
    /// </summary>
    public static ProviderAnswer? FaultOf(Exception exception, CancellationToken cancellationToken) => exception switch
    {
        OperationCanceledException when cancellationToken.IsCancellationRequested => null,
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError or HttpRequestError.SecureConnectionError or HttpRequestError.NameResolutionError }
            => ProviderAnswer.Failed(SendFault.NotSent, "connection-closed"),
        HttpRequestException { InnerException: HttpProtocolException { ErrorCode: RefusedStream } } => ProviderAnswer.Failed(SendFault.Refused, "stream-refused"),

        // A request that picked its connection just before it was disposed: refused at the entrance.
        ObjectDisposedException { ObjectName: var name } when name == typeof(HttpMessageInvoker).FullName || name == typeof(SocketsHttpHandler).FullName
            => ProviderAnswer.Failed(SendFault.NotSent, "connection-closed"),
        HttpRequestException or IOException => ProviderAnswer.Failed(SendFault.Ambiguous, ProviderAnswer.ConnectionLost),
        _ => null,
    };

    /// <summary>The body's beginning in a pooled buffer.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<(byte[]? Buffer, int Length)> ReadBodyAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(4096);
        var length = 0;
        try
        {
            using var stream = await response.Content.ReadAsStreamAsync(cancellationToken);
            while (true)
            {
                var read = await stream.ReadAsync(buffer.AsMemory(length), cancellationToken);
                length += read;
                if (read == 0 || length >= ProviderAnswer.MaxBodyBytes)
                {
                    return (buffer, Math.Min(length, ProviderAnswer.MaxBodyBytes));
                }

                if (length == buffer.Length)
                {
                    buffer = Grow(buffer);
                }
            }
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(buffer);
            throw;
        }
    }

    private static byte[] Grow(byte[] buffer)
    {
        var larger = ArrayPool<byte>.Shared.Rent(buffer.Length * 4);
        buffer.CopyTo(larger, 0);
        ArrayPool<byte>.Shared.Return(buffer);
        return larger;
    }

    private static string? Value(HttpResponseMessage response, WantedHeaders wanted, WantedHeaders one, string name) =>
        (wanted & one) == 0 ? null : Value(response, name);

    private static string? Value(HttpResponseMessage response, string name)
    {
        if (response.Headers.NonValidated.TryGetValues(name, out var values))
        {
            foreach (var value in values)
            {
                return value;
            }
        }

        return null;
    }
}
