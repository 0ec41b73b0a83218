namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// What speaks a protocol on a connection of a loop. Called by that loop's thread only, one call at a time, never from inside a send or
/// close; must not wait and must not throw: every other connection of the loop waits for it.
/// </summary>
internal interface ILoopClient
{
    /// <summary>The first call on a new connection, before anything is received; not for who takes it over from another client.</summary>
    void Opened(LoopSocket socket)
    {
    }

    /// <summary>
    /// What has arrived and is not used up, the oldest first. Returns how many bytes it has used up; the rest comes again with what follows, or
    /// at once to the client that it put into <see cref="LoopSocket.Client"/>.
    /// </summary>
    int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes);

    /// <summary>There is room again after <see cref="LoopSocket.AwaitRoom"/>.</summary>
    void HasRoom(LoopSocket socket);

    /// <summary>The peer sends no more. True keeps the connection until <see cref="LoopSocket.Close"/>; false closes it.</summary>
    bool Ended(LoopSocket socket);

    /// <summary>The connection is gone, by the peer or by us; the last call.</summary>
    void Closed(LoopSocket socket);
}
