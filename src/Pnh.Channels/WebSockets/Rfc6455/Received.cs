namespace Pnh.Channels.WebSockets.Rfc6455;

/// <summary>What was found in what arrived.</summary>
internal enum Received
{
    /// <summary>Nothing yet; direct transport only, as everything below <see cref="Closed"/>: the framework keeps it to itself.</summary>
    Nothing,

    /// <summary>A whole text message.</summary>
    Text,

    /// <summary>A binary message: not the protocol. Its bytes are not kept.</summary>
    Binary,

    /// <summary>More than the limit; said again for as much that is thrown away.</summary>
    TooBig,

    /// <summary>The client's close frame.</summary>
    Closed,

    /// <summary>Wants a pong with the same bytes.</summary>
    Ping,

    /// <summary>The client is there.</summary>
    Pong,

    /// <summary>A frame of a message that is not its last begins.</summary>
    Piece,

    /// <summary>Not RFC 6455: 1002.</summary>
    Broken,

    /// <summary>Text that is not UTF-8: 1007.</summary>
    NotText,
}
