using Microsoft.Extensions.Logging;

namespace Pnh.Core.Hubs;

/// <summary>Logs that a store fails, a line of each kind in 5 s at most: a full disk may be the one that the log is on. Thread-safe.</summary>
internal sealed partial class StoreFaults(ILogger log, TimeProvider time)
{
    private static readonly TimeSpan Every = TimeSpan.FromSeconds(5);
    private long _refusedAt;
    private long _awaitedAt;

    /// <summary>An event was refused for it: its publisher hears of it as well.</summary>
    internal void Refused(string fault)
    {
        if (IsDue(ref _refusedAt))
        {
            Log.StoreUnavailable(log, fault);
        }
    }

    /// <summary>What was accepted waits for it: nobody is refused.</summary>
    internal void Awaited(string fault)
    {
        if (IsDue(ref _awaitedAt))
        {
            Log.StoreAwaited(log, fault);
        }
    }

    private bool IsDue(ref long saidAt)
    {
        var last = Volatile.Read(ref saidAt);
        return (last == 0 || time.GetElapsedTime(last) > Every) && Interlocked.CompareExchange(ref saidAt, time.GetTimestamp(), last) == last;
    }

    private static partial class Log
    {
        [LoggerMessage(3, LogLevel.Error, "Events are refused with 503 (said every 5 s at most): {Fault}", EventName = "StoreUnavailable")]
        internal static partial void StoreUnavailable(ILogger logger, string fault);

        [LoggerMessage(14, LogLevel.Error, "What was accepted waits for the data folder (said every 5 s at most): {Fault}", EventName = "StoreAwaited")]
        internal static partial void StoreAwaited(ILogger logger, string fault);
    }
}
