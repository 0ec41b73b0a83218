using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets;

/// <summary>Called after an event's frame went to the connection, unless the event had waited for the session: for <c>pnh_accept_to_frame_seconds</c>. Must not wait or throw.</summary>
/// <param name="class">The event's class.</param>
/// <param name="sinceAccepted">Since <see cref="Event.AcceptedTimestamp"/>.</param>
public delegate void FrameWritten(EventClass @class, TimeSpan sinceAccepted);

/// <summary>What every connection and session of the server shares.</summary>
internal sealed record ServerParts(
    ISessionEvents Events, IClientAuthenticator Authenticator, TimeProvider Clock, WebSocketServerOptions Options, FrameWritten? Written,
    ILogger Log)
{
    /// <summary>What is connected.</summary>
    public ConnectionTable Connections { get; } = new();

    /// <summary>The sessions that can be resumed.</summary>
    public SessionTable Sessions { get; } = new(Options, Clock);

    /// <summary>Ends the lingering sessions that nobody came back for, or that are too many. Not for senders.</summary>
    public void EndOverdue()
    {
        while (Sessions.Overdue() is { } session)
        {
            session.EndLingering();
        }
    }
}
