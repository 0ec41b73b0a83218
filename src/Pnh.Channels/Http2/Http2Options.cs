namespace Pnh.Channels.Http2;

/// <summary>What differs between connections.</summary>
internal sealed record Http2Options
{
    /// <summary><c>https</c>, or <c>http</c> for clear text with prior knowledge (RFC 9113 section 3.3).</summary>
    public string Scheme { get; init; } = "https";

    /// <summary>Host, and the port when it is not the scheme's own.</summary>
    public required string Authority { get; init; }

    /// <summary>Streams at once, whatever the peer allows.</summary>
    public int MaxStreams { get; init; } = 100;

    /// <summary>
    /// Streams at once until the peer's first SETTINGS. 1: APNs allows one on a new connection, and the RFC's assumption of 100 would break that
    /// rule; the SETTINGS come within a round trip.
    /// </summary>
    public int StreamsBeforeSettings { get; init; } = 1;

    /// <summary>Requests that wait for a stream; the next one is not sent.</summary>
    public int MaxQueued { get; init; } = 1000;

    /// <summary>Bytes of an answer's body that are kept; the stream of a longer one is reset. Below 65,535, so that no stream needs a window update.</summary>
    public int MaxBodyBytes { get; init; } = 64_000;

    /// <summary>Bytes of an answer's headers.</summary>
    public int MaxHeaderListBytes { get; init; } = 16 * 1024;

    /// <summary>Odd.</summary>
    internal int FirstStream { get; init; } = 1;
}

/// <summary>Hears of a connection's changes, on the connection's own thread: must return at once and not throw.</summary>
internal interface IHttp2Watcher
{
    /// <summary>The peer's SETTINGS_MAX_CONCURRENT_STREAMS changed <see cref="Http2Connection.StreamLimit"/>.</summary>
    void StreamLimitChanged(Http2Connection connection);

    /// <summary>It takes no more requests: <see cref="Http2Connection.GoAway"/> says why when the peer did.</summary>
    void Draining(Http2Connection connection);

    /// <summary>Over; all its requests have ended.</summary>
    void Closed(Http2Connection connection);
}

/// <summary>The peer's last word (RFC 9113 section 6.8).</summary>
/// <param name="LastStream">Streams above it were not processed.</param>
/// <param name="Code">NoError = an ordinary end.</param>
/// <param name="DebugData">At most 1024 bytes as text. APNs puts JSON with <c>reason</c> here.</param>
internal sealed record Http2GoAway(int LastStream, Http2ErrorCode Code, string DebugData);
