namespace Pnh.Channels.Net.Http2;

/// <summary>The connection's own bounds. Tests tighten them; the program takes them as they are.</summary>
internal sealed record Http2Limits
{
    public static readonly Http2Limits Default = new();

    /// <summary>Requests that wait for a stream; the next one is not sent. The owner keeps below the peer's limit, so few ever wait.</summary>
    public int MaxWaiting { get; init; } = 1000;

    /// <summary>Bytes of an answer's headers: SETTINGS_MAX_HEADER_LIST_SIZE.</summary>
    public int MaxHeaderListBytes { get; init; } = 16 * 1024;

    /// <summary>The first stream id; odd.</summary>
    public int FirstStream { get; init; } = 1;
}

/// <summary>Why a connection ended.</summary>
/// <param name="Code">What we told the peer; NoError = an ordinary end, or the transport's.</param>
/// <param name="Reason">In kebab-case.</param>
/// <param name="Fault">What the stream threw; null = nothing.</param>
internal sealed record Http2Closure(Http2ErrorCode Code, string Reason, Exception? Fault = null);
