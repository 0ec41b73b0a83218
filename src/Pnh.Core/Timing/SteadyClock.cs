namespace Pnh.Core.Timing;

/// <summary>
/// The time by which the hub counts ages, ends of events and all that it keeps: it goes on evenly when the machine's clock is set, as else a clock set back a day would deliver calls whose time is
/// over, and one set forward would drop events that are alive. Small differences are followed slowly. Time that others check (tokens, certificates) is the machine's: <see cref="WallOf"/>. Thread-safe.
/// </summary>
public sealed class SteadyClock : TimeProvider
{
    /// <summary>A larger difference is a clock that was set, and is not followed.</summary>
    public static readonly TimeSpan LeastStep = TimeSpan.FromSeconds(3);

    // Each second: a difference of a second is gone after some three minutes.
    private static readonly TimeSpan MostFollowed = TimeSpan.FromMilliseconds(5);

    private readonly TimeProvider _wall;
    private readonly Lock _gate = new();
    private volatile Anchor _anchor;
    private TimeSpan _known;
    private long _steps;

    /// <param name="wall">The machine's clock, and timestamps that no setting of it changes.</param>
    /// <param name="ahead">How far this clock is ahead of it.</param>
    public SteadyClock(TimeProvider wall, TimeSpan ahead)
    {
        _wall = wall;
        _known = ahead;
        _anchor = new Anchor(wall.GetTimestamp(), (wall.GetUtcNow() + ahead).UtcTicks);
    }

    /// <inheritdoc/>
    public override long TimestampFrequency => _wall.TimestampFrequency;

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _wall.LocalTimeZone;

    /// <summary>How far it is ahead of the machine's clock; negative = behind.</summary>
    public TimeSpan Ahead => GetUtcNow() - _wall.GetUtcNow();

    /// <summary>How often the machine's clock was set while this one ran.</summary>
    public long Steps => Interlocked.Read(ref _steps);

    /// <summary>The machine's clock beside a steady one; any other clock itself.</summary>
    public static TimeProvider WallOf(TimeProvider time) => time is SteadyClock steady ? steady._wall : time;

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        var anchor = _anchor;
        return new DateTimeOffset(anchor.UtcTicks + _wall.GetElapsedTime(anchor.Timestamp).Ticks, TimeSpan.Zero);
    }

    /// <inheritdoc/>
    public override long GetTimestamp() => _wall.GetTimestamp();

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) => _wall.CreateTimer(callback, state, dueTime, period);

    /// <summary>Looks at the machine's clock; to be called each second. Gives by how much it was set since the last look (negative = back); null = it was not.</summary>
    public TimeSpan? Follow()
    {
        lock (_gate)
        {
            var ahead = Ahead;
            var set = _known - ahead;
            _known = ahead;
            if (ahead.Duration() <= LeastStep)
            {
                Move(-Math.Clamp(ahead.Ticks, -MostFollowed.Ticks, MostFollowed.Ticks));
            }

            if (set.Duration() <= LeastStep)
            {
                return null;
            }

            _steps++;
            return set;
        }
    }

    /// <summary>What was written at that time is not in the future: the clock goes on from there when it is behind. True = it was.</summary>
    public bool StartAfter(DateTimeOffset written)
    {
        lock (_gate)
        {
            var behind = written - GetUtcNow();
            if (behind <= TimeSpan.Zero)
            {
                return false;
            }

            Move(behind.Ticks);
            _known = Ahead;
            return true;
        }
    }

    private void Move(long ticks)
    {
        _anchor = _anchor with { UtcTicks = _anchor.UtcTicks + ticks };
        _known += TimeSpan.FromTicks(ticks);
    }

    private sealed record Anchor(long Timestamp, long UtcTicks);
}
