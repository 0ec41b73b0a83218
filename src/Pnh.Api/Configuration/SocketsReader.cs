using Pnh.Channels.WebSockets.Sessions;

namespace Pnh.Api.Configuration;

/// <summary>Reads <c>Pnh:Sockets</c>. What is possible, the socket side says itself.</summary>
internal static class SocketsReader
{
    private static readonly TimeSpan LongestTime = TimeSpan.FromHours(1);

    /// <summary>The section over the defaults.</summary>
    public static WebSocketServerOptions Read(IConfigurationSection section, ConfigurationErrors errors)
    {
        var reader = new SectionReader(section, errors);
        var options = new WebSocketServerOptions();
        options.HelloTimeout = reader.Duration("HelloTimeout", LongestTime) ?? options.HelloTimeout;
        options.WriteTimeout = reader.Duration("WriteTimeout", LongestTime) ?? options.WriteTimeout;
        options.CloseTimeout = reader.Duration("CloseTimeout", LongestTime) ?? options.CloseTimeout;
        options.KeepAliveInterval = reader.Duration("KeepAliveInterval", LongestTime) ?? options.KeepAliveInterval;
        options.KeepAliveTimeout = reader.Duration("KeepAliveTimeout", LongestTime) ?? options.KeepAliveTimeout;
        options.Linger = reader.Duration("Linger", LongestTime) ?? options.Linger;
        options.MaxMessageBytes = Number("MaxMessageBytes", options.MaxMessageBytes);
        options.QueueItems = Number("QueueItems", options.QueueItems);
        options.QueueBytes = Number("QueueBytes", options.QueueBytes);
        options.MessagesPerSecond = Number("MessagesPerSecond", options.MessagesPerSecond);
        options.MessageBurst = Number("MessageBurst", options.MessageBurst);
        options.MaxConnections = Number("MaxConnections", options.MaxConnections);
        options.LingerBytes = Number("LingerBytes", options.LingerBytes);
        options.MaxTopics = Number("MaxTopics", options.MaxTopics);

        // One sentence per member, which begins with its name; the keys have the same names.
        foreach (var sentence in options.Validate())
        {
            var space = sentence.IndexOf(' ', StringComparison.Ordinal);
            reader.Error(sentence[..space], sentence[(space + 1)..].TrimEnd('.'));
        }

        return options;

        int Number(string key, int absent) => reader.Number(key, 0, int.MaxValue, absent);
    }
}
