using Microsoft.Extensions.Logging;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>What every session of a server shares.</summary>
internal record SessionParts(ISessionEvents Events, TimeProvider Clock, WebSocketServerOptions Options, ILogger Log)
{
    private long _over;

    /// <summary>Frames that were taken and never written, since their event's time was over; a session each.</summary>
    public long Over => Volatile.Read(ref _over);

    /// <summary>So many more.</summary>
    public void CountOver(int frames) => Interlocked.Add(ref _over, frames);

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
