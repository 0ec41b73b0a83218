using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Pnh.Core.Tests.Shards;

/// <summary>Remembers which events were logged.</summary>
internal sealed class RecordingLogger<T> : ILogger<T>
{
    public ConcurrentQueue<string?> EventNames { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        EventNames.Enqueue(eventId.Name);
}
