using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// What sessions and the protocol need of a connection: the seam between the logical stream and the bytes, with one implementation per
/// <c>Sockets:Transport</c>. Nothing here waits. Thread-safe. The transport pulls frames with <see cref="Session.TryTake"/> when it can write,
/// so it alone decides when <c>seq</c> is given.
/// </summary>
internal interface ISessionTransport
{
    /// <summary>When the client came, a timestamp of the node's clock: of two connections of one client the later one counts, whichever hello is read first.</summary>
    long AcceptedAt { get; }

    /// <summary>Its welcome is queued: from now on carries the session's frames, those that wait first, until <paramref name="until"/> (the client token's end).</summary>
    void Carry(Session session, DateTimeOffset until);

    /// <summary>
    /// Writes the frame now if nothing is being written and nothing waits to be; false = nothing was done. Called under the session's lock: does
    /// not call back.
    /// </summary>
    bool TryWrite(in Outgoing next);

    /// <summary>A <see cref="TryWrite"/> is about to follow: asks for the memory that it will touch.</summary>
    void Prefetch()
    {
    }

    /// <summary>The session has something to write.</summary>
    void Wake();

    /// <summary>Queues a frame of the connection itself (welcome, error, drain) before all event frames.</summary>
    void SendControl(byte[] frame);

    /// <summary>The client wants to hear something now and then, as a page sees no pings: a frame <c>beat</c> every so many seconds, from now on.</summary>
    void Beat(int seconds)
    {
    }

    /// <summary>Writes the control frames that wait, then closes; the first reason stands.</summary>
    void Close(SessionClose reason);
}
