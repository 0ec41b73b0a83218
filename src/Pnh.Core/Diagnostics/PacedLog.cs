using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// A log for what clients may cause: of each kind of line at Warning or above one a second goes through, the next one with how many there were meanwhile.
/// What is below passes as it is. Thread-safe; nothing waits.
/// </summary>
public sealed class PacedLog : ILogger
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<(int Id, string? Name), Pace> _kinds = new();
    private readonly ILogger _log;
    private readonly TimeProvider _time;

    /// <param name="log">Where lines go.</param>
    /// <param name="time">Says when a second is over.</param>
    public PacedLog(ILogger log, TimeProvider time) => (_log, _time) = (log, time);

    /// <inheritdoc/>
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => _log.BeginScope(state);

    /// <inheritdoc/>
    public bool IsEnabled(LogLevel logLevel) => _log.IsEnabled(logLevel);

    /// <inheritdoc/>
    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        if (logLevel < LogLevel.Warning)
        {
            _log.Log(logLevel, eventId, state, exception, formatter);
        }
        else if (_kinds.GetOrAdd((eventId.Id, eventId.Name), static _ => new Pace()).IsDue(_time, out var others))
        {
            _log.Log(logLevel, eventId, state, exception, others == 0 ? formatter : (said, fault) => $"{formatter(said, fault)} ({others} more like it since the last line)");
        }
    }

    private sealed class Pace
    {
        private const long Never = long.MinValue;
        private long _last = Never;
        private long _others;

        public bool IsDue(TimeProvider time, out long others)
        {
            var last = Volatile.Read(ref _last);
            if ((last != Never && time.GetElapsedTime(last) < Second) || Interlocked.CompareExchange(ref _last, time.GetTimestamp(), last) != last)
            {
                Interlocked.Increment(ref _others);
                others = 0;
                return false;
            }

            others = Interlocked.Exchange(ref _others, 0);
            return true;
        }
    }
}
