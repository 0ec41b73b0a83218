using Microsoft.Extensions.Options;
using Pnh.Core.Settings;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>Bounds and times of sockets.</summary>
/// <remarks>Read once, when the server is made.</remarks>
public sealed class WebSocketServerOptions
{
    /// <summary>How long a connection may take from the upgrade to a whole <c>hello</c>. Default 5 s.</summary>
    [Duration("00:00:00.001", "01:00:00")]
    public TimeSpan HelloTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Bytes of one client message; more is a protocol error. Default 16 kB, enough for a token, or for joining 100 topics.</summary>
    [WholeNumber(1024, int.MaxValue)]
    public int MaxMessageBytes { get; set; } = 16 * 1024;

    /// <summary>Frames that a session may hold queued and unacked together; one more is a slow consumer. Default 256.</summary>
    [WholeNumber(2, int.MaxValue)]
    public int QueueItems { get; set; } = 256;

    /// <summary>Bytes that those frames may have together. Default 256 kB. A single frame always fits an empty session.</summary>
    [WholeNumber(1024, int.MaxValue)]
    public int QueueBytes { get; set; } = 256 * 1024;

    /// <summary>How long one write may be stuck before the connection is dropped as a slow consumer. Default 10 s.</summary>
    [Duration("00:00:00.001", "01:00:00")]
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>How long a client may take to answer the hub's close frame before the connection is aborted. Default 5 s.</summary>
    [Duration("00:00:00.001", "01:00:00")]
    public TimeSpan CloseTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Time between pings on a quiet connection; zero = no pings. Default 30 s.</summary>
    [Duration("00:00:00", "01:00:00")]
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>How long a pong may take before the connection counts as lost. Default 10 s.</summary>
    [Duration("00:00:00.001", "01:00:00")]
    public TimeSpan KeepAliveTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Client messages a second that a connection may send for long; acks are free while they are no more than frames. Default 100.</summary>
    [WholeNumber(1, int.MaxValue)]
    public int MessagesPerSecond { get; set; } = 100;

    /// <summary>Client messages at once. Default 200.</summary>
    [WholeNumber(1, int.MaxValue)]
    public int MessageBurst { get; set; } = 200;

    /// <summary>Connections at once, those before hello included; more are closed as overloaded. Default 50,000.</summary>
    [WholeNumber(1, int.MaxValue)]
    public int MaxConnections { get; set; } = 50_000;

    /// <summary>How long a session waits for its client after the connection was lost; zero = it ends with its connection. Default 60 s.</summary>
    [Duration("00:00:00", "01:00:00")]
    public TimeSpan Linger { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Bytes of frames that all sessions without a connection may keep together, a shared frame counted for each; beyond, the oldest of them end
    /// early. There are never more of them than <see cref="MaxConnections"/>. Default 64 MB.
    /// </summary>
    [WholeNumber(1024, int.MaxValue)]
    public int LingerBytes { get; set; } = 64 * 1024 * 1024;

    /// <summary>Topics that a session may be in. Default 100.</summary>
    [WholeNumber(0, int.MaxValue)]
    public int MaxTopics { get; set; } = 100;

    /// <summary>How often the one timer looks at all connections for what is overdue: the precision of every time above. Default 1 s.</summary>
    internal TimeSpan SweepInterval { get; set; } = TimeSpan.FromSeconds(1);
}

/// <summary>What the options say of themselves. Generated.</summary>
[OptionsValidator]
internal sealed partial class WebSocketServerRules : IValidateOptions<WebSocketServerOptions>;
