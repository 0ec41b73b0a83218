namespace Pnh.Channels.Http2;

/// <summary>How a request ended.</summary>
internal enum Http2Outcome : byte
{
    /// <summary>A complete answer, of any status.</summary>
    Answered,

    /// <summary>Nothing of it was sent: the connection was closed, draining or full.</summary>
    NotSent,

    /// <summary>The peer did nothing with it and says so: REFUSED_STREAM, or a stream above GOAWAY's last (RFC 9113 section 8.7).</summary>
    Refused,

    /// <summary>The peer ended the stream otherwise; <see cref="Http2Answer.ErrorCode"/> says how.</summary>
    Reset,

    /// <summary>The connection ended before the answer.</summary>
    ConnectionLost,

    /// <summary>The answer was no HTTP.</summary>
    Malformed,

    /// <summary>The caller's token; when it was sent, the stream was reset.</summary>
    Canceled,

    /// <summary><see cref="Http2Connection.CancelOlderThan"/>; when it was sent, the stream was reset.</summary>
    TimedOut,
}

/// <summary>The answer's headers that are kept. Others are decoded and dropped.</summary>
internal enum AnswerHeader
{
    ApnsId,
    ApnsUniqueId,
    RetryAfter,
    ContentType,
}

/// <summary>
/// How a request ended, with the answer's bytes in memory that the connection uses again: dispose it once, read nothing after that. Forgetting
/// to costs an allocation later, nothing else.
/// </summary>
internal readonly struct Http2Answer : IDisposable
{
    private readonly Http2Exchange? _exchange;
    private readonly short _version;

    internal Http2Answer(Http2Outcome outcome) => Outcome = outcome;

    internal Http2Answer(Http2Exchange exchange, short version)
    {
        _exchange = exchange;
        _version = version;
        Outcome = exchange.Outcome;
        ErrorCode = exchange.ErrorCode;
        WasSent = exchange.Sent;
        Status = exchange.Status;
        IsCut = exchange.IsCut;
    }

    public Http2Outcome Outcome { get; }

    /// <summary>HTTP status; 0 without an answer.</summary>
    public int Status { get; }

    /// <summary>Of RST_STREAM.</summary>
    public Http2ErrorCode ErrorCode { get; }

    /// <summary>At least its headers went out.</summary>
    public bool WasSent { get; }

    /// <summary>The body was longer than <see cref="Http2Options.MaxBodyBytes"/>: its rest was refused.</summary>
    public bool IsCut { get; }

    /// <summary>The provider cannot have acted on it: sending it again cannot show it twice.</summary>
    public bool IsSafeToRetry => Outcome is Http2Outcome.NotSent or Http2Outcome.Refused || (Outcome != Http2Outcome.Answered && !WasSent);

    /// <summary>The beginning of the body, or all of it.</summary>
    public ReadOnlySpan<byte> Body => Content is { } content ? content.Body.Span : default;

    /// <inheritdoc cref="Body"/>
    public ReadOnlyMemory<byte> BodyMemory => Content is { } content ? content.Body : default;

    /// <summary>A header's value; empty = absent, or longer than 128 bytes.</summary>
    public ReadOnlySpan<byte> Header(AnswerHeader header) => Content is { } content ? content.Header(header) : default;

    public void Dispose() => _exchange?.Release(_version);

    private AnswerContent? Content
    {
        get
        {
            if (_exchange is not null && _exchange.Version != _version)
            {
                throw new InvalidOperationException("The answer was disposed.");
            }

            return _exchange?.Content;
        }
    }
}
