using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>One session as the console and presence show it, at one moment.</summary>
/// <param name="Key">App, user, device, session.</param>
/// <param name="State">In front or in the background.</param>
/// <param name="Since">When it said hello.</param>
/// <param name="Peer">Remote address and user agent.</param>
/// <param name="FramesSent">Event and withdraw frames given to the connection.</param>
/// <param name="Queued">Frames not written yet.</param>
/// <param name="Unacked">Frames written, not yet acked.</param>
public sealed record SessionSnapshot(
    SessionKey Key, SessionState State, DateTimeOffset Since, ConnectionPeer Peer, long FramesSent, int Queued, int Unacked);

/// <summary>Sums over all sessions, for gauges.</summary>
/// <param name="Active">Sessions in front.</param>
/// <param name="Background">Sessions in the background.</param>
/// <param name="Handshakes">Connections that have not said hello yet, or are closing.</param>
/// <param name="Queued">Frames not written yet.</param>
/// <param name="Unacked">Frames written, not yet acked.</param>
/// <param name="Lingering">Sessions that lost their connection and can be resumed; in none of the other sums.</param>
public readonly record struct SessionTotals(int Active, int Background, int Handshakes, long Queued, long Unacked, int Lingering = 0);
