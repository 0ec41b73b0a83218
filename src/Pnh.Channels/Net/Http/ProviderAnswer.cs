using System.Buffers;

namespace Pnh.Channels.Net.Http;

/// <summary>Why there is no answer, by what it says about sending the request again.</summary>
internal enum SendFault
{
    /// <summary>There is an answer.</summary>
    None,

    /// <summary>No byte of it left: the connection ended before. Safe to send again.</summary>
    NotSent,

    /// <summary>The peer refused the stream (REFUSED_STREAM, RFC 9113 section 8.7). Safe to send again.</summary>
    Refused,

    /// <summary>Above the last stream that a GOAWAY named (RFC 9113 section 6.8). Safe to send again.</summary>
    AboveLastStream,

    /// <summary>Lost after it was written: the provider may have carried it out. Not safe.</summary>
    Ambiguous,
}

/// <summary>
/// A provider's answer, or why there is none. The body is in a pooled buffer: dispose it once, and do not keep <see cref="Body"/> after.
/// </summary>
internal readonly struct ProviderAnswer : IDisposable
{
    /// <summary>Kept of a body. An error object has a few hundred bytes; what comes after is not read and the stream is reset (CANCEL).</summary>
    public const int MaxBodyBytes = 64 * 1024;

    /// <summary>The reason of a request whose connection, or stream, ended under it.</summary>
    public const string ConnectionLost = "connection-lost";

    private readonly byte[]? _buffer;
    private readonly int _length;

    /// <param name="status">HTTP status, 100 to 599.</param>
    /// <param name="buffer">From <see cref="ArrayPool{T}.Shared"/>, ours from now on; null = no body.</param>
    /// <param name="length">Bytes of the body in it.</param>
    public ProviderAnswer(int status, byte[]? buffer, int length)
    {
        Status = status;
        _buffer = buffer;
        _length = length;
    }

    private ProviderAnswer(SendFault fault, string reason)
    {
        Fault = fault;
        FaultReason = reason;
    }

    /// <summary>HTTP status; 0 = no answer came.</summary>
    public int Status { get; }

    /// <summary><see cref="SendFault.None"/> when there is an answer.</summary>
    public SendFault Fault { get; }

    /// <summary>The fault in a kebab-case word for timelines (<c>connection-lost</c>, <c>stream-refused</c>); null when there is an answer.</summary>
    public string? FaultReason { get; }

    /// <summary><c>retry-after</c> as it came; null = none, or a 2xx.</summary>
    public string? RetryAfter { get; init; }

    /// <summary><c>date</c> as it came; null = none, or not wanted.</summary>
    public string? Date { get; init; }

    /// <summary><c>location</c>; null = none, or not wanted.</summary>
    public string? Location { get; init; }

    /// <summary><c>apns-id</c>; null = none, or not wanted.</summary>
    public string? ApnsId { get; init; }

    /// <summary><c>apns-unique-id</c>; null = none, or not wanted.</summary>
    public string? ApnsUniqueId { get; init; }

    /// <summary><c>x-wns-status</c>; null = none, or not wanted.</summary>
    public string? WnsStatus { get; init; }

    /// <summary><c>x-wns-error-description</c>; null = none, or not wanted.</summary>
    public string? WnsDescription { get; init; }

    /// <summary>The body, cut at <see cref="MaxBodyBytes"/>.</summary>
    public ReadOnlyMemory<byte> Body => _buffer is null ? default : _buffer.AsMemory(0, _length);

    /// <summary>No answer; <paramref name="fault"/> is not <see cref="SendFault.None"/>.</summary>
    public static ProviderAnswer Failed(SendFault fault, string reason) => new(fault, reason);

    public void Dispose()
    {
        if (_buffer is not null)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
        }
    }
}
