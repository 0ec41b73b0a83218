using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Http;
using Pnh.Core.Timing;

namespace Pnh.Channels.Provider.Connections;

/// <summary>
/// Compares our clock with the provider's by the Date of its answers: a clock that is wrong makes every credential worthless, and the provider's own word
/// for that (InvalidProviderToken, invalid_grant) sends people looking at keys. Thread-safe.
/// </summary>
internal sealed partial class ClockSkew
{
    /// <summary>Providers allow some minutes; a synchronised clock is off by milliseconds.</summary>
    public static readonly TimeSpan Alarming = TimeSpan.FromSeconds(60);

    /// <summary>How often an answer that went well is asked for its date.</summary>
    private static readonly TimeSpan Period = TimeSpan.FromMinutes(1);

    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly string _channel;
    private long _nextAt;
    private long _ticks;
    private int _isAlarming;

    public ClockSkew(string channel, TimeProvider time, ILogger logger)
    {
        _channel = channel;
        _time = SteadyClock.WallOf(time);
        _logger = logger;
        _nextAt = time.GetTimestamp();
    }

    /// <summary>How far we are ahead; negative = behind; zero before the first answer with a date.</summary>
    public TimeSpan Skew => TimeSpan.FromTicks(Volatile.Read(ref _ticks));

    /// <summary>True once a minute: the next answer's date is wanted.</summary>
    public bool IsDue()
    {
        var now = _time.GetTimestamp();
        var next = Volatile.Read(ref _nextAt);
        return now >= next && Interlocked.CompareExchange(ref _nextAt, now + (long)(Period.TotalSeconds * _time.TimestampFrequency), next) == next;
    }

    /// <summary>A date as it came; anything but a date says nothing.</summary>
    public void Note(string? date)
    {
        if (HttpDate.Read(date) is not { } theirs)
        {
            return;
        }

        var skew = _time.GetUtcNow() - theirs;
        Volatile.Write(ref _ticks, skew.Ticks);
        var alarming = skew.Duration() > Alarming ? 1 : 0;
        if (Interlocked.Exchange(ref _isAlarming, alarming) == alarming)
        {
            return;
        }

        if (alarming == 1)
        {
            Log.Skewed(_logger, _channel, skew.TotalSeconds);
        }
        else
        {
            Log.Agrees(_logger, _channel);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "This host's clock is {Seconds:F0} s ahead of {Channel}'s: credentials are refused until it is set right.", EventName = "ClockSkewed")]
        public static partial void Skewed(ILogger logger, string channel, double seconds);

        [LoggerMessage(2, LogLevel.Information, "This host's clock agrees with {Channel}'s again.", EventName = "ClockAgrees")]
        public static partial void Agrees(ILogger logger, string channel);
    }
}
