using System.Buffers;
using System.Globalization;
using System.Runtime.CompilerServices;
using Pnh.Api.Problems;

namespace Pnh.Api.Bodies;

/// <summary>
/// A whole request body in a pooled buffer, or the problem with it. The bytes are valid until <see cref="Dispose"/>, which must be called
/// once. Not thread-safe.
/// </summary>
internal struct RequestBody : IDisposable
{
    /// <summary>Media type of single objects and arrays.</summary>
    public const string Json = "application/json";

    /// <summary>Media type of streams: one object per line.</summary>
    public const string Ndjson = "application/x-ndjson";

    /// <summary>
    /// Largest limit that may be asked for. HTTP/2 sends no more than its window (768 kB per stream) until something is consumed, and nothing
    /// is before the whole body is there; larger bodies are for streaming.
    /// </summary>
    public const int LargestLimit = 512 * 1024;

    private byte[]? _buffer;

    private RequestBody(byte[]? buffer, int length, Problem? problem)
    {
        _buffer = buffer;
        Bytes = buffer.AsMemory(0, length);
        Problem = problem;
    }

    /// <summary>The body; empty when there is a problem.</summary>
    public ReadOnlyMemory<byte> Bytes { get; private set; }

    /// <summary>Why it was not taken; null = it was.</summary>
    public Problem? Problem { get; }

    /// <summary>
    /// Null when the body may be read: of the media type (parameters and case ignored, charset only UTF-8) and without a Content-Encoding: of those
    /// gzip alone is taken, and inflated before (<see cref="InflatedBody"/>).
    /// </summary>
    public static Problem? CheckType(HttpRequest request, string mediaType)
    {
        if (request.Headers.ContentEncoding.Count > 0)
        {
            return new(ProblemCatalogue.UnsupportedMediaType, "Of Content-Encoding gzip alone is taken; send the body so or as it is.");
        }

        return IsType(request.ContentType, mediaType)
            ? null
            : new(ProblemCatalogue.UnsupportedMediaType, $"Content-Type must be {mediaType}.");
    }

    /// <summary>True when a Content-Type header names the media type, with no charset or with UTF-8.</summary>
    public static bool IsType(ReadOnlySpan<char> contentType, string mediaType)
    {
        var end = contentType.IndexOf(';');
        var type = end < 0 ? contentType : contentType[..end];
        if (!type.Trim().Equals(mediaType, StringComparison.OrdinalIgnoreCase))
        {
            return false;
        }

        var charset = contentType.IndexOf("charset=", StringComparison.OrdinalIgnoreCase);
        return charset < 0 || contentType[(charset + 8)..].TrimStart('"').StartsWith("utf-8", StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Reads the whole body; more than <paramref name="limit"/> bytes are a problem, found before they are read when the length is announced.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<RequestBody> ReadAsync(HttpRequest request, string mediaType, int limit, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(limit, LargestLimit);
        var problem = CheckType(request, mediaType) ?? (request.ContentLength > limit ? TooLarge(limit) : null);
        if (problem is not null)
        {
            return new(null, 0, problem);
        }

        var reader = request.BodyReader;
        while (true)
        {
            // Without examining nothing new arrives, so the pipe gathers up to the limit and is copied once.
            var read = await reader.ReadAsync(cancellationToken);
            var sequence = read.Buffer;
            if (sequence.Length > limit)
            {
                reader.AdvanceTo(sequence.End);
                return new(null, 0, TooLarge(limit));
            }

            if (read.IsCompleted)
            {
                var length = (int)sequence.Length;
                var buffer = ArrayPool<byte>.Shared.Rent(Math.Max(length, 1));
                sequence.CopyTo(buffer);
                reader.AdvanceTo(sequence.End);
                return new(buffer, length, null);
            }

            reader.AdvanceTo(sequence.Start, sequence.End);
        }
    }

    /// <summary>Gives the buffer back.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _buffer, null) is { } buffer)
        {
            Bytes = default;
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static Problem TooLarge(int limit) =>
        new(ProblemCatalogue.BodyTooLarge, string.Create(CultureInfo.InvariantCulture, $"The limit is {limit} bytes."));
}
