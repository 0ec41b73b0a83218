using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Every line that is logged, for tests that read them.</summary>
internal sealed class RecordedLog : ILoggerProvider
{
    public ConcurrentQueue<(string Category, LogLevel Level, Exception? Exception)> Lines { get; } = new();

    public ILogger CreateLogger(string categoryName) => new Category(this, categoryName);

    public void Dispose()
    {
    }

    private sealed class Category(RecordedLog log, string name) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            log.Lines.Enqueue((name, logLevel, exception));
    }
}
