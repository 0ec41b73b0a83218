using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Net.Epoll;

/// <summary>What a <see cref="ConnectionBudget"/> says: a line a second for each cause, with how often it happened since the last. Under the budget's lock.</summary>
internal sealed partial class BudgetLog(string listener, TimeProvider clock, ILogger log)
{
    private OncePerSecond _full = new(clock);
    private OncePerSecond _crowded = new(clock);
    private OncePerSecond _short = new(clock);
    private long _refused;

    public void Full(int capacity, bool isRefused)
    {
        _refused += isRefused ? 1 : 0;
        if (_full.IsDue(out var times))
        {
            AllTaken(log, listener, capacity, times - _refused, _refused);
            _refused = 0;
        }
    }

    public void Crowded(int perAddress)
    {
        if (_crowded.IsDue(out var times))
        {
            AddressCrowded(log, listener, perAddress, times);
        }
    }

    public void Short()
    {
        if (_short.IsDue(out var times))
        {
            DescriptorsShort(log, listener, times);
        }
    }

    [LoggerMessage(
        1, LogLevel.Warning,
        "The {Listener} listener has all {Capacity} connections that fit the limit of open files; since the last line {Evicted} idle ones made room and {Refused} new ones were refused.",
        EventName = "ConnectionsFull")]
    private static partial void AllTaken(ILogger logger, string listener, int capacity, long evicted, long refused);

    [LoggerMessage(
        2, LogLevel.Warning, "An address has {Limit} connections to the {Listener} listener, as many as Limits:ConnectionsPerAddress lets it; {Times} more were refused since the last line.",
        EventName = "AddressCrowded")]
    private static partial void AddressCrowded(ILogger logger, string listener, int limit, long times);

    [LoggerMessage(
        3, LogLevel.Warning, "The process has nearly all files open that it may; {Times} connections to the {Listener} listener were refused since the last line.",
        EventName = "DescriptorsShort")]
    private static partial void DescriptorsShort(ILogger logger, string listener, long times);
}
