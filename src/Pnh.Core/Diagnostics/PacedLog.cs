using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// A log for what clients may cause: of each kind of line at Warning or above one a second goes through, the next one with how many there were meanwhile. Lines that name
/// an <c>App</c> or an <c>Account</c> are paced for each of them, so that no app hides another's: 100, and the rest together. What is below passes as it is. Thread-safe;
/// nothing waits.
/// </summary>
public sealed class PacedLog : ILogger
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private const int MostOwners = 100;
    private const string Others = "";

    private readonly ConcurrentDictionary<(int Id, string? Name, string? Owner), Pace> _kinds = new();
    private readonly ConcurrentDictionary<string, bool> _owners = new(StringComparer.Ordinal);
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
        else if (_kinds.GetOrAdd((eventId.Id, eventId.Name, OwnerOf(state)), static _ => new Pace()).IsDue(_time, out var others))
        {
            _log.Log(logLevel, eventId, state, exception, others == 0 ? formatter : (said, fault) => $"{formatter(said, fault)} ({others} more like it since the last line)");
        }
    }

    // Null = the line names nobody, as those that are written before a token is checked.
    private string? OwnerOf<TState>(TState state)
    {
        if (state is not IReadOnlyList<KeyValuePair<string, object?>> members)
        {
            return null;
        }

        for (var i = 0; i < members.Count; i++)
        {
            if (members[i] is { Key: "App" or "Account", Value: { } value })
            {
                var owner = value.ToString() ?? Others;
                return _owners.ContainsKey(owner) || (_owners.Count < MostOwners && _owners.TryAdd(owner, true)) ? owner : Others;
            }
        }

        return null;
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
