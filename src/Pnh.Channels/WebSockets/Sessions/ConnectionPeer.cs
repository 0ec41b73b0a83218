namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>Who is at the other end of a connection, for the console and presence. Null = not known.</summary>
/// <param name="Address">Remote address as the listener saw it.</param>
/// <param name="UserAgent">The upgrade request's <c>User-Agent</c>; as long as the server lets headers be.</param>
/// <param name="Origin">Of the page, as <see cref="Pnh.Core.Sessions.IClientAuthenticator.OriginOf"/> gave it: it decides whether a hello is taken. Null = none, or nobody cares.</param>
public sealed record ConnectionPeer(string? Address, string? UserAgent, string? Origin = null)
{
    /// <summary>True when its client asks to be told what it has missed.</summary>
    public bool HearsMissed { get; init; }

    /// <summary>Nothing known.</summary>
    public static ConnectionPeer Unknown { get; } = new(null, null);
}
