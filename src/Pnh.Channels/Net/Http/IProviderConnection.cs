using System.Net.Security;

namespace Pnh.Channels.Net.Http;

/// <summary>
/// One HTTP/2 connection, over one socket, that lives once: it is made over a stream that was dialled for it, and when it has ended a new one takes
/// its place. It bounds nothing and retries nothing; who owns it keeps the requests under way below <see cref="IConnectionObserver.StreamLimit"/>.
/// Thread-safe.
/// </summary>
internal interface IProviderConnection : IAsyncDisposable
{
    /// <summary>
    /// Sends one request and completes with its answer, body included, or with a fault: never throws for what the network or the peer does, and
    /// answers <see cref="SendFault.NotSent"/> once the connection has ended. Throws <see cref="OperationCanceledException"/> only when
    /// <paramref name="cancellationToken"/> is cancelled; the stream is then reset (CANCEL) and the others go on. Await the task once.
    /// </summary>
    ValueTask<ProviderAnswer> SendAsync(in ProviderRequest request, CancellationToken cancellationToken);
}

/// <summary>
/// Who owns a connection learns here how it fares. Called on the connection's reading path, for one connection never at the same time: must be quick
/// and must not throw.
/// </summary>
internal interface IConnectionObserver
{
    /// <summary>
    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS, with the first SETTINGS (<see cref="long.MaxValue"/> when they name none) and whenever it changes.
    /// 0 = no new streams for now. No request has left when the first call returns.
    /// </summary>
    void StreamLimit(long streams);

    /// <summary>
    /// The peer takes no more streams (GOAWAY), or the connection can open none (stream ids used up: <paramref name="errorCode"/> 0, no reason). What is
    /// under way goes on. May come twice: peers warn first and name the last stream later.
    /// </summary>
    /// <param name="errorCode">RFC 9113 section 7; 0 = routine.</param>
    /// <param name="reason">The frame's debug data as text of at most 128 printable characters (APNs: JSON with <c>reason</c>); null = none.</param>
    void GoingAway(long errorCode, string? reason);

    /// <summary>The connection is gone: closed by either side or broken. Nothing comes after it, and every request under way has its fault or gets it now.</summary>
    /// <param name="violation">The error with which we ended it, since the peer broke the protocol (RFC 9113 section 7); 0 = any other end.</param>
    void Ended(long violation);
}

/// <summary>For a connection of one request, whose owner needs no more than its answer.</summary>
internal sealed class Unobserved : IConnectionObserver
{
    public static readonly Unobserved Instance = new();

    public void StreamLimit(long streams)
    {
    }

    public void GoingAway(long errorCode, string? reason)
    {
    }

    public void Ended(long violation)
    {
    }
}

/// <summary>What the owner of a connection wants of it. Immutable.</summary>
internal sealed record ConnectionOptions
{
    /// <summary>Scheme, host and port: <c>:scheme</c> and the <c>:authority</c> of requests that name none.</summary>
    public required Uri Origin { get; init; }

    /// <summary>
    /// The peer's SETTINGS must come within this time; no request is sent before. Else the connection ends, and what waited is <see cref="SendFault.NotSent"/>,
    /// <c>no-settings</c>.
    /// </summary>
    public TimeSpan SettingsWithin { get; init; } = TimeSpan.FromSeconds(3.5);

    /// <summary>A PING after this long without a byte from the peer.</summary>
    public TimeSpan PingAfter { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A PING not answered for this long ends the connection.</summary>
    public TimeSpan PingTimeout { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>False: pinged only while requests are under way (Google ends connections for too many pings).</summary>
    public bool PingsWhenIdle { get; init; }
}

/// <summary>A way to speak HTTP/2: the framework's or our own. Both must pass the same specification.</summary>
internal interface IConnectionTransport
{
    /// <summary>For logs: <c>framework</c>, <c>direct</c>.</summary>
    string Name { get; }

    /// <summary>
    /// Makes a connection over a stream that has agreed on <c>h2</c> by ALPN, and owns the stream from now on. Sends at most the preface; does not wait.
    /// </summary>
    IProviderConnection Open(SslStream stream, ConnectionOptions options, IConnectionObserver observer);
}
