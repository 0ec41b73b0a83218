using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>The ends of a connection or session that no close frame of the hub's names, and which ends a session outlives.</summary>
internal static class SessionEnds
{
    /// <summary>The client said goodbye (1000 or 1001): the session ends.</summary>
    public static readonly SessionClose Goodbye = new(1000, "");

    /// <summary>The connection broke, or the client closed it with another code: the session lingers.</summary>
    public static readonly SessionClose Lost = new(1000, "connection lost");

    /// <summary>Nobody came back for a session that lingered.</summary>
    public static readonly SessionClose NotResumed = new(1000, "not resumed in time");

    /// <summary>
    /// A session goes on after an expired token, a dead or an overloaded connection, and at another node after this one's. The hub's own goodbyes, a client that is too slow or
    /// breaks the protocol, and a fault of the hub end it: what was unacked then comes out of the mailbox.
    /// </summary>
    public static bool IsOutlived(SessionClose reason) =>
        ReferenceEquals(reason, Lost)
        || reason == SessionClose.HandOver || reason == SessionClose.TokenExpired || reason == SessionClose.Overloaded || reason == SessionClose.KeepAliveTimeout;
}
