using Microsoft.Extensions.Logging;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>What every session of a server shares.</summary>
internal record SessionParts(ISessionEvents Events, TimeProvider Clock, WebSocketServerOptions Options, ILogger Log)
{
    /// <summary>The sessions that can be resumed.</summary>
    public SessionTable Sessions { get; } = new(Options, Clock);

    /// <summary>When the connection came.</summary>
    public DateTimeOffset CameAt(ISessionTransport transport) => Clock.GetUtcNow() - Clock.GetElapsedTime(transport.AcceptedAt);

    /// <summary>Ends the lingering sessions that nobody came back for, or that are too many. Not for senders.</summary>
    public void EndOverdue()
    {
        while (Sessions.Overdue() is { } session)
        {
            session.EndLingering();
        }
    }
}
