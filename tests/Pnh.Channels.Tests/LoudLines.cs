using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Tests;

/// <summary>Counts what is logged at Warning or above, and how many there may be: one a second.</summary>
internal sealed class LoudLines<T> : ILogger<T>
{
    private readonly long _since = TimeProvider.System.GetTimestamp();
    private int _count;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel >= LogLevel.Warning)
        {
            Interlocked.Increment(ref _count);
        }
    }

    /// <summary>At least one, and not more than one a second.</summary>
    public void AssertPaced() => Assert.InRange(Volatile.Read(ref _count), 1, 1 + (int)TimeProvider.System.GetElapsedTime(_since).TotalSeconds);
}
