using Pnh.Core.Events;
using Pnh.Core.Timing;

namespace Pnh.Channels.Fcm;

/// <summary>
/// Spreads a project's messages evenly over the minute of its quota: FCM refills the bucket once a minute, and who empties it at the minute's beginning is
/// refused for the rest of it. The pace ramps up over a minute after a pause and after FCM said 429, calls are never held back by it but count, and bulk
/// takes a quarter around the quarter hours, when everybody else's campaigns begin. Thread-safe.
/// </summary>
internal sealed class FcmPace
{
    /// <summary>Google's default: messages a minute and project.</summary>
    public const int DefaultPerMinute = 600_000;

    /// <summary>From nearly nothing to the quota (Google: no less than 60 s).</summary>
    public static readonly TimeSpan Ramp = TimeSpan.FromSeconds(60);

    /// <summary>Messages that may go together: a tenth of a second's worth, so that the pace does not turn into single steps.</summary>
    private static readonly TimeSpan Burst = TimeSpan.FromMilliseconds(100);

    /// <summary>After so long without a message the ramp begins anew.</summary>
    private static readonly TimeSpan Forgotten = TimeSpan.FromMinutes(5);

    /// <summary>What the ramp begins with, as a share of the quota.</summary>
    private const double RampFrom = 0.05;

    private readonly Lock _lock = new();
    private readonly TimeProvider _time;
    private readonly double _perSecond;
    private readonly long _start;
    private TimeSpan _next;
    private TimeSpan _nextBulk;
    private TimeSpan _pausedUntil;
    private TimeSpan _rampBegan;
    private TimeSpan _lastSent = -Forgotten;

    public FcmPace(int perMinute, TimeProvider time)
    {
        _perSecond = perMinute / 60.0;
        _time = SteadyClock.WallOf(time);
        _start = time.GetTimestamp();
    }

    /// <summary>How long the whole project must be silent; zero = it need not.</summary>
    public TimeSpan Pause
    {
        get
        {
            lock (_lock)
            {
                var left = _pausedUntil - Now;
                return left > TimeSpan.Zero ? left : TimeSpan.Zero;
            }
        }
    }

    /// <summary>
    /// Takes the next place and says when it is: zero = now. Null when it is further away than <paramref name="most"/>: then nothing was taken, and
    /// <paramref name="most"/> is a fair time to ask again.
    /// </summary>
    public TimeSpan? Take(EventClass @class, TimeSpan most)
    {
        lock (_lock)
        {
            var now = Now;
            if (now - _lastSent >= Forgotten)
            {
                _rampBegan = now;
            }

            var rate = _perSecond * RampShare(now);
            var step = TimeSpan.FromSeconds(1 / rate);
            var place = Later(_next, now - Burst);
            if (@class == EventClass.Bulk && IsBusyTime(_time.GetUtcNow()))
            {
                place = Later(place, _nextBulk);
            }

            var wait = @class == EventClass.Call ? TimeSpan.Zero : Later(place - now, TimeSpan.Zero);
            if (wait > most)
            {
                return null;
            }

            _next = Later(_next, now - Burst) + step;
            if (@class == EventClass.Bulk)
            {
                _nextBulk = place + (4 * step);
            }

            _lastSent = now;
            return wait;
        }
    }

    /// <summary>FCM says that the project has sent too much: silence, then the ramp anew.</summary>
    public void Exceeded(TimeSpan retryAfter)
    {
        lock (_lock)
        {
            _pausedUntil = Later(_pausedUntil, Now + retryAfter);
            _rampBegan = _pausedUntil;
            _next = Later(_next, _pausedUntil);
        }
    }

    private TimeSpan Now => _time.GetElapsedTime(_start);

    private double RampShare(TimeSpan now) => Math.Clamp((now - _rampBegan) / Ramp, RampFrom, 1);

    /// <summary>Two minutes on either side of :00, :15, :30 and :45.</summary>
    private static bool IsBusyTime(DateTimeOffset time)
    {
        var intoQuarter = time.Ticks % TimeSpan.FromMinutes(15).Ticks;
        return intoQuarter < TimeSpan.FromMinutes(2).Ticks || intoQuarter > TimeSpan.FromMinutes(13).Ticks;
    }

    private static TimeSpan Later(TimeSpan a, TimeSpan b) => a > b ? a : b;
}
