using System.Globalization;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>Bounds and times of the socket side. Read once, when the server is made.</summary>
public sealed class WebSocketServerOptions
{
    /// <summary>How long a connection may take from the upgrade to a whole <c>hello</c>. Default 5 s.</summary>
    public TimeSpan HelloTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Bytes of one client message; more is a protocol error. Default 16 kB, enough for a token, or for joining 100 topics.</summary>
    public int MaxMessageBytes { get; set; } = 16 * 1024;

    /// <summary>Frames that a session may hold queued and unacked together; one more is a slow consumer. Default 256.</summary>
    public int QueueItems { get; set; } = 256;

    /// <summary>Bytes that those frames may have together. Default 256 kB. A single frame always fits an empty session.</summary>
    public int QueueBytes { get; set; } = 256 * 1024;

    /// <summary>How long one write may be stuck before the connection is dropped as a slow consumer. Default 10 s.</summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>How long a client may take to answer our close frame before the connection is aborted. Default 5 s.</summary>
    public TimeSpan CloseTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Time between pings on a quiet connection; zero = no pings. Default 30 s.</summary>
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>How long a pong may take before the connection counts as lost. Default 10 s.</summary>
    public TimeSpan KeepAliveTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Client messages a second that a connection may send for long; acks are free while they are no more than frames. Default 100.</summary>
    public int MessagesPerSecond { get; set; } = 100;

    /// <summary>Client messages at once. Default 200.</summary>
    public int MessageBurst { get; set; } = 200;

    /// <summary>Connections at once, those before hello included; more are closed as overloaded. Default 50,000.</summary>
    public int MaxConnections { get; set; } = 50_000;

    /// <summary>How long a session waits for its client after the connection was lost; zero = it ends with its connection. Default 60 s.</summary>
    public TimeSpan Linger { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Bytes of frames that all sessions without a connection may keep together, a shared frame counted for each; beyond, the oldest of them end
    /// early. There are never more of them than <see cref="MaxConnections"/>. Default 64 MB.
    /// </summary>
    public int LingerBytes { get; set; } = 64 * 1024 * 1024;

    /// <summary>Topics that a session may be in. Default 100.</summary>
    public int MaxTopics { get; set; } = 100;

    /// <summary>How often the one timer looks at all connections for what is overdue: the precision of every time above. Default 1 s.</summary>
    public TimeSpan SweepInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>What is wrong, one sentence per member; empty = all right.</summary>
    public IReadOnlyList<string> Validate()
    {
        var errors = new List<string>();
        RequireTime(errors, nameof(HelloTimeout), HelloTimeout);
        RequireTime(errors, nameof(WriteTimeout), WriteTimeout);
        RequireTime(errors, nameof(CloseTimeout), CloseTimeout);
        RequireTime(errors, nameof(KeepAliveTimeout), KeepAliveTimeout);
        RequireTime(errors, nameof(SweepInterval), SweepInterval);
        RequireAtLeast(errors, nameof(MaxMessageBytes), MaxMessageBytes, 1024);
        RequireAtLeast(errors, nameof(QueueItems), QueueItems, 2);
        RequireAtLeast(errors, nameof(QueueBytes), QueueBytes, 1024);
        RequireAtLeast(errors, nameof(MessagesPerSecond), MessagesPerSecond, 1);
        RequireAtLeast(errors, nameof(MessageBurst), MessageBurst, 1);
        RequireAtLeast(errors, nameof(MaxConnections), MaxConnections, 1);
        RequireAtLeast(errors, nameof(LingerBytes), LingerBytes, 1024);
        RequireAtLeast(errors, nameof(MaxTopics), MaxTopics, 0);
        if (Linger < TimeSpan.Zero || Linger > TimeSpan.FromHours(1))
        {
            errors.Add($"{nameof(Linger)} must not be negative and at most an hour.");
        }

        if (KeepAliveInterval < TimeSpan.Zero)
        {
            errors.Add($"{nameof(KeepAliveInterval)} must not be negative.");
        }

        return errors;
    }

    private static void RequireTime(List<string> errors, string name, TimeSpan value)
    {
        if (value <= TimeSpan.Zero || value > TimeSpan.FromHours(1))
        {
            errors.Add($"{name} must be more than zero and at most an hour.");
        }
    }

    private static void RequireAtLeast(List<string> errors, string name, int value, int least)
    {
        if (value < least)
        {
            errors.Add(string.Create(CultureInfo.InvariantCulture, $"{name} must be at least {least}."));
        }
    }
}
