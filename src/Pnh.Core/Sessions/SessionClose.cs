namespace Pnh.Core.Sessions;

/// <summary>
/// WebSocket close codes of protocol <c>pnh.v1</c> and the text sent with them. 4000–4499: reconnect, with jitter; 4500–4999: do not.
/// Fixed numbers: clients hold on to them.
/// </summary>
/// <param name="Code">RFC 6455 private-use code.</param>
/// <param name="Reason">At most 123 bytes.</param>
public sealed record SessionClose(int Code, string Reason)
{
    /// <summary>The hub is going away: reconnect after the time of the <c>drain</c> frame.</summary>
    public static SessionClose Drain { get; } = new(4000, "drain");

    /// <summary>The same of a node whose session another node can take: it waits here until that one asks for it.</summary>
    public static SessionClose HandOver { get; } = new(4000, "drain; resume");

    /// <summary>The client reads too slowly; what it missed comes by push or on the next session.</summary>
    public static SessionClose SlowConsumer { get; } = new(4001, "slow consumer");

    /// <summary>The client token expired: come back with a new one.</summary>
    public static SessionClose TokenExpired { get; } = new(4002, "token expired");

    /// <summary>No hello within 5 seconds.</summary>
    public static SessionClose HelloTimeout { get; } = new(4003, "no hello");

    /// <summary>The hub failed; nothing is wrong with the client.</summary>
    public static SessionClose HubError { get; } = new(4004, "hub error");

    /// <summary>Too many connections or messages for now.</summary>
    public static SessionClose Overloaded { get; } = new(4005, "overloaded");

    /// <summary>The client did not answer keep-alive pings.</summary>
    public static SessionClose KeepAliveTimeout { get; } = new(4006, "keep-alive timeout");

    /// <summary>The token is not valid now, and another one may be in a while: keys are being replaced, or clocks are apart.</summary>
    public static SessionClose TokenRefused { get; } = new(4007, "token refused");

    /// <summary>A newer hello of the same device took over.</summary>
    public static SessionClose Replaced { get; } = new(4500, "replaced by a newer session");

    /// <summary>The token is none of this hub's, or is for another device, or the page's origin may not use the app: a later token is no better.</summary>
    public static SessionClose Unauthorized { get; } = new(4501, "unauthorized");

    /// <summary>Not the protocol: bad JSON, unknown type, hello twice, message too big, acknowledging the future.</summary>
    public static SessionClose ProtocolError { get; } = new(4502, "protocol error");

    /// <summary>An administrator ended the user's sessions.</summary>
    public static SessionClose Kicked { get; } = new(4503, "kicked");
}
