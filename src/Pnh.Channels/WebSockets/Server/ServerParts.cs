using Microsoft.Extensions.Logging;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>Called after an event's frame went to the connection, unless the event had waited for the session: for <c>pnh_accept_to_frame_seconds</c>. Must not wait or throw.</summary>
/// <param name="class">The event's class.</param>
/// <param name="sinceAccepted">Since <see cref="Event.AcceptedTimestamp"/>.</param>
public delegate void FrameWritten(EventClass @class, TimeSpan sinceAccepted);

/// <summary>What every connection of the server shares, besides what it shares with the sessions.</summary>
internal sealed record ServerParts(
    ISessionEvents Events, IClientAuthenticator Authenticator, TimeProvider Clock, WebSocketServerOptions Options, FrameWritten? Written,
    ILogger Log) : SessionParts(Events, Clock, Options, Log)
{
    /// <summary>What is connected.</summary>
    public ConnectionTable Connections { get; } = new();

    /// <summary>What ended, and why.</summary>
    public CloseTally Closes { get; } = new();
}
