using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>A frame on its way to the connection.</summary>
/// <param name="Frame">Shared with other sessions.</param>
/// <param name="Seq">This session's number for it; 0 = a transient frame, which has none.</param>
/// <param name="IsRepeat">True when it was written before, to the connection that the session lost.</param>
internal readonly record struct Outgoing(Frame Frame, long Seq, bool IsRepeat);
