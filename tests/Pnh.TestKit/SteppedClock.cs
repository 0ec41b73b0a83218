namespace Pnh.TestKit;

/// <summary>Another clock whose wall time is wrong by so much, and can be set right. Timers and the monotonic clock are the other's. Thread-safe.</summary>
public sealed class SteppedClock(TimeProvider clock) : TimeProvider
{
    private long _ahead;

    /// <summary>Zero = right.</summary>
    public TimeSpan Ahead
    {
        get => TimeSpan.FromTicks(Volatile.Read(ref _ahead));
        set => Volatile.Write(ref _ahead, value.Ticks);
    }

    public override TimeZoneInfo LocalTimeZone => clock.LocalTimeZone;

    public override long TimestampFrequency => clock.TimestampFrequency;

    public override DateTimeOffset GetUtcNow() => clock.GetUtcNow() + Ahead;

    public override long GetTimestamp() => clock.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        clock.CreateTimer(callback, state, dueTime, period);
}
