using System.Net.WebSockets;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// Serves <c>pnh.v1</c> on upgraded WebSockets. One per process; thread-safe. One timer looks after all connections and sessions. The cost of a
/// disconnect does not depend on how many other connections, users or topics there are.
/// </summary>
public sealed partial class WebSocketServer : IAsyncDisposable
{
    /// <summary>The protocol's name: the WebSocket subprotocol that a client may ask for.</summary>
    public const string Protocol = "pnh.v1";

    private readonly ServerParts _parts;
    private readonly ConnectionTable _connections;
    private readonly ITimer _sweep;
    private readonly CancellationToken _stopping;
    private volatile bool _draining;
    private int _most;

    /// <summary>Starts the sweep. Throws <see cref="ArgumentException"/> with everything that is wrong with the options.</summary>
    /// <param name="events">The hub.</param>
    /// <param name="authenticator">Checks the tokens of hellos.</param>
    /// <param name="clock">Time.</param>
    /// <param name="options">Bounds and times; not read again.</param>
    /// <param name="logger">Log.</param>
    /// <param name="written">Called for each event frame written, replayed ones aside; null = nobody asks.</param>
    /// <param name="stopping">
    /// The host's ApplicationStopping: without a <see cref="DrainAsync"/>, connections close within two sweeps. None at a node that calls <see cref="HandOverAsync"/>.
    /// </param>
    public WebSocketServer(
        ISessionEvents events, IClientAuthenticator authenticator, TimeProvider clock, WebSocketServerOptions options,
        ILogger<WebSocketServer> logger, FrameWritten? written = null, CancellationToken stopping = default)
    {
        ArgumentNullException.ThrowIfNull(clock);
        ArgumentNullException.ThrowIfNull(options);
        if (new WebSocketServerRules().Validate(null, options) is { Failed: true } errors)
        {
            throw new ArgumentException(errors.FailureMessage, nameof(options));
        }

        _stopping = stopping;
        _parts = new ServerParts(events, authenticator, clock, options, written, new PacedLog(logger, clock));
        _connections = _parts.Connections;
        _most = options.MaxConnections;
        _sweep = clock.CreateTimer(static server => ((WebSocketServer)server!).Sweep(), this, options.SweepInterval, options.SweepInterval);
    }

    /// <summary>
    /// Connections at once, hello said or not; the next are closed with <see cref="SessionClose.Overloaded"/>. <see cref="WebSocketServerOptions.MaxConnections"/> until
    /// it is known how many the listener may have: sockets leave some of those to HTTP.
    /// </summary>
    public int MostConnections
    {
        get => Volatile.Read(ref _most);
        set => Volatile.Write(ref _most, Math.Min(value, _parts.Options.MaxConnections));
    }

    /// <summary>Connections that ended since the start, by the code of their close; each is quick to read, from any thread.</summary>
    public IReadOnlyList<(string Code, Func<long> Read)> Closes => _parts.Closes.Readings;

    /// <summary>Ends connections without a drain; none at a node that hands its sessions over, whose clients are served until it is their turn.</summary>
    internal CancellationToken Stopping => _stopping;

    /// <summary>
    /// How to accept an upgrade for <see cref="RunAsync"/>: keep-alive, no compression, and the subprotocol if the client asks for it.
    /// </summary>
    public WebSocketAcceptContext AcceptContext(IList<string> requestedProtocols)
    {
        ArgumentNullException.ThrowIfNull(requestedProtocols);
        return new WebSocketAcceptContext
        {
            SubProtocol = requestedProtocols.Contains(Protocol) ? Protocol : null,
            KeepAliveInterval = _parts.Options.KeepAliveInterval,
            KeepAliveTimeout = _parts.Options.KeepAliveTimeout,
        };
    }

    /// <summary>
    /// Serves one connection until it is closed or lost: waits for hello, opens the session, carries it. Never throws for what a client does.
    /// The caller owns the socket and disposes it afterwards.
    /// </summary>
    /// <param name="socket">Open, just accepted.</param>
    /// <param name="header">From the upgrade's Authorization header; null = the hello brings a token.</param>
    /// <param name="peer">For console and presence.</param>
    /// <param name="stopping">The host's ApplicationStopping: without a <see cref="DrainAsync"/>, closes within two sweeps.</param>
    public Task RunAsync(WebSocket socket, ClientCredential? header, ConnectionPeer peer, CancellationToken stopping) =>
        ServeAsync(socket, header, peer, static _ => { }, stopping);

    /// <summary>The same; <paramref name="begun"/> gets what serves it.</summary>
    internal async Task ServeAsync(WebSocket socket, ClientCredential? header, ConnectionPeer peer, Action<Connection> begun, CancellationToken stopping)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(peer);
        var connection = new FrameworkConnection(socket, _parts, header, peer, stopping);
        Admit(connection);
        begun(connection);
        try
        {
            await connection.RunAsync();
        }
        finally
        {
            Forget(connection);
        }
    }

    /// <summary>
    /// Sessions as they are now, unordered, at most <paramref name="limit"/>; null = of any app, of any user. O(connections).
    /// </summary>
    public IReadOnlyList<SessionSnapshot> Snapshot(int limit, string? app = null, string? user = null)
    {
        var found = new List<SessionSnapshot>();
        foreach (var connection in _connections.All())
        {
            if (found.Count >= limit)
            {
                break;
            }

            if (connection.Session is { } session
                && (app ?? session.Key.App) == session.Key.App
                && (user ?? session.Key.User) == session.Key.User)
            {
                found.Add(session.Snapshot());
            }
        }

        return found;
    }

    /// <summary>The newest sessions as they are now, the newest first. O(connections), some nanoseconds each; keeps no more than it gives.</summary>
    /// <param name="limit">How many at most.</param>
    public IReadOnlyList<SessionSnapshot> Newest(int limit)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(limit);
        var newest = new PriorityQueue<Session, DateTimeOffset>(limit);
        foreach (var connection in _connections.All())
        {
            if (connection.Session is not { } session)
            {
                continue;
            }

            if (newest.Count < limit)
            {
                newest.Enqueue(session, session.Since);
            }
            else
            {
                // The oldest of all of them leaves.
                newest.EnqueueDequeue(session, session.Since);
            }
        }

        return [.. newest.UnorderedItems.Select(static item => item.Element.Snapshot()).OrderByDescending(static session => session.Since)];
    }

    /// <summary>Frames that sessions took and did not write, since their event's time was over.</summary>
    public long Over => _parts.Over;

    /// <summary>Sums over all sessions, for a scrape. O(connections), some nanoseconds each.</summary>
    public SessionTotals CountSessions()
    {
        var totals = default(SessionTotals);
        foreach (var connection in _connections.All())
        {
            totals = connection.Session is { } session
                ? session.AddTo(totals)
                : totals with { Handshakes = totals.Handshakes + 1 };
        }

        return totals with { Lingering = _parts.Sessions.Lingering };
    }

    /// <summary>Sessions that are known, with a connection or without: 0 when all have ended.</summary>
    internal int KnownSessions => _parts.Sessions.Count;

    /// <summary>Stops the sweep and aborts what is still connected; call <see cref="DrainAsync"/> first.</summary>
    public async ValueTask DisposeAsync()
    {
        _draining = true;
        await _sweep.DisposeAsync();
        EndLingering();
        foreach (var connection in _connections.All())
        {
            connection.Close(SessionClose.Drain);
            connection.Abort();
        }
    }

    /// <summary>The connection is gone.</summary>
    internal void Forget(Connection connection) => _connections.Remove(connection);

    private void Admit(Connection connection)
    {
        var connected = _connections.Add(connection);
        if (_draining)
        {
            connection.Close(SessionClose.Drain);
        }
        else if (connected > MostConnections)
        {
            connection.Close(SessionClose.Overloaded);
        }
    }

    // Nobody can resume them: the process ends.
    private void EndLingering()
    {
        _parts.Sessions.Stop();
        _parts.EndOverdue();
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The sweep over all sockets failed; the next one tries again.", EventName = "SweepFailed")]
        public static partial void SweepFailed(ILogger logger, Exception exception);

        [LoggerMessage(2, LogLevel.Information, "Draining {Count} sockets over {Window}.", EventName = "Draining")]
        public static partial void Draining(ILogger logger, int count, TimeSpan window);

        [LoggerMessage(3, LogLevel.Information, "Drained; {Left} sockets were aborted.", EventName = "Drained")]
        public static partial void Drained(ILogger logger, int left);
    }
}
