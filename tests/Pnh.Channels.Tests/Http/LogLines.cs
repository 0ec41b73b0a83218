using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Tests.Http;

/// <summary>Keeps every line of every category: <c>EventName: text</c>.</summary>
internal sealed class LogLines : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    /// <summary>Those of one event.</summary>
    public string[] Of(string eventName) => [.. _lines.Where(line => line.StartsWith(eventName + ":", StringComparison.Ordinal))];

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue($"{eventId.Name}: {formatter(state, exception)}");

    public void Dispose()
    {
    }
}
